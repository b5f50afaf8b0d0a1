"""Handlers that harm what is around them: their process, the event loop, the log, the store."""

import asyncio
import decimal
import locale
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, NoReturn

from tests.hostile.handlers.case import BACK, DONE, FAILS, Table
from windlass import current_context
from windlass.errors import AttemptStopped

HANGS = Table("does not end")
MEDDLES = Table("changes its process")
LOGS = Table("logs")
MUTES = Table("keeps others from logging")
ENQUEUES = Table("enqueues")
STOPS = Table("runs while its worker stops")
TABLES = (HANGS, MEDDLES, LOGS, MUTES, ENQUEUES, STOPS)

LONG = 1.0
"""Seconds that the attempts here may take: a new child process is to be there by then."""
LATE = ("AttemptTimeout", f"the attempt took longer than {LONG:g} s")


@HANGS.row("never ends", FAILS, *LATE, on="a", timeout=LONG)
async def sleep() -> None:
    await asyncio.sleep(3600)


@HANGS.row("never ends", FAILS, *LATE, on="tp", timeout=LONG)
def spin() -> None:
    while True:
        time.sleep(0.001)


@HANGS.row("never ends, in one call of C code", FAILS, *LATE, on="tp", timeout=LONG)
def block() -> None:
    time.sleep(20)


@HANGS.row("blocks the event loop for 2 s", DONE)
async def block_the_loop() -> None:
    time.sleep(2)


@HANGS.row("blocks the event loop beyond its timeout", FAILS, *LATE, timeout=LONG)
async def block_for_too_long() -> None:
    time.sleep(LONG + 0.5)


@HANGS.row("catches its cancellation and returns", FAILS, *LATE, timeout=LONG)
async def return_instead() -> str:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        return "partial"
    return "whole"


@HANGS.row("catches each cancellation and goes on", FAILS, *LATE, timeout=LONG)
async def go_on() -> None:
    while True:
        try:
            await asyncio.sleep(0.2)
        except asyncio.CancelledError:
            continue


@HANGS.row("catches whatever is raised, and goes on", FAILS, *LATE, timeout=LONG)
async def go_on_whatever_comes() -> None:
    while True:
        with suppress(BaseException):
            await asyncio.sleep(0.2)


@HANGS.row(
    "turns its cancellation into another error", FAILS, "ValueError", "not now", timeout=LONG
)
async def raise_instead() -> None:
    try:
        await asyncio.sleep(3600)
    except asyncio.CancelledError:
        raise ValueError("not now") from None


@HANGS.row("catches `AttemptStopped` and returns", FAILS, *LATE, on="t", timeout=LONG)
def return_when_stopped() -> str:
    try:
        spin()
    except AttemptStopped:
        return "partial"
    return "whole"


@HANGS.row("catches `AttemptStopped` and goes on", FAILS, *LATE, on="t", timeout=LONG)
def go_on_when_stopped() -> None:
    while True:
        try:
            time.sleep(0.01)
        except AttemptStopped:
            continue


@HANGS.row("waits in `asyncio.to_thread`", FAILS, *LATE, timeout=LONG)
async def wait_in_a_thread() -> None:
    await asyncio.to_thread(time.sleep, 20)


@MEDDLES.row("starts a thread that never ends, no daemon", DONE)
def start_a_thread() -> None:
    threading.Thread(target=time.sleep, args=(600,)).start()


@MEDDLES.row("starts a task that never ends", DONE)
async def start_a_task() -> None:
    asyncio.create_task(go_on())  # noqa: RUF006


@MEDDLES.row("changes the current folder", DONE)
def change_folder() -> None:
    os.chdir("/")


@MEDDLES.row("changes the umask", DONE)
def change_umask() -> None:
    os.umask(0o777)


@MEDDLES.row("empties the environment", DONE)
def empty_environment() -> None:
    os.environ.clear()


@MEDDLES.row("changes the locale", DONE)
def change_locale() -> None:
    locale.setlocale(locale.LC_ALL, "C")


@MEDDLES.row("changes the context of `decimal`", DONE)
def change_decimals() -> None:
    decimal.getcontext().prec = 1
    decimal.getcontext().traps[decimal.Inexact] = True


@MEDDLES.row("has SIGTERM ignored", DONE, on="p")
@MEDDLES.row("has SIGTERM ignored", FAILS, "ValueError", "main thread", on="t")
def ignore_signals() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def raise_again(*args: object) -> NoReturn:
    raise RuntimeError("hooked")


@MEDDLES.row("sets an excepthook that raises", DONE)
def set_hooks() -> None:
    sys.excepthook = threading.excepthook = raise_again


@MEDDLES.row("removes its module from `sys.modules`", DONE)
def remove_module() -> None:
    sys.modules.pop(__name__, None)


@MEDDLES.row("sets `time.time` to a function that gives 0", DONE)
def stop_time() -> None:
    time.time = lambda: 0.0


@MEDDLES.row("raises the recursion limit and calls itself", FAILS, "RecursionError")
def recurse_deeper() -> None:
    sys.setrecursionlimit(5_000)
    deeper()


def deeper() -> None:
    deeper()


@MEDDLES.row("reads from stdin, which is empty", FAILS, "EOFError")
def read() -> None:
    input()


@MEDDLES.row("closes the event loop", FAILS, "RuntimeError", "Cannot close a running event loop")
async def close_loop() -> None:
    asyncio.get_running_loop().close()


@MEDDLES.row(
    "calls `asyncio.run`", FAILS, "RuntimeError", "cannot be called from a running", on="a"
)
@MEDDLES.row("calls `asyncio.run`", DONE, on="tp")
def run_a_loop() -> None:
    work = asyncio.sleep(0)
    try:
        asyncio.run(work)
    finally:
        work.close()


@MEDDLES.row("returns a coroutine", FAILS, "UnencodableValue", "coroutine", on="a")
@MEDDLES.row("returns a coroutine, which is awaited", DONE, on="tp")
def return_a_coroutine() -> Coroutine[Any, Any, None]:
    return asyncio.sleep(0)


@LOGS.row("a line that cannot be formatted", DONE)
def log_badly() -> None:
    logging.getLogger("app").warning("%d", "five")


@LOGS.row("2,000 lines", DONE)
def log_much() -> None:
    for number in range(2_000):
        logging.getLogger("app").debug("line %d", number)
        logging.getLogger("app").info("line %d", number)


@LOGS.row("a line that is no UTF-8", DONE)
def log_a_surrogate() -> None:
    logging.getLogger("app").warning("caf\udce9 \0")


@LOGS.row("`extra` with a name of `logging`'s own", FAILS, "KeyError", "overwrite 'message'")
def log_reserved() -> None:
    logging.getLogger("app").warning("hello", extra={"message": 1})  # noqa: G101


class Raising(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        raise RuntimeError("filtered")


@LOGS.row("through a filter that raises", FAILS, "RuntimeError", "filtered")
def log_through_a_filter() -> None:
    logger = logging.getLogger("app.filtered")
    logger.addFilter(Raising())
    logger.warning("hello")


class Broken(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("handled")


@LOGS.row("through a log handler that raises", FAILS, "RuntimeError", "handled")
def log_through_a_handler() -> None:
    logger = logging.getLogger("app.broken")
    logger.addHandler(Broken())
    logger.warning("hello")


class Unreadable:
    def __str__(self) -> str:
        sys.exit(5)


@LOGS.row("an object whose `__str__` calls `sys.exit()`", FAILS, "SystemExit", "5")
def log_an_exit() -> None:
    logging.getLogger("app").warning("%s", Unreadable())


@MUTES.row("calls `logging.disable()`", DONE)
def silence() -> None:
    logging.disable()


@MUTES.row("calls `logging.shutdown()`", DONE)
def end_logging() -> None:
    logging.shutdown()


@MUTES.row("closes `sys.stdout` and `sys.stderr`", DONE)
def close_outputs() -> None:
    sys.stdout.close()
    sys.stderr.close()


@MUTES.row("closes the descriptors 0, 1 and 2", DONE)
def close_standard() -> None:
    os.closerange(0, 3)


@ENQUEUES.row("`enqueue` on the event loop", FAILS, "WouldBlock", "would block", on="a")
@ENQUEUES.row("`enqueue` without end, until its time is up", FAILS, *LATE, on="t", timeout=LONG)
def enqueue_for_ever() -> None:
    from tests.hostile.handlers.serving import app

    again = app.tasks["plain"].using(id=f"{current_context().id}-again")
    while True:
        again.enqueue(-1)


@STOPS.row("never ends", BACK)
async def sleep_on() -> None:
    await asyncio.sleep(3600)


@STOPS.row("never ends", BACK, on="tp")
def block_on() -> None:
    time.sleep(60)


@STOPS.row("catches each cancellation and goes on", BACK)
async def go_on_for_ever() -> None:
    await go_on()


@STOPS.row("catches whatever is raised, and goes on", BACK)
async def go_on_until_the_end() -> None:
    await go_on_whatever_comes()


@STOPS.row("waits in `asyncio.to_thread`", BACK)
async def wait_in_a_thread_for_ever() -> None:
    await asyncio.to_thread(time.sleep, 60)


@STOPS.row("catches `AttemptStopped` and goes on", BACK, on="t")
def go_on_in_a_thread() -> None:
    go_on_when_stopped()


@STOPS.row("`enqueue` without end", BACK, on="t")
def enqueue_while_stopped() -> None:
    enqueue_for_ever()
