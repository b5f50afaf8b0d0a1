"""Which queues a claim looks at for due jobs, so that many at one moment do not slow all claims.

A claim makes up to a whole batch of due jobs pending before it looks at priorities. A queue that
had more than that is passed by for a while: what was made pending is enough for many claims, and a
batch now and then takes a small share of the time. As soon as claims run short, it is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final, NamedTuple

from ...core.model import Job
from ..contract import PROMOTE_BATCH

SHARE: Final = 10
LONGEST: Final = 0.5
"""Until the next batch, so many times what the last one took, or so many seconds."""


class Passed(NamedTuple):
    """A queue that had more due jobs than one claim makes pending."""

    until: float
    left: int
    """of what was made pending, so many were not claimed here yet"""


class Promotion:
    """What one process knows of the due jobs of its queues."""

    def __init__(self) -> None:
        self._passed: dict[str, Passed] = {}

    def begin(self, queues: Mapping[str, int], limit: int) -> Step:
        """One claim from these queues, each with the most that it may give."""
        began = monotonic()
        passed = [
            queue
            for queue, (until, left) in self._passed.items()
            if queue in queues and until > began and left >= min(queues[queue], limit)
        ]
        return Step(self, frozenset(passed), limit, began)

    def note(self, step: Step, jobs: Sequence[Job], ended: float) -> None:
        """What a claim came to."""
        if not step.full and not self._passed:
            return
        if len(jobs) < step.limit:
            # They run short: all are looked at again.
            self._passed.clear()
        until = ended + min(SHARE * (ended - step.began), LONGEST)
        self._passed |= {queue: Passed(until, PROMOTE_BATCH) for queue in step.full}
        for queue, number in Counter(job.queue for job in jobs).items():
            if queue in self._passed:
                left = self._passed[queue].left - number
                self._passed[queue] = self._passed[queue]._replace(left=left)


class Step:
    """One claim: the queues that it passes by, and those that it found too full."""

    def __init__(
        self, promotion: Promotion, passed: frozenset[str], limit: int, began: float
    ) -> None:
        self._promotion = promotion
        self.passed = passed
        self.limit = limit
        self.began = began
        self.full: set[str] = set()

    def end(self, jobs: Sequence[Job]) -> None:
        """It is done, and gave these."""
        self._promotion.note(self, jobs, monotonic())
