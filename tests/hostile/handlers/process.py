"""Handlers that harm their process: its copies, files, signals, limits and modules."""

import asyncio
import gc
import io
import multiprocessing
import os
import random
import re
import signal
import socket
import sys
import tempfile
import threading
import warnings
from typing import Any, NoReturn

from tests.hostile.handlers.case import DONE, FAILS, Table
from tests.hostile.handlers.meddling import LATE, LONG
from windlass import Context

FORKS = Table("makes a copy of its process")
SETS = Table("changes how its interpreter works")
SPEAKS = Table("says very much")
TABLES = (FORKS, SETS, SPEAKS)


@FORKS.row("by `os.fork()`, and both return", DONE)
def fork() -> None:
    os.fork()


@FORKS.row("by `os.fork()`, and the copy raises", DONE)
def fork_and_raise() -> None:
    if os.fork() == 0:
        raise ValueError("in the copy")


@FORKS.row("by `os.fork()`, and the copy awaits", DONE)
async def fork_and_await() -> None:
    os.fork()
    await asyncio.sleep(0.1)


@FORKS.row("by `multiprocessing`, as `fork`", DONE)
def fork_by_multiprocessing() -> None:
    process = multiprocessing.get_context("fork").Process(target=os.getpid)
    process.start()
    process.join()


@SETS.row("turns off the collector of garbage", DONE)
def no_garbage() -> None:
    gc.disable()
    gc.freeze()


@SETS.row("turns warnings into errors", DONE)
def warnings_as_errors() -> None:
    warnings.simplefilter("error")


@SETS.row("sets a trace function that raises", FAILS, "RuntimeError", "traced", on="a")
@SETS.row("sets a trace function that raises", DONE, on="t")
def trace() -> None:
    def raising(*_: Any) -> NoReturn:
        raise RuntimeError("traced")

    sys.settrace(raising)


@SETS.row("sets a profile function that raises", FAILS, "RuntimeError", "profiled")
def profile() -> None:
    def raising(*_: Any) -> NoReturn:
        raise RuntimeError("profiled")

    sys.setprofile(raising)


@SETS.row("has sockets time out after a millisecond", DONE)
def short_sockets() -> None:
    socket.setdefaulttimeout(0.001)


@SETS.row("seeds `random`", DONE)
def seed() -> None:
    random.seed(0)


@SETS.row("empties `sys.path`", DONE)
def empty_path() -> None:
    sys.path.clear()


@SETS.row("changes to a folder that it removes", DONE)
def removed_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


@SETS.row("sets `sys.stdout` to an object that raises", DONE)
def broken_stdout() -> None:
    class Raising(io.StringIO):
        def write(self, text: str) -> NoReturn:
            raise RuntimeError(text)

    sys.stdout = Raising()


@SETS.row("computes in C for a second without letting other threads run", DONE)
def hold_the_gil() -> None:
    re.match(r"(a+)+$", "a" * 24 + "b")


@SETS.row("waits for a lock that it has itself", FAILS, *LATE, on="tp", timeout=LONG)
def deadlock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@SETS.row("takes a signal handler of its own for SIGTERM", DONE, on="p")
def own_handler() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@SPEAKS.row("1 MB in one line of the log", DONE)
def log_line() -> None:
    import logging

    logging.getLogger("app").warning("x" * 1_000_000)


@SPEAKS.row("10,000 notes of progress", DONE)
def progress(ctx: Context) -> None:
    for number in range(10_000):
        ctx.progress(number % 100, "at it")


@SPEAKS.row("50 checkpoints", DONE, on="tp")
def checkpoints(ctx: Context) -> None:
    for number in range(50):
        ctx.checkpoint(number)
