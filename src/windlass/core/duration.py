"""Durations as users give them, checked and in milliseconds."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from ..errors import InvalidOption, seconds
from .clock import to_ms
from .model import DAY_MS

LONGEST_MS: Final = 100 * 366 * DAY_MS


def duration_ms(value: float | timedelta, what: str) -> int:
    """Seconds or a timedelta, 0 or more; `what` names it in the error for one that cannot be."""
    number = seconds(value, what)
    # Before it is multiplied, which the largest numbers do not survive.
    if number > LONGEST_MS / 1000:
        raise InvalidOption(f"{what} is at most 100 years.")
    return to_ms(number)


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
