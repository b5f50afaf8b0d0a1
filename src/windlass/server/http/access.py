"""The access log: a line for each request.

Lines are written together at the end of a turn of the loop: one by one, between requests, each
costs twice as much, for nothing of what it takes is at hand.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

log = logging.getLogger("windlass.http")

LINE: Final = "%s %s %d %.1f ms %s"

Line = tuple[str, str, int, float, str]
"""The method, the address of the route, the status, the milliseconds and the caller.

Never the address of the request: it may have secrets in it.
"""


class AccessLog:
    """Writes down what was asked and how it was answered, if it is to."""

    def __init__(self, *, is_kept: bool) -> None:
        self._is_kept = is_kept
        self._lines: list[Line] = []

    def note(self, line: Line) -> None:
        if self._is_kept and log.isEnabledFor(logging.INFO):
            if not self._lines:
                asyncio.get_running_loop().call_soon(self._write)
            self._lines.append(line)

    def _write(self) -> None:
        lines, self._lines = self._lines, []
        for line in lines:
            # As `log.info`, which would look for the place in the source that it is called from.
            log.handle(log.makeRecord(log.name, logging.INFO, __file__, 0, LINE, line, None))
