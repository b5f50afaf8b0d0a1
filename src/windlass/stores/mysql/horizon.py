"""Where the claims of each queue have come to, for when it is slow to begin at the start.

InnoDB removes index entries some time after the rows that they were for, and not at all while
anybody looks at an older state: a dump, a report, a forgotten session. A claim has to pass all of
them, so that under load claims become slower and slower. When one has been slow, the next ones go
on where it ended, among jobs of the same priority. That costs punctuality: a job of a higher
priority, or one that was released, is found by the next claim from the start, and there is one
every second or so, or as soon as nothing else is found.
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
        """What a claim of so many jobs came to; None where a queue had less than asked."""
        took = ended - began
        slow = self._is_slow(number, took, on_the_way=bool(used))
        for queue, spot in ends.items():
            if spot is None or (queue not in used and not slow):
                self._spots.pop(queue, None)
                continue
            self._spots[queue] = spot
            if queue not in used:
                self._from_start[queue] = ended + min(max(SOON, SHARE * took), LATE)

    def _is_slow(self, number: int, took: float, *, on_the_way: bool) -> bool:
        """Whether a claim had to pass much; one that went on where another ended tells what is
        usual, so that a machine that is slow altogether is not taken for it."""
        size = number.bit_length()
        usual = self._usual.get(size)
        if usual is None:
            self._usual[size] = took
            return not on_the_way and number > 0 and took > SLOW + SLOW_FOR_EACH * number
        if on_the_way:
            self._usual[size] = (usual * 3 + took) / 4
            return False
        self._usual[size] = min(usual, took)
        is_long = number > 0 and took > max(LEAST, TIMES * usual)
        self._slow = self._slow + 1 if is_long else 0
        return self._slow >= IN_A_ROW

    def clear(self) -> None:
        """Begin at the start: this process itself has put jobs there."""
        self._spots.clear()
