"""Limits as users write them: so many at a time, or so many in so long."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final, TypeAlias

import msgspec

from ..errors import InvalidOption, shown
from .clock import to_ms
from .duration import positive_ms
from .lane import Lane
from .name import Key, checked_key, checked_name

Rate: TypeAlias = str | tuple[int, float | timedelta]
"""`"10/s"`, `"100/min"`, `"5/30s"`; or the number and the time, as in `(10, 1.0)`."""

SPREAD: Final = 0.1
"""Without a burst, as many may start together as the rate gives in so many seconds: looking
at the clock for each of a thousand would be slower than the rate."""

MOST: Final = 1_000_000
_UNITS: Final = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
_RATE: Final = re.compile(rf"(\d+)\s*/\s*(\d+(?:\.\d+)?)?\s*({'|'.join(_UNITS)})")


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """What jobs of a task share, on all workers together; checked where it is written.

    Jobs over the limit wait without a slot of a worker. `rate` is by tokens, of which `burst` can
    be saved up; with `window` it holds for the claims of any such stretch. `key` divides the limit:
    each key has one of its own. Tasks of one queue with the same `name` share one.
    """

    rate: Rate | None = None
    burst: int | None = None
    window: bool = False
    concurrency: int | None = None
    key: Key | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if self.rate is None and self.concurrency is None:
            raise InvalidOption("A Limit has a rate, a concurrency, or both.")
        if self.rate is None and (self.burst is not None or self.window):
            raise InvalidOption("burst and window say something about rate, which is not given.")
        if self.window and self.burst is not None:
            raise InvalidOption("Give burst or window, not both: a window has no burst.")
        if self.name is not None:
            checked_name(self.name, "name of a limit")
        checked_key(self.key, "key")
        self.lane("")

    def lane(self, name: str) -> Lane:
        """The lane of this limit by a name."""
        slots = 0 if self.concurrency is None else _count(self.concurrency, "concurrency")
        if self.rate is None:
            return Lane(name, slots)
        starts, per = _parsed(self.rate)
        burst = max(1, to_ms(SPREAD) * starts // per)
        if self.window:
            burst = 0
        elif self.burst is not None:
            burst = _count(self.burst, "burst")
        return Lane(name, slots, starts=starts, per=per, burst=burst)


def checked_limit(value: Any) -> Limit | None:
    if value is None or isinstance(value, Limit):
        return value
    raise InvalidOption(f"limit takes a Limit(…), as in Limit(rate='10/s'); got {shown(value)}.")


def _parsed(rate: Rate) -> tuple[int, int]:
    """How many, and in how many milliseconds."""
    match rate:
        case str():
            found = _RATE.fullmatch(rate.strip())
            if found is None:
                raise InvalidOption(
                    f"rate is a text as 10/s, 100/min, 5/30s or 1000/h are; got {shown(rate)}."
                )
            return _count(int(found[1]), "rate"), positive_ms(
                float(found[2] or 1) * _UNITS[found[3]], "rate"
            )
        case (number, time):
            return _count(number, "rate"), positive_ms(time, "The time of a rate")
    raise InvalidOption(f"rate is a text as 10/s, or a number and a time; got {shown(rate)}.")


def _count(value: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST:
        raise InvalidOption(f"{what} is a whole number from 1 to {MOST:,}; got {shown(value)}.")
    return value
