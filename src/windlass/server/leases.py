"""The leases that this server has handed out, and until when each of them holds.

A worker that lets one run out was lost: it is frozen, cut off or gone, although a request of it may
still be waiting here. It gets nothing by that request; the next one shows that it is there again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from ..core.model import Job

FEW: Final = 1_000
"""So many leases are remembered before it is worth looking for old ones."""

WHOLE: Final = 0.002
"""Stores count whole milliseconds, and may leave off the rest."""

OLD: Final = 3_600.0
"""Seconds after which nobody who let a lease run out can still be waiting."""


Who = tuple[str, str]
"""A worker: the name of the key by which it comes, and its own."""


class Leases:
    """Who has which jobs. It only knows what came by this server: the store decides."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._worker_of: dict[str, Who] = {}
        """by the id of a job, who got it last"""
        self._ends: dict[Who, dict[str, float]] = {}
        """by worker and job, when the lease runs out"""
        self._many = FEW

    def now(self) -> float:
        """The moment to be taken before a store is asked for a lease: it ends no sooner there."""
        return self._clock() - WHOLE

    def hand_out(self, jobs: Sequence[Job], worker: Who, lease: int, began: float) -> None:
        """Note that a worker gets jobs for `lease` milliseconds from a moment."""
        if not jobs:
            return
        if len(self._worker_of) > self._many:
            self._drop_old()
        end = began + lease / 1000
        ends = self._ends.setdefault(worker, {})
        for job in jobs:
            self._worker_of[job.id] = worker
            ends[job.id] = end

    def extend(self, ids: Iterable[str], lease: int, began: float) -> None:
        """Note that these are held for `lease` milliseconds from a moment."""
        end = began + lease / 1000
        for id in ids:
            worker = self._worker_of.get(id)
            if worker is not None:
                self._ends[worker][id] = end

    def end(self, ids: Iterable[str]) -> None:
        """Forget jobs that are in nobody's hands any more."""
        for id in ids:
            worker = self._worker_of.pop(id, None)
            if worker is not None:
                ends = self._ends[worker]
                del ends[id]
                if not ends:
                    del self._ends[worker]

    def hear_of(self, worker: Who) -> None:
        """Forget what a worker has lost: it is there, and asks for more."""
        if late := self._late(worker, self._clock()):
            self._forget(worker, late)

    def is_lost(self, worker: Who) -> bool:
        """Whether a worker has let a lease run out, and was not heard of since."""
        return bool(self._late(worker, self._clock()))

    def _late(self, worker: Who, moment: float) -> list[str]:
        return [id for id, end in self._ends.get(worker, {}).items() if end < moment]

    def _forget(self, worker: Who, ids: Iterable[str]) -> None:
        ends = self._ends[worker]
        for id in ids:
            ends.pop(id, None)
            if self._worker_of.get(id) == worker:
                del self._worker_of[id]
        if not ends:
            del self._ends[worker]

    def _drop_old(self) -> None:
        for worker in [*self._ends]:
            self._forget(worker, self._late(worker, self._clock() - OLD))
        self._many = max(FEW, 2 * len(self._worker_of))
