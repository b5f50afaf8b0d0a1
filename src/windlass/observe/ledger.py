"""What a process counts of its jobs, by queue and task. Always, so it must cost next to nothing.

One thread writes, that of the event loop which runs the jobs; others may read at any time. Both the
tallies that the store keeps and what Prometheus scrapes are made of this: a job is counted once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from typing import Final

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


class Spread:
    """How long something took, each time."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        """how many did not pass each of the bounds, and passed the one before"""
        self.seconds = 0.0


class Row:
    """The counts of one task in one queue."""

    __slots__ = (
        "cancelled",
        "completed",
        "dead",
        "failed",
        "refused",
        "rescued",
        "retried",
        "run",
        "wait",
    )

    def __init__(self) -> None:
        self.completed = self.failed = self.retried = self.dead = self.cancelled = 0
        self.rescued = self.refused = 0
        self.run = Spread()
        self.wait = Spread()


class Ledger:
    """Counts jobs. `known` are the tasks that have a row of their own; None if any may."""

    def __init__(self, known: Container[str] | None = None) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self._known = known

    def row(self, queue: str, task: str) -> Row:
        """The row of a task in a queue, or of all others."""
        found = self.rows.get((queue, task))
        if found is not None:
            return found
        if self._known is not None and task not in self._known:
            task = OTHER
        if (queue, task) not in self.rows and len(self.rows) >= MOST_ROWS:
            queue = task = OTHER
        return self.rows.setdefault((queue, task), Row())

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
        """Count quick, completed jobs of one task together: that takes a third of the time."""
        first = jobs[0]
        if first is None or not 0 <= min(took) <= max(took) <= BOUNDS[0]:
            return False
        for move in moves:
            if move.state is not COMPLETED:
                return False
        queue, task = first.queue, first.spec.task
        waits = [
            job.started_at - job.due
            for job in jobs
            if job is not None
            and job.spec.task == task
            and job.queue == queue
            and job.started_at is not None
        ]
        if len(waits) < len(jobs):
            return False
        row = self.row(queue, task)
        row.completed += len(moves)
        row.run.counts[0] += len(took)
        row.run.seconds += sum(took)
        row.wait.seconds += sum(waits) / 1000
        least, most = bisect_left(_BOUNDS_MS, min(waits)), bisect_left(_BOUNDS_MS, max(waits))
        if least == most:
            row.wait.counts[least] += len(waits)
        else:
            for wait in waits:
                row.wait.counts[bisect_left(_BOUNDS_MS, wait)] += 1
        return True

    def settle_one(self, job: Job, move: Transition | None, seconds: float) -> None:
        """Count one attempt; without a move its lease was lost."""
        row = self.row(job.queue, job.spec.task)
        if seconds >= 0:
            row.run.counts[bisect_left(BOUNDS, seconds)] += 1
            row.run.seconds += seconds
            wait = max((job.started_at or 0) - job.due, 0)
            row.wait.counts[bisect_left(_BOUNDS_MS, wait)] += 1
            row.wait.seconds += wait / 1000
        if move is None:
            row.refused += 1
        else:
            _count_move(row, move)

    def rescued(self, job: Job, move: Transition) -> None:
        """Count a job whose worker is gone."""
        row = self.row(job.queue, job.spec.task)
        row.rescued += 1
        _count_move(row, move)


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
