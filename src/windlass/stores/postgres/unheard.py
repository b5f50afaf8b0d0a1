"""Claims whose answers were lost: what they gave is given again.

Only to the worker that made them, and only what was claimed since: whoever else has the same name
keeps what is his. A worker has one claim under way at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final, NamedTuple

from ...core.model import Job
from ..sql.operation import Operation, Statement
from ..sql.rows import to_jobs

MOST: Final = 1_000
"""So many fences that were heard of are remembered."""


class Unheard(NamedTuple):
    """The claims of one worker that were not answered."""

    since: float
    until: float
    """so late may they be carried out"""
    fence: int
    """the last one before them"""


class Unanswered:
    """Remembers such claims, for one store."""

    def __init__(self, timeout: float, clock: Callable[[], float] = monotonic) -> None:
        """`timeout` is how long after its loss a claim may still be carried out."""
        self._timeout = timeout
        self._clock = clock
        self._unheard: dict[str, Unheard] = {}
        self._heard: deque[int] = deque(maxlen=MOST)
        self.fence = 0
        """the last one that was heard of"""

    def heard(self, jobs: Sequence[Job]) -> None:
        """These were given by a claim that was answered."""
        if jobs and jobs[0].fence not in self._heard:
            self._heard.append(jobs[0].fence)
            self.fence = max(self.fence, jobs[0].fence)

    def lost(self, worker: str, began: float, fence: int) -> None:
        """A claim was not answered that began then, when this was the last fence."""
        known = self._unheard.get(worker)
        if known is not None:
            began, fence = min(began, known.since), min(fence, known.fence)
        self._unheard[worker] = Unheard(began, self._clock() + self._timeout, fence)

    def found(self, worker: str, limit: int, now: int | None) -> Operation[Sequence[Job]]:
        """What they gave, up to a limit; asked again, the rest of it."""
        known = self._unheard.get(worker)
        if known is None:
            return ()
        if self._clock() > known.until:
            del self._unheard[worker]
            return ()
        params = {
            "worker": worker,
            "fence": known.fence,
            "heard": [fence for fence in self._heard if fence > known.fence],
            # The server reads its clock when this has reached it.
            "elapsed": int(1000 * (self._clock() - known.since + self._timeout)),
            "limit": limit,
            "now": now,
        }
        return [*to_jobs((yield Statement("claimed_before", params)))]
