"""Log records on their way from a child process to its worker.

There they are handled as if they had been logged in the worker, within the attempt that they come
from: so they are written in the same format, with the same fields, and captured. A module that
sets up logging when the child imports it writes its lines itself; they are captured all the same.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ...core.model import Lease
from ...observe.capture import CaptureHandler
from ...observe.guarded import GuardedHandler

PLAIN: Final = (str, int, float, bool, type(None))
"""What goes along of what a caller gives as `extra`."""


class Logged(NamedTuple):
    """A record, and for which lease."""

    lease: Lease
    fields: Mapping[str, Any]
    is_written: bool
    """the child has written the line itself"""


class Echo(GuardedHandler):
    """In the child: sends records to the worker."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        super().__init__()
        self._send = send
        self._lease: Lease | None = None

    def listen(self, lease: Lease, level: int) -> None:
        """Send what is logged from now on as this job's, from the worker's level on.

        Called when the handler's module is imported, for it may set up logging.
        """
        self._lease = lease
        root = logging.getLogger()
        if self not in root.handlers:
            root.addHandler(self)
        if root.handlers == [self]:
            root.setLevel(level)

    def emit(self, record: logging.LogRecord) -> None:
        if self._lease is None:
            return
        try:
            fields = _fields(record)
            is_written = logging.getLogger().handlers != [self]
            self._send(pickle.dumps(Logged(self._lease, fields, is_written)))
        except OSError:
            return  # the worker is gone
        except Exception:
            self.handleError(record)


def repeat(logged: Logged) -> None:
    """In the worker: handle a record, in the context of its attempt."""
    record = logging.makeLogRecord(dict(logged.fields))
    if logged.is_written:
        for handler in logging.getLogger().handlers:
            if isinstance(handler, CaptureHandler):
                handler.handle(record)
        return
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    """A record without what cannot leave the process: its text, and its error as text."""
    fields = {name: value for name, value in vars(record).items() if isinstance(value, PLAIN)}
    if record.exc_info and not record.exc_text:
        fields["exc_text"] = _TEXT.formatException(record.exc_info)
    return {**fields, "msg": record.getMessage(), "args": None, "exc_info": None}


_TEXT: Final = logging.Formatter()
