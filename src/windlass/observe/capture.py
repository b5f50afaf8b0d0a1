"""Brings what handlers log to their attempts.

One handler on the root logger serves all workers of a process: the context of the running attempt
says whose line it is. Loggers that keep their lines to themselves (`propagate = False`) are not
heard; give them the handler too.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from ..core.attempts import LogLine
from ..core.context import current, current_batch
from ..core.lines import line
from .guarded import GuardedHandler

OURS: Final = "windlass"


class CaptureHandler(GuardedHandler):
    """Gives each record to the attempt that it comes from; other records are not its business."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] != OURS:
            try:
                self._give(record)
            except Exception:
                # As with every handler: a line that cannot be written is no error of its caller.
                self.handleError(record)
        if _last_resort(record):
            logging.lastResort.handle(record)  # type: ignore[union-attr]

    def _give(self, record: logging.LogRecord) -> None:
        context = current.get(None)
        for each in current_batch.get(()) if context is None else (context,):
            if each.capture is not None:
                each.capture(each.job, record)


_handler: Final = CaptureHandler()
_lock: Final = threading.Lock()
_users: Final[set[object]] = set()


def attach(user: object) -> None:
    """Capture from now on, until every user has called `detach`."""
    with _lock:
        _users.add(user)
        # Again for each: a program that sets up its logging anew removes all handlers.
        logging.getLogger().addHandler(_handler)


def detach(user: object) -> None:
    """Nothing happens for one that never called `attach`: its start may have failed."""
    with _lock:
        _users.discard(user)
        if not _users:
            logging.getLogger().removeHandler(_handler)


def line_of(record: logging.LogRecord) -> LogLine:
    """A record as it is kept: its text, and an error if it has one."""
    text = _TEXT.format(record)
    return line(int(record.created * 1000), record.levelname.lower(), record.name, text)


_TEXT: Final = logging.Formatter("%(message)s")


def _last_resort(record: logging.LogRecord) -> bool:
    """Whether nobody but us hears a record that must be heard.

    Where nothing is set up, `logging` writes warnings to stderr; our handler would silence that.
    """
    if logging.lastResort is None or record.levelno < logging.lastResort.level:
        return False
    logger: logging.Logger | None = logging.getLogger(record.name)
    while logger is not None:
        if any(not isinstance(each, CaptureHandler) for each in logger.handlers):
            return False
        logger = logger.parent if logger.propagate else None
    return True
