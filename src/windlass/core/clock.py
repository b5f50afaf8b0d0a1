"""Time as every store keeps it: whole milliseconds since 1970, UTC.

The store's clock decides, never a worker's: on an engine with a clock of its own
`None` stands for that clock, and only tests hand in another one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from ..errors import InvalidOption

Clock = Callable[[], int]
"""Gives the present moment in milliseconds."""

LATEST_MS: Final = 253_370_764_799_999
"""A moment that is a `datetime` in every time zone: the end of 9998."""


def system_clock() -> int:
    """This machine's clock: the store's own clock where the store lives in this process."""
    return time.time_ns() // 1_000_000


def to_ms(seconds: float) -> int:
    """Seconds as milliseconds, rounded up so that nothing runs early."""
    return math.ceil(seconds * 1000)


def moment_ms(moment: datetime, what: str) -> int:
    """An aware datetime as milliseconds; a naive one could mean any zone and is refused.

    All before 1970 is the same past.
    """
    if moment.tzinfo is None:
        raise InvalidOption(
            f"{what} needs a datetime with a time zone, for example datetime.now(UTC)."
        )
    ms = to_ms(moment.timestamp())
    if ms > LATEST_MS:
        raise InvalidOption(f"{what} is at most the end of the year 9998.")
    return max(ms, 0)


def to_datetime(ms: int) -> datetime:
    """The moment as an aware datetime in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC)
