"""The keys of the terminal, one by one as they are pressed, and the signals that it sends."""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import tty
from collections.abc import Callable
from typing import Any, Final

from .keys import Keys

ESCAPE_AFTER: Final = 0.1
"""Seconds after which an escape is the key: over ssh the rest of a sequence may come late."""


class Keyboard:
    """A terminal that gives each key at once and does not show it, between `enter` and `leave`."""

    def __init__(
        self, terminal: int, told: Callable[[str], None], lost: Callable[[], None]
    ) -> None:
        self._terminal = terminal
        self._told = told
        self._lost = lost
        self._keys = Keys()
        self._before: list[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def enter(self) -> None:
        self._before = termios.tcgetattr(self._terminal)
        tty.setcbreak(self._terminal)
        asyncio.get_running_loop().add_reader(self._terminal, self._read)

    def leave(self) -> None:
        asyncio.get_running_loop().remove_reader(self._terminal)
        if self._before is not None:
            termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._before)

    def _read(self) -> None:
        try:
            data = os.read(self._terminal, 1024)
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._tell(self._keys.feed(data))
        if self._keys.is_pending:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(ESCAPE_AFTER, lambda: self._tell(self._keys.flush()))

    def _tell(self, keys: list[str]) -> None:
        for key in keys:
            self._told(key)


def suspend() -> None:
    """Stop this process, as Ctrl-Z asks for; returns when it is continued."""
    os.kill(os.getpid(), signal.SIGSTOP)
