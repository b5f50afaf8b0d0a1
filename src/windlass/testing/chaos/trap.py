"""Death between two steps: a process that kills itself right before or after a call of the store.

A trap is written `finish:3:after`: it springs when the third call of that name has been answered.
"""

from __future__ import annotations

import os
import signal
from random import Random
from time import monotonic
from typing import Final

from .record import Fault, Notebook

OFTEN: Final = ("finish", "claim", "wait", "renew")
SELDOM: Final = ("rescue", "tick", "elect", "unblock", "schedules", "put_schedules", "beat", "now")
STEPS: Final = OFTEN + SELDOM
"""The calls of a worker that it may not survive."""


def kill_self(book: Notebook, node: str) -> None:
    """End without last words, except that it was meant."""
    book.write(Fault(monotonic(), "kill", node))
    os.kill(os.getpid(), signal.SIGKILL)


class Trap:
    """Counts the calls of one name, and ends the process at one of them."""

    def __init__(self, text: str, book: Notebook, node: str) -> None:
        self._call, _, rest = text.partition(":")
        number, _, moment = rest.partition(":")
        self._left = int(number or 0)
        self._after = moment == "after"
        self._book = book
        self._node = node

    def passed(self, call: str, *, after: bool) -> None:
        """Called at each boundary."""
        if call != self._call or after is not self._after:
            return
        self._left -= 1
        if self._left == 0:
            kill_self(self._book, self._node)


def draw(chance: Random, steps: tuple[str, ...] = STEPS) -> str:
    """A trap at one of all boundaries: an early call of those that are seldom made."""
    call = chance.choice(steps)
    number = chance.randint(1, 40 if call in OFTEN else 2)
    return f"{call}:{number}:{chance.choice(('before', 'after'))}"
