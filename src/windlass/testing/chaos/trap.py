"""Death between two steps: a process that kills itself right before or after a call of the store.

A trap is written `finish:3:after:kill`: it springs when the third call of that name has been
answered. With `stop` the process halts there instead, as by SIGSTOP, until it is woken.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from random import Random
from time import monotonic
from typing import Final

from .record import Fault, Notebook

OFTEN: Final = frozenset({"finish", "claim", "wait", "renew", "insert"})
"""Calls that are made all the time; the others are made seldom."""

WORKING: Final = (
    *("claim", "wait", "renew", "finish", "beat", "leave"),
    *("tally", "attempts", "note_attempts", "report", "checkpoint"),
)
UPKEEP: Final = (
    *("elect", "resign", "rescue", "finish", "attempts", "note_attempts", "unblock"),
    *("now", "schedules", "put_schedules", "tick", "prune"),
)
ENQUEUING: Final = ("insert",)

CALLS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "worker": tuple(dict.fromkeys(WORKING + UPKEEP)),
    "server": ENQUEUING + UPKEEP,
    "producer": ENQUEUING,
    "caller": ENQUEUING,
}
"""The calls of each kind of process, each of which it may not survive."""


def kill_self(book: Notebook, node: str) -> None:
    """End without last words, except that it was meant."""
    book.write(Fault(monotonic(), "kill", node))
    os.kill(os.getpid(), signal.SIGKILL)


def stop_self(book: Notebook, node: str) -> None:
    """Halt until somebody sends SIGCONT."""
    book.write(Fault(monotonic(), "stop", node))
    os.kill(os.getpid(), signal.SIGSTOP)


class Trap:
    """Counts the calls of one name, and ends or halts the process at one of them."""

    def __init__(self, text: str, book: Notebook, node: str) -> None:
        self._call, number, moment, what = text.split(":") if text else ("", "0", "", "")
        self._left = int(number)
        self._after = moment == "after"
        self._spring = stop_self if what == "stop" else kill_self
        self._book = book
        self._node = node

    def passed(self, call: str, *, after: bool) -> None:
        """Called at each boundary."""
        if call != self._call or after is not self._after:
            return
        self._left -= 1
        if self._left == 0:
            self._spring(self._book, self._node)


def draw(chance: Random, calls: tuple[str, ...]) -> str:
    """A trap at one of all boundaries: an early call of those that are seldom made."""
    call = chance.choice(calls)
    number = chance.randint(1, 40 if call in OFTEN else 2)
    moment = chance.choice(("before", "after"))
    return f"{call}:{number}:{moment}:{chance.choice(('kill', 'kill', 'stop'))}"
