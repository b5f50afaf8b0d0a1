"""Logging as `windlass worker` and `windlass server` set it up, and the parts for one's own."""

from __future__ import annotations

import logging
import sys
from typing import Final

from ..config.logs import Capture, Level, LogFormat
from .console import Console
from .fields import FIELDS, JobFilter
from .formats import JsonFormatter, LineFormatter, PlainFormatter, PrettyFormatter

__all__ = [
    "FIELDS",
    "JobFilter",
    "JsonFormatter",
    "PlainFormatter",
    "PrettyFormatter",
    "set_up",
    "threshold",
]

NOTHING: Final = logging.CRITICAL + 1
"""A level that no line has."""


def set_up(level: Level, format: LogFormat, capture: Capture = "off") -> None:
    """Log to stderr, unless something logs already: then it is left as it is.

    What is to be captured and not logged must get past the loggers, so the level is the handler's.
    """
    root = logging.getLogger()
    if root.handlers:
        return
    handler = Console(formatter(format))
    handler.setLevel(threshold(level))
    root.addHandler(handler)
    root.setLevel(min(threshold(level), threshold(capture)))


def formatter(format: LogFormat) -> LineFormatter:
    """The formatter of this name, for stderr."""
    if format == "json":
        return JsonFormatter()
    if format == "pretty" or (format == "auto" and sys.stderr.isatty()):
        return PrettyFormatter()
    return PlainFormatter()


def threshold(level: Capture) -> int:
    """A level as `logging` has it; off is above all of them."""
    return NOTHING if level == "off" else logging.getLevelNamesMapping()[level.upper()]
