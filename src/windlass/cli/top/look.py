"""What looks at the store found; all that is shown is computed from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ...admin.attention import Situation
from ...core.model import Job
from ...core.stats import FINE, WHOLE, StatPoint, bucket

RATED = 6
"""A rate is that of so many buckets and of what there is of the present one: the last minute."""


class Opened(msgspec.Struct, frozen=True):
    """What is known of the job whose details are open; only a sentence if it is gone."""

    id: str
    lines: Sequence[str]


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look; of lists that may be long it has the first."""

    situation: Situation
    active: Sequence[Job] = ()
    """those first that were claimed first"""
    failed: Sequence[Job] = ()
    """dead ones and ones that wait for another attempt, those first that failed last"""
    points: Mapping[str, Sequence[StatPoint]] = {}
    """by queue, the fine buckets; those of all together under the name of the whole"""
    opened: Opened | None = None

    @property
    def now(self) -> int:
        return self.situation.now

    def series(self, name: str, length: int, queue: str = WHOLE) -> Sequence[int]:
        """What was counted under a name, bucket by bucket, the present one last."""
        newest = bucket(FINE, self.now)
        numbers = {point.at: point.counts.get(name, 0) for point in self.points.get(queue, ())}
        return [numbers.get(newest - back * FINE, 0) for back in reversed(range(length))]

    def rate(self, name: str, queue: str = WHOLE) -> float:
        """How many in a second, lately."""
        seconds = (RATED * FINE + self.now % FINE) / 1000
        return sum(self.series(name, RATED + 1, queue)) / seconds

    def has_rate(self, queue: str) -> bool:
        """Whether the buckets of a queue were asked for."""
        return queue in self.points


def failed_at(job: Job) -> int:
    """About when a job failed last: a store keeps when it ended for good, and when a run began."""
    began = job.error.at if job.error is not None else 0
    return job.finished_at or began or job.started_at or job.created_at
