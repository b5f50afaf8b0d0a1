"""Hears the signals that end a process whose signals are another's affair.

A web server that is told to stop waits for requests that are under way, and streams of events do
not end by themselves. It tells the apps that it serves only afterwards: they would wait for each
other.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

Handler = Callable[[int, FrameType | None], Any]


class Farewell:
    """Calls `part` when the process is told to end, and then whoever was there before."""

    def __init__(self, part: Callable[[], None]) -> None:
        self._part = part
        self._before: dict[signal.Signals, Handler] = {}

    def listen(self) -> None:
        """From now on. Where nobody handles a signal, it stays so; threads hear none."""
        if threading.current_thread() is not threading.main_thread():
            return
        self._loop = asyncio.get_running_loop()
        for number in SIGNALS:
            before = signal.getsignal(number)
            if callable(before) and before is not signal.default_int_handler:
                self._before[number] = before
                signal.signal(number, self._hear)

    def forget(self) -> None:
        """Put back what was there, unless others have come since."""
        for number, before in self._before.items():
            if signal.getsignal(number) == self._hear:
                signal.signal(number, before)
        self._before = {}

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._part)
        self._before[signal.Signals(number)](number, frame)
