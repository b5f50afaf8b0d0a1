"""Durations as users give them, checked and in milliseconds."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from ..errors import LONGEST_SECONDS, InvalidOption, seconds
from .clock import to_ms

LONGEST_MS: Final = LONGEST_SECONDS * 1000


def duration_ms(value: float | timedelta, what: str) -> int:
    """Seconds or a timedelta, 0 or more; `what` names it in the error for one that cannot be."""
    return to_ms(seconds(value, what))


def positive_ms(value: float | timedelta, what: str) -> int:
    """A duration that is not nothing."""
    ms = duration_ms(value, what)
    if ms == 0:
        raise InvalidOption(f"{what} must be above 0.")
    return ms


def limit_ms(value: float | timedelta | None, what: str) -> int | None:
    """A duration that is not nothing, or none at all."""
    if value is None:
        return None
    ms = duration_ms(value, what)
    if ms == 0:
        raise InvalidOption(f"{what} must be above 0, or None for no limit.")
    return ms
