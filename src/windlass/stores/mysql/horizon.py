"""Where the claims of each queue have come to, for when it is slow to begin at the start.

InnoDB removes index entries some time after the rows that they were for, and not at all while
anybody looks at an older state: a dump, a report, a forgotten session. A claim has to pass all of
them, so that under load claims become slower and slower. When some have been slow, the next ones go
on where they ended, among jobs of the same priority. That costs punctuality: a job of another
priority, or one that was released, by another process, is found by the next claim from the start,
of which there is one every second or so. InnoDB passes what is gone even where it cannot belong to
what is asked for, so to look for these alone would be as slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

SLOW: Final = 0.01
SLOW_FOR_EACH: Final = 0.00005
"""Seconds from which on a first claim is slow: so many, and so many more for each job."""

TIMES: Final = 3
LEAST: Final = 0.002
IN_A_ROW: Final = 3
"""Later ones are slow if they take so many times what is usual for as many jobs, and so many
seconds, so often in a row: once alone may be the machine."""

SOON, LATE, SHARE = 0.1, 2.0, 10
"""Seconds until a claim from the start: within these, so many times what the last one took."""


class Spot(NamedTuple):
    """The end of a claim: rank and place of its last job."""

    rank: int
    place: int


class Horizon:
    """What one process knows of the lines that it claims from."""

    def __init__(self) -> None:
        self._spots: dict[str, Spot] = {}
        self._last: dict[str, Spot] = {}
        """where a claim ended last that found something"""
        self._from_start: dict[str, float] = {}
        self._usual: dict[int, float] = {}
        """seconds that a claim of about so many jobs takes where nothing is in its way"""
        self._slow = 0
        """how many claims from the start were slow in a row"""

    def spots(self, queues: Iterable[str], now: float) -> Mapping[str, Spot]:
        """Where to go on, of those queues that are slow to claim from the start."""
        return {
            queue: self._spots[queue]
            for queue in queues
            if queue in self._spots and now < self._from_start[queue]
        }

    def note(
        self,
        used: Mapping[str, Spot],
        ends: Mapping[str, Spot | None],
        number: int,
        began: float,
        ended: float,
    ) -> None:
        """What a claim of so many jobs came to; None where a queue had nothing."""
        took = ended - began
        slow = self._is_slow(number, took, on_the_way=bool(used))
        for queue, spot in ends.items():
            if spot is not None:
                self._last[queue] = spot
            if queue in used:
                self._spots[queue] = spot or used[queue]
            elif slow and queue in self._last:
                self._spots[queue] = self._last[queue]
                self._from_start[queue] = ended + min(max(SOON, SHARE * took), LATE)
            else:
                self._spots.pop(queue, None)

    def _is_slow(self, number: int, took: float, *, on_the_way: bool) -> bool:
        """Whether a claim had to pass much; one that went on where another ended tells what is
        usual, so that a machine that is slow altogether is not taken for it."""
        size = number.bit_length()
        usual = self._usual.get(size)
        if usual is None:
            self._usual[size] = took
            return not on_the_way and took > SLOW + SLOW_FOR_EACH * number
        if on_the_way:
            self._usual[size] = (usual * 3 + took) / 4
            return False
        self._usual[size] = min(usual, took)
        is_long = took > max(LEAST, TIMES * usual)
        self._slow = self._slow + 1 if is_long else 0
        return self._slow >= IN_A_ROW

    def put(self, queue: str, rank: int) -> None:
        """This process itself has put a job there, at the end of its rank."""
        if queue in self._spots and rank < self._spots[queue].rank:
            del self._spots[queue]

    def clear(self) -> None:
        """Begin at the start: this process itself has changed the lines."""
        self._spots.clear()

    @property
    def is_needed(self) -> bool:
        """Whether some queues are slow to claim from the start."""
        return bool(self._spots)
