"""Claims for workers in other languages, who wait for jobs: any number of them, at little cost.

All that wait for the same queues stand in one line, and one of them asks the store: the first gets
what the next claim brings. A worker that has left gives back what was claimed for it. One that was
lost while it waited gets nothing: it would be handed the jobs that others rescue from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from ..core.model import Job
from ..stores.contract import CLAIM_BYTES, Store
from .faults import Draining
from .handout import Handout
from .leases import Leases, Who
from .line import Line, Waiter

LONGEST_WAIT: Final = 5.0
"""A line looks at the store this often even if nothing woke it."""

WAIT_OF_LEASE: Final = 0.5
"""The part of its lease that a worker may wait. One that is frozen while it waits has lost no job
before that is over, on whichever server, if it had extended its leases as often as it should."""

Queues = tuple[str, ...]


class Order(NamedTuple):
    """What a worker asks for. `queues` is as a store's `claim` takes it."""

    store: Store
    caller: str
    """whose key it is"""
    worker: str
    queues: Mapping[str, int]
    limit: int
    lease: int
    most_bytes: int

    @property
    def who(self) -> Who:
        """The worker; a name is that of another if another caller has it."""
        return self.caller, self.worker


class Fetches:
    """The lines of one server."""

    def __init__(self, store: Store, handout: Handout, leases: Leases) -> None:
        self._store = store
        self._handout = handout
        self._leases = leases
        self._lines: dict[Queues, Line[Order, Job]] = {}
        self._under_way: set[asyncio.Task[Sequence[Job]]] = set()
        self._draining = False

    async def fetch(self, order: Order, wait: float) -> Sequence[Job]:
        """Jobs for a worker: what there is, or what comes within `wait` seconds.

        Cancelled, it takes care that nothing stays claimed.
        """
        if self._draining:
            raise Draining("The server is about to stop; fetch from another one.")
        self._leases.hear_of(order.who)
        wait = min(wait, order.lease / 1000 * WAIT_OF_LEASE)
        queues = tuple(sorted(order.queues))
        if wait <= 0 or queues not in self._lines:
            jobs = await self._claim_attended(order)
            if jobs or wait <= 0 or self._draining:
                return jobs
        return await self._stand(queues, order, wait)

    def give_back(self, jobs: Sequence[Job]) -> None:
        """Take jobs back from a worker that has not got them."""
        self._leases.end([job.id for job in jobs])
        self._handout.give_back(jobs)

    def fail(self, job: Job, error: Exception) -> None:
        """End a claimed job as if its handler had raised."""
        self._leases.end([job.id])
        self._handout.fail(job, error)

    def release(self) -> None:
        """Let nobody wait any longer, and nobody begin."""
        self._draining = True
        for line in self._lines.values():
            line.release()

    async def stop(self) -> None:
        """Wait until nothing is claimed any more for those who have left."""
        self.release()
        tasks = [*self._under_way, *(line.task for line in self._lines.values())]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _claim(self, order: Order) -> Sequence[Job]:
        """Jobs that are ready for a worker; none only if there are none."""
        return await self._claimed(order, lambda: False) or ()

    async def _claim_in_line(self, order: Order) -> Sequence[Job] | None:
        """As `_claim`; None for a worker that was lost while it waited."""
        return await self._claimed(order, lambda: self._leases.is_lost(order.who))

    async def _claimed(self, order: Order, is_lost: Callable[[], bool]) -> Sequence[Job] | None:
        store, _, worker, queues, limit, lease, most = order
        at_most = min(most, CLAIM_BYTES)
        while not is_lost():
            began = self._leases.now()
            claimed = await store.claim(queues, limit, lease, worker, at_most)
            if claimed and is_lost():
                # In this very moment: what it has lost may be among these, and stays lost to it.
                self._handout.give_back(claimed)
                break
            ready = await self._handout.ready(claimed, most) if claimed else []
            if ready or not claimed:
                self._leases.hand_out(ready, order.who, lease, began)
                return ready
        return None

    async def _claim_attended(self, order: Order) -> Sequence[Job]:
        """Claim for a caller that may leave meanwhile."""
        claiming = asyncio.ensure_future(self._claim(order))
        try:
            return await asyncio.shield(claiming)
        except asyncio.CancelledError:
            self._under_way.add(claiming)
            claiming.add_done_callback(self._left)
            raise

    def _left(self, claiming: asyncio.Task[Sequence[Job]]) -> None:
        self._under_way.discard(claiming)
        if not claiming.cancelled() and claiming.exception() is None:
            self.give_back(claiming.result())

    async def _stand(self, queues: Queues, order: Order, wait: float) -> Sequence[Job]:
        line = self._lines.get(queues)
        if line is None:
            line = self._lines[queues] = Line(
                ask=self._claim_in_line,
                sleep=lambda: self._store.wait(queues, LONGEST_WAIT),
                give_back=self.give_back,
                over=lambda: self._lines.pop(queues),
            )
        return await line.stand(Waiter(order), wait)
