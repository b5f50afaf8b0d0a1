"""When a schedule ticks: cron expressions, `@hourly` and its kin, `@every 90s`.

Pure: moments in, moments out. Ticks depend on nothing but the text and the zone, so every
scheduler of a cluster computes the same ones, whenever it was started.

Where clocks change, cron's own rules hold. A schedule at a given time of day runs once that day:
if the clock skips its time, right after the gap; if the time comes twice, the first time. One
that runs every so many minutes or hours (`*` in the minute or the hour), and any with seconds,
goes by the time that passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import dropwhile, islice, takewhile
from typing import Final, Literal, get_args
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

from ..errors import InvalidOption, shown
from .clock import to_datetime

Missed = Literal["skip", "last", "all"]
"""What becomes of ticks that nobody was there for: none runs, the last one does, or all do."""

MOST_MISSED: Final = 100
"""The most ticks that `all` catches up with: the newest ones."""

MOST_PASSED: Final = 10_000

GRACE_MS: Final = 60_000
"""A tick that is no later than this is not missed: leaders change, and machines are busy."""

ALIASES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_EVERY: Final = re.compile(r"@every\s+((?:\d+[smhd])+)", re.ASCII)
_LONGEST_PERIOD: Final = 366 * 86_400
_LONGEST_TEXT: Final = 500
"""Characters of an expression: what it takes to read one grows with them."""


class Timetable(msgspec.Struct, frozen=True):
    """A schedule's ticks; made by `timetable`, which checks the text.

    With `every`, in milliseconds, ticks are the multiples of it since 1970 and no zone matters.
    """

    text: str
    zone: str = "UTC"
    every: int = 0

    def after(self, moment: int) -> int:
        """The first tick after `moment`."""
        if self.every:
            return (moment // self.every + 1) * self.every
        tick = next(self._forwards(moment))
        for earlier in takewhile(lambda each: each > moment, self.before(tick - 1)):
            tick = earlier
        return tick

    def coming(self, moment: int, number: int) -> Sequence[int]:
        """The first so many ticks after `moment`."""
        if self.every:
            first = self.after(moment)
            return range(first, first + number * self.every, self.every)
        ticks: list[int] = []
        for _ in range(number):
            ticks.append(self.after(ticks[-1] if ticks else moment))
        return ticks

    @property
    def words(self) -> str:
        """The text as people would say it."""
        if self.every:
            return f"Every {self.text.removeprefix('@every').strip()}"
        return self._sim(0).explain()

    def before(self, moment: int) -> Iterator[int]:
        """The ticks up to `moment`, itself included, newest first."""
        if self.every:
            newest = moment // self.every * self.every
            return iter(range(newest, 0, -self.every))
        return self._back_from(moment)

    def _back_from(self, moment: int) -> Iterator[int]:
        later = moment + 1
        ticks = map(_ms, self._sim(later + self._turned_back(moment), reverse=True))
        for tick in dropwhile(lambda each: each > moment, ticks):
            if (self._offset(tick) - self._offset(later)) % 3_600:
                # Backwards, some are passed over where clocks change by half an hour.
                forwards = list(takewhile(later.__gt__, self._forwards(tick)))
                yield from reversed(forwards)
            yield tick
            later = tick

    def _forwards(self, moment: int) -> Iterator[int]:
        """Ticks after a moment. Some are passed over where clocks change by half an hour."""
        # In the second pass of an hour that comes twice, those of the first are over already.
        return (each for each in map(_ms, self._sim(moment)) if each > moment)

    def _offset(self, moment: int) -> int:
        """By how many seconds the zone is ahead of UTC."""
        offset = to_datetime(moment).astimezone(_zone(self.zone)).utcoffset()
        return round(offset.total_seconds()) if offset else 0

    def due(self, last: int, now: int, missed: Missed) -> Sequence[int]:
        """The ticks after `last` that are to run now, oldest first.

        Those within the grace are not missed, however many they are: a leader was killed.
        """
        ticks = takewhile(lambda tick: tick > last, self.before(now))
        if missed == "all":
            return list(islice(ticks, MOST_MISSED))[::-1]
        found = list(takewhile(lambda tick: tick >= now - GRACE_MS, ticks))
        if missed == "last" and not found:
            found = list(islice(self.before(now), 1))
        return [tick for tick in reversed(found) if tick > last]

    def passed_over(self, last: int, tick: int) -> int:
        """How many ticks there are after `last` and before `tick`, counted up to a bound."""
        ticks = takewhile(lambda each: each > last, self.before(tick - 1))
        return sum(1 for _ in islice(ticks, MOST_PASSED))

    def _turned_back(self, moment: int) -> int:
        """By how much clocks went back, if it is a moment of the hour that comes a second time.

        Ticks of the first pass come before it, those at a later time of day as well.
        """
        local = to_datetime(moment).astimezone(_zone(self.zone))
        return _ms(local) - _ms(local.replace(fold=0))

    def _sim(self, moment: int, *, reverse: bool = False) -> CronSim:
        expression = ALIASES.get(self.text, self.text)
        return CronSim(expression, to_datetime(moment).astimezone(_zone(self.zone)), reverse)


def timetable(text: str, zone: str = "UTC") -> Timetable:
    """The timetable of an expression in a time zone; what cannot be one is `InvalidOption`."""
    if not isinstance(text, str):
        raise InvalidOption(
            f"A cron expression is a text such as '0 9 * * mon-fri'; got {shown(text)}."
        )
    text = " ".join(text.split())
    if len(text) > _LONGEST_TEXT:
        raise InvalidOption(f"A cron expression has at most {_LONGEST_TEXT} characters.")
    _zone(zone)
    if text.startswith("@every"):
        return Timetable(text, zone, _period_ms(text))
    if text.startswith("@") and text not in ALIASES:
        raise InvalidOption(
            f"{text!r} is no schedule; known are {', '.join(ALIASES)} and @every, as in @every 90s."
        )
    made = Timetable(text, zone)
    try:
        made.after(0)
    except (CronSimError, StopIteration) as error:
        reason = str(error) or "it never comes"
        raise InvalidOption(
            f"{text!r} is no cron expression ({reason}); it has minute, hour, day, month and "
            "weekday, and before them seconds if there are six."
        ) from None
    return made


def checked_missed(value: str) -> Missed:
    if value not in get_args(Missed):
        raise InvalidOption(f"missed is skip, last or all; got {shown(value)}.")
    return value  # type: ignore[return-value]


def _zone(name: str) -> tzinfo:
    """The zone of a name. UTC needs no database of zones, which small machines do not have."""
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (LookupError, ValueError, OSError, TypeError):
        raise InvalidOption(
            f"There is no time zone {name!r}; use a name such as Europe/Berlin or UTC."
        ) from None


def _period_ms(text: str) -> int:
    match = _EVERY.fullmatch(text)
    if match is None:
        raise InvalidOption(
            f"{text!r} is no schedule; write @every 90s, @every 5m or @every 1h30m."
        )
    parts = re.findall(r"(\d+)([smhd])", match.group(1))
    seconds = sum(int(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds <= _LONGEST_PERIOD:
        raise InvalidOption("@every takes a time above 0 s and of at most 366 days.")
    return seconds * 1000


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
