"""What a process counts of its jobs, by queue and task. Always, so it must cost next to nothing.

One thread writes, that of the event loop which runs the jobs; others may read at any time. Both the
tallies that the store keeps and what Prometheus scrapes are made of this: a job is counted once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Sequence
from typing import Final

import msgspec

from ..core import stats
from ..core.model import Job, Transition
from ..core.outcome import COMPLETED
from ..core.states import State

SCRAPED: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""The bounds of a histogram as Prometheus has them by default."""

BOUNDS: Final = tuple(sorted({*stats.BOUNDS, *SCRAPED}))
"""Seconds; what is counted by these can be told by either of the two."""

_BOUNDS_MS: Final = tuple(round(bound * 1000) for bound in BOUNDS)

OTHER: Final = "(other)"
"""Stands for tasks that are not of this app, and for all that is beyond `MOST_ROWS`."""

MOST_ROWS: Final = 1_000
NOT_RUN: Final = -1.0
"""In place of the seconds of an attempt that was never started."""


class Spread(msgspec.Struct):
    """How long something took, each time. `counts` are by the first bound that it did not pass."""

    counts: list[int] = msgspec.field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def note(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds

    def add(self, other: Spread) -> None:
        self.counts = [a + b for a, b in zip(self.counts, other.counts, strict=True)]
        self.seconds += other.seconds


class Row(msgspec.Struct):
    """The counts of one task in one queue. `enqueued` and `started` are counted elsewhere."""

    enqueued: int = 0
    started: int = 0
    completed: int = 0
    failed: int = 0
    retried: int = 0
    dead: int = 0
    cancelled: int = 0
    rescued: int = 0
    fence_refused: int = 0
    run: Spread = msgspec.field(default_factory=Spread)
    wait: Spread = msgspec.field(default_factory=Spread)

    def add(self, other: Row) -> None:
        for name in COUNTS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.run.add(other.run)
        self.wait.add(other.wait)


COUNTS: Final = Row.__struct_fields__[:-2]
"""The counts of a row that are plain numbers."""


class Ledger:
    """Counts jobs. `known` are the tasks that have a row of their own; None if any may."""

    def __init__(self, known: Container[str] | None = None) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self._known = known

    def row(self, queue: str, task: str) -> Row:
        """The row of a task in a queue, or of all others."""
        found = self.rows.get((queue, task))
        return found or self.rows.setdefault(self.key(queue, task), Row())

    def key(self, queue: str, task: str) -> tuple[str, str]:
        """Under which queue and task a job is counted: there is a bound to how many there are."""
        if self._known is not None and task not in self._known:
            task = OTHER
        if (queue, task) not in self.rows and len(self.rows) >= MOST_ROWS:
            return OTHER, OTHER
        return queue, task

    def completed(self) -> int:
        """How many jobs were completed, of all tasks; from any thread."""
        return sum(row.completed for row in list(self.rows.values()))

    def failed(self) -> int:
        """How many attempts failed; from any thread."""
        return sum(row.failed for row in list(self.rows.values()))

    def settle(
        self,
        jobs: Sequence[Job | None],
        moves: Sequence[Transition],
        took: Sequence[float],
        held: frozenset[str],
    ) -> None:
        """Count what attempts came to, of which the store has taken those in `held`.

        `took` are their seconds, or `NOT_RUN`.
        """
        if len(held) == len(moves) and self._settle_alike(jobs, moves, took):
            return
        for job, move, seconds in zip(jobs, moves, took, strict=True):
            if job is not None:
                self.settle_one(job, move if move.id in held else None, seconds)

    def _settle_alike(
        self, jobs: Sequence[Job | None], moves: Sequence[Transition], took: Sequence[float]
    ) -> bool:
        """Count completed jobs of one task together: that takes a third of the time."""
        first = jobs[0]
        if first is None or min(took) < 0:
            return False
        for move in moves:
            if move.state is not COMPLETED:
                return False
        queue, task = first.queue, first.spec.task
        try:
            waits = [
                job.started_at - job.due  # type: ignore[operator, union-attr]
                for job in jobs
                if job.spec.task == task and job.queue == queue  # type: ignore[union-attr]
            ]
        except (AttributeError, TypeError):
            # Not in hand any more, or never started: too rare to be asked for each time.
            return False
        if len(waits) < len(jobs):
            return False
        row = self.row(queue, task)
        row.completed += len(moves)
        row.run.seconds += sum(took)
        if max(took) <= BOUNDS[0]:
            row.run.counts[0] += len(took)
        else:
            _spread(row.run.counts, BOUNDS, sorted(took))
        row.wait.seconds += sum(waits) / 1000
        # Claimed together, they are nearly in order.
        waits.sort()
        _spread(row.wait.counts, _BOUNDS_MS, waits)
        return True

    def settle_one(self, job: Job, move: Transition | None, seconds: float) -> None:
        """Count one attempt; without a move its lease was lost."""
        row = self.row(job.queue, job.spec.task)
        if seconds >= 0:
            _note_times(row, job, seconds)
        if move is None:
            row.fence_refused += 1
        else:
            _count_move(row, move)

    def stopped(self, job: Job, seconds: float) -> None:
        """Count an attempt whose job was cancelled or taken over: whoever did it counts that."""
        _note_times(self.row(job.queue, job.spec.task), job, seconds)

    def rescued(self, job: Job, move: Transition) -> None:
        """Count a job whose worker is gone."""
        row = self.row(job.queue, job.spec.task)
        row.rescued += 1
        _count_move(row, move)


def _note_times(row: Row, job: Job, seconds: float) -> None:
    row.run.note(seconds)
    wait = max((job.started_at or 0) - job.due, 0)
    row.wait.counts[bisect_left(_BOUNDS_MS, wait)] += 1
    row.wait.seconds += wait / 1000


def _count_move(row: Row, move: Transition) -> None:
    match move.state:
        case State.COMPLETED:
            row.completed += 1
        case State.RETRY:
            row.failed += 1
            row.retried += 1
        case State.DEAD:
            row.failed += 1
            row.dead += 1
        case State.CANCELLED:
            row.cancelled += 1


def _spread(counts: list[int], bounds: Sequence[float], times: Sequence[float]) -> None:
    """Count times, which are in order, by the first bound that each does not pass."""
    at = 0
    for index in range(bisect_left(bounds, times[0]), bisect_left(bounds, times[-1])):
        end = bisect_right(times, bounds[index])
        counts[index] += end - at
        at = end
    counts[bisect_left(bounds, times[-1])] += len(times) - at
