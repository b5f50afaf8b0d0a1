"""Stderr, as the commands that serve log to it.

A line for each request is too much for a write each: a call of the system costs more than the line
itself, and lets other threads take the interpreter from the one that answers. Such lines are held
and written together, a moment later, and before any other line: so the order stays.
"""

from __future__ import annotations

import logging
from typing import Final, TextIO

from .fields import JobFilter
from .formats import Held, LineFormatter, record_of
from .guarded import GuardedHandler

MOST: Final = 500
"""Lines that are held; with one more they are written."""


class Console(GuardedHandler, logging.StreamHandler[TextIO]):
    """Writes records as they come; lines that were held, with the next one or when asked to."""

    def __init__(self, formatter: LineFormatter) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.addFilter(JobFilter())
        self._lines = formatter
        self._held: list[Held] = []

    def hold(self, line: Held) -> bool:
        """Take a line of no job's; whether somebody is to call `write_held` soon."""
        with self.lock:  # type: ignore[union-attr]
            self._held.append(line)
            if len(self._held) > MOST:
                self.write_held()
            return len(self._held) == 1

    def write_held(self) -> None:
        """Write what is held. Not named `release`: that is how a handler gives its lock back."""
        with self.lock:  # type: ignore[union-attr]
            held, self._held = self._held, []
            if held and self.level <= logging.INFO:
                try:
                    self.stream.write(self._lines.lines(held) + self.terminator)
                    self.flush()
                except Exception:
                    self.handleError(record_of(held[-1]))

    def emit(self, record: logging.LogRecord) -> None:
        self.write_held()
        super().emit(record)

    def close(self) -> None:
        self.write_held()
        super().close()


def console_of(logger: logging.Logger) -> Console | None:
    """The console, if nobody else gets or filters the lines of a logger."""
    found: Console | None = None
    each: logging.Logger | None = logger
    while each is not None:
        if each.filters or each.disabled:
            return None
        for handler in each.handlers:
            if found is not None or type(handler) is not Console or len(handler.filters) > 1:
                return None
            found = handler
        each = each.parent if each.propagate else None
    return found
