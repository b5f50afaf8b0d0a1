"""The access log: a line for each request, by either API."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, Final

from ..observe.console import console_of
from ..observe.formats import Held

SOON: Final = 0.02
"""Seconds until lines that are held together are written."""

Line = tuple[Any, ...]
"""What was asked, how it was answered, the milliseconds, and the caller.

Never the address of the request: it may have secrets in it.
"""


class AccessLog:
    """Writes down what was asked and how it was answered, if it is to; `form` takes lines by %.

    Lines are written together: to the console a moment later, see there; to whoever else listens,
    at the end of a turn of the loop. One by one, between requests, each costs twice as much, for
    nothing of what it takes is at hand.
    """

    def __init__(self, name: str, form: str, *, is_kept: bool) -> None:
        self._log = logging.getLogger(name)
        self._form = form
        self._is_kept = is_kept
        self._lines: list[Line] = []

    def note(self, line: Line) -> None:
        if not self._is_kept or not self._log.isEnabledFor(logging.INFO):
            return
        console = console_of(self._log)
        if console is not None:
            if console.hold(Held(self._log.name, time.time(), self._form, line)):
                asyncio.get_running_loop().call_later(SOON, console.write_held)
            return
        if not self._lines:
            asyncio.get_running_loop().call_soon(self._write)
        self._lines.append(line)

    def _write(self) -> None:
        log, lines, self._lines = self._log, self._lines, []
        for line in lines:
            # As `log.info`, which would look for the place in the source that it is called from.
            log.handle(log.makeRecord(log.name, logging.INFO, __file__, 0, self._form, line, None))
