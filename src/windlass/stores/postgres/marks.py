"""How far claims have come in each line, for when it is slow to begin at the start.

An old snapshot anywhere in the database keeps index entries of rows that are gone. Whoever looks at
the start of a line passes all of them. So while that is slow, claims leave out what lies before the
last job of a priority that was claimed some moments ago. Nothing is lost by it: better priorities
and released jobs are looked for all the same, and now and then a claim begins at the start. That
one finds what came in behind a mark: a commit that was late, a job that was given back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from time import monotonic
from typing import Final, NamedTuple

GROUPED: Final = 2**61
"""Places from here on are those of groups, which are given in an order of their own."""

AGE: Final = 0.1
"""Seconds until a place becomes a mark: who took a place before it has committed by then."""

SHARE: Final = 10
LATEST: Final = 2.0
SHARE_IF_CALLED: Final = 2
"""Seconds until one begins at the start again: so many times what that took, and no longer than
`LATEST`; sooner if somebody said that there may be jobs behind the marks."""

FEW: Final = 12
EACH: Final = 50
"""So many pages of the index a claim reads at most where nothing is in its way, and one more for so
many jobs. Pages and not seconds: a busy machine is no reason."""

BEFORE, BEHIND = -1, 2**31
"""Ranks that no job has."""

FIRST, LAST = -(2**63), 2**63 - 1
"""Places that no job has."""


class Line(NamedTuple):
    """Jobs that go one after the other."""

    queue: str
    rank: int
    grouped: bool


class Ranges(NamedTuple):
    """Where to look, as arrays: of each queue some places of a rank, then what is of a rank after
    that one and before another."""

    range_queues: Sequence[str]
    ranks: Sequence[int]
    from_places: Sequence[int]
    to_places: Sequence[int]
    to_ranks: Sequence[int]


class Marks:
    """What one process knows of the lines that it claims from."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._last: dict[Line, int] = {}
        """the last place that was claimed"""
        self._ripening: dict[Line, int] = {}
        self._turned = 0.0
        self._marks: dict[str, dict[int, list[tuple[int, int]]]] = {}
        """by queue and rank, from which place up to which one nothing is looked for"""
        self._from_start = 0.0
        self._recalled = 0.0

    @property
    def hold(self) -> bool:
        """Whether it is slow to begin at the start, and not yet time for it."""
        return self._clock() < self._from_start

    @property
    def left(self) -> float:
        """Seconds until it is time to begin at the start."""
        return max(0.0, self._from_start - self._clock())

    def ranges(self, queues: Iterable[str]) -> Ranges:
        """What is to be looked at of these queues, in order."""
        self._turn(self._clock())
        found: list[tuple[str, int, int, int, int]] = []
        for queue in queues:
            marks = self._marks.get(queue, {})
            ranks = [*marks, BEHIND]
            found.append((queue, BEFORE, 0, 0, ranks[0]))
            for rank, after in pairwise(ranks):
                place = FIRST
                for start, mark in marks[rank]:
                    found.append((queue, rank, place, start, rank + 1))
                    place = mark
                found.append((queue, rank, place, LAST, after))
        columns = zip(*found, strict=True) if found else [()] * len(Ranges._fields)
        return Ranges(*(list(column) for column in columns))

    def queues(self) -> Sequence[str]:
        """Those that something was claimed from."""
        return list({line.queue for line in self._last})

    def note(self, queue: str, rank: int, place: int) -> None:
        """Something was claimed up to here; what was put before all others says nothing."""
        if place > 0:
            self._last[Line(queue, rank, place >= GROUPED)] = place

    def took(self, seconds: float, pages: int, number: int) -> None:
        """What a claim of so many jobs took that began at the start."""
        now = self._clock()
        slow = pages > FEW + number / EACH
        self._from_start = now + min(SHARE * seconds, LATEST) if slow else 0.0
        self._recalled = now + SHARE_IF_CALLED * seconds
        if slow:
            self._turn(now)

    def recall(self) -> None:
        """There may be jobs behind the marks: begin at the start as soon as that is bearable."""
        self._from_start = min(self._from_start, self._recalled)

    def _turn(self, now: float) -> None:
        """Let what was claimed some moments ago become marks."""
        if now - self._turned < AGE:
            return
        self._turned = now
        self._marks = {}
        for (queue, rank, grouped), place in sorted(self._ripening.items()):
            skipped = (GROUPED if grouped else 0, place)
            self._marks.setdefault(queue, {}).setdefault(rank, []).append(skipped)
        self._ripening = dict(self._last)
