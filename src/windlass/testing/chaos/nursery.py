"""The parent of the processes of a chaos run. It has loaded all code, so a birth takes no time.

    python -m windlass.testing.chaos.nursery

It reads what to do from its standard input and answers on its standard output, a line of JSON
each. Only a parent can send a signal to a process and be sure that it is not another's by now.
When its input ends, by whatever death, all its children are killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from importlib import import_module
from typing import Final, Literal

import msgspec

from ...stores.open import open_store
from . import producer, server, worker
from .part import environment
from .plan import Part

Role = Literal["worker", "supervisor", "producer", "server", "caller"]
"""A caller is a producer that enqueues through the server."""


HALTED: Final = 2
"""The answer about a process that lives and has come to a halt."""


class Load(msgspec.Struct, frozen=True, tag="load"):
    """Load what the engine of this URL needs."""

    url: str


class Start(msgspec.Struct, frozen=True, tag="start"):
    """Start a process; the answer is its number."""

    role: Role
    part: Part


class Send(msgspec.Struct, frozen=True, tag="send"):
    """Send a signal, if the process lives; 1 if it does."""

    pid: int
    signal: int


class Look(msgspec.Struct, frozen=True, tag="look"):
    """Whether a process lives, 1 or 0; 2 if it has come to a halt since it was last asked."""

    pid: int


Request = Load | Start | Send | Look


class Nursery:
    """Children, and what is asked about them."""

    def __init__(self) -> None:
        self._living: set[int] = set()

    def answer(self, request: Request) -> int:
        match request:
            case Load(url):
                open_store(url)
                if server.can_serve():
                    import_module("windlass.server.server")
                    open_store("http://localhost")
                return 1
            case Start(role, part):
                return self._fork(role, part)
            case Send(pid, number):
                if self._lives(pid):
                    os.kill(pid, number)
                    if number == signal.SIGKILL:
                        os.waitpid(pid, 0)
                        self._living.discard(pid)
                    return 1
                return 0
            case Look(pid):
                return self._lives(pid)

    def end(self) -> None:
        for pid in list(self._living):
            self.answer(Send(pid, signal.SIGKILL))

    def _lives(self, pid: int) -> int:
        if pid not in self._living:
            return 0
        changed, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if changed == pid and os.WIFSTOPPED(status):
            return HALTED
        if changed == pid:
            self._living.discard(pid)
            return 0
        return 1

    def _fork(self, role: Role, part: Part) -> int:
        pid = os.fork()
        if not pid:
            _become(role, part)
        self._living.add(pid)
        return pid


def _become(role: Role, part: Part) -> None:
    """Be that process until its end."""
    code = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        os.environ.update(environment(part))
        match role:
            case "producer" | "caller":
                asyncio.run(producer.produce(part))
            case "server":
                asyncio.run(server.serve(part))
            case _:
                # A supervisor starts the command again that it was started by itself.
                sys.orig_argv = [sys.executable, "-P", "-m", worker.__name__]
                worker.main()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def main() -> None:
    # Ctrl-C is for whoever started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    nursery = Nursery()
    decode = msgspec.json.Decoder(Request).decode
    try:
        for line in sys.stdin.buffer:
            sys.stdout.buffer.write(b"%d\n" % nursery.answer(decode(line)))
            sys.stdout.buffer.flush()
    finally:
        nursery.end()


if __name__ == "__main__":
    # By its full name: what it says to itself must be of the same classes.
    from windlass.testing.chaos.nursery import main as run

    run()
