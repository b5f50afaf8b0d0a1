"""Logging that harms nobody: what an app sets up for it may raise, and stderr may be closed.

A line is said in the midst of something, most often of a failure. If a filter or a handler of the
app raised there, it would take that with it: the outcome of a job, or a part of the worker.
"""

from __future__ import annotations

import logging
import sys
import traceback

from ..interrupts import uninterrupted


def guard(logger: logging.Logger) -> None:
    """From now on no line of this logger raises; what has raised is told on stderr."""
    if "handle" in vars(logger):
        return
    handle = logger.handle

    def guarded(record: logging.LogRecord) -> None:
        try:
            handle(record)
        except Exception:
            _tell(record)

    logger.handle = guarded  # type: ignore[method-assign]


class GuardedHandler(logging.Handler):
    """One that may tell of its own errors on a stderr that is closed, and keeps no lock.

    Before Python 3.13 a handler takes its lock outside of any `try`: a handler of jobs that was
    stopped there would leave it behind. With this one, it is stopped right after.
    """

    def handle(self, record: logging.LogRecord) -> bool:
        with uninterrupted:
            kept = self.filter(record)
            if isinstance(kept, logging.LogRecord):  # a filter may replace it, since Python 3.12
                record = kept
            if kept:
                with self.lock:  # type: ignore[union-attr]
                    self.emit(record)
        return bool(kept)

    def handleError(self, record: logging.LogRecord) -> None:
        if _can_be_told():
            super().handleError(record)


def _tell(record: logging.LogRecord) -> None:
    if logging.raiseExceptions and _can_be_told():
        traceback.print_exc()
        print(f"Logged from {record.pathname}, line {record.lineno}", file=sys.stderr)  # noqa: T201


def _can_be_told() -> bool:
    return sys.stderr is not None and not sys.stderr.closed
