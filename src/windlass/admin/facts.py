"""What the store knows that bears on one job: the job, its queue, its line, the workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from ..client import get_job
from ..core.model import Job, JobQuery
from ..core.rotation import EVERY, parse_queues
from ..core.states import State
from ..core.workers import WorkerInfo
from ..errors import ConfigError
from ..stores.contract import SCAN_BATCH, Store

MOST_COUNTED: Final = 10 * SCAN_BATCH
"""Where counting a line ends; whether there are more changes little for one who waits."""

SHOWN_PARENTS: Final = 5
"""The most of those that a blocked job waits for that are looked at."""


class Line(msgspec.Struct, frozen=True):
    """The pending jobs before one: how many, or only that there are more than that."""

    before: int
    more: bool = False


class Facts(msgspec.Struct, frozen=True):
    """What one look at the store found; the parts are read one after the other."""

    job: Job
    now: int
    paused: bool = False
    workers: Sequence[WorkerInfo] = ()
    """of the whole store, not only of the job's queue"""
    line: Line | None = None
    """for a pending job; None too if it was in line no more when it was looked for there"""
    active: int = 0
    """active jobs of its queue; fresher than what workers say of themselves"""
    held: int = 0
    """for an active job: how many its worker has, this one among them"""
    awaited: Mapping[str, Job] = {}
    """for a blocked job: some of those that it waits for"""

    @property
    def serving(self) -> Sequence[WorkerInfo]:
        """The workers of the job's queue."""
        return [worker for worker in self.workers if serves(worker, self.job.queue)]

    @property
    def owner(self) -> WorkerInfo | None:
        """The worker that has the job, if it is still heard of."""
        return next((worker for worker in self.workers if worker.id == self.job.worker), None)


async def look(store: Store, id: str, now: int) -> Facts:
    """Gather the facts on a job, or raise `UnknownJob`."""
    job = await get_job(store, id)
    line = None
    if job.state is State.PENDING:
        line = await place_in_line(store, job)
        if line is None:
            job = await get_job(store, id)
    held = await held_by(store, job.worker) if job.state is State.ACTIVE else 0
    awaited = await store.get(job.waits_for[:SHOWN_PARENTS]) if job.waits_for else {}
    stats = {queue.name: queue for queue in await store.queues()}.get(job.queue)
    paused = stats is not None and stats.paused
    active = stats.counts.get(State.ACTIVE, 0) if stats is not None else 0
    return Facts(job, now, paused, await store.workers(), line, active, held, awaited)


async def place_in_line(store: Store, job: Job) -> Line | None:
    """How many pending jobs go before this one; None if it is not in line."""
    before, cursor = 0, None
    while before < MOST_COUNTED:
        query = JobQuery(
            states=(State.PENDING,), queue=job.queue, limit=SCAN_BATCH, cursor=cursor, brief=True
        )
        page = await store.find(query)
        for other in page.jobs:
            if other.id == job.id:
                return Line(before)
            before += 1
        if page.cursor is None:
            return None
        cursor = page.cursor
    return Line(before, more=True)


async def held_by(store: Store, worker: str | None) -> int:
    """How many active jobs a worker has, among the first `MOST_COUNTED` of all."""
    held, seen, cursor = 0, 0, None
    while seen < MOST_COUNTED:
        query = JobQuery(states=(State.ACTIVE,), limit=SCAN_BATCH, cursor=cursor, brief=True)
        page = await store.find(query)
        held += sum(job.worker == worker for job in page.jobs)
        seen += len(page.jobs)
        if page.cursor is None:
            break
        cursor = page.cursor
    return held


def serves(worker: WorkerInfo, queue: str) -> bool:
    names = queue_names(worker)
    return queue in names or EVERY in names


def served_by(
    workers: Sequence[WorkerInfo], queues: Iterable[str]
) -> Mapping[str, Sequence[WorkerInfo]]:
    """For each of these queues the workers that serve it, those first that name it."""
    every: list[WorkerInfo] = []
    named: dict[str, list[WorkerInfo]] = {}
    for worker in workers:
        names = queue_names(worker)
        for line in [every] if EVERY in names else [named.setdefault(each, []) for each in names]:
            line.append(worker)
    return {queue: [*named.get(queue, ()), *every] for queue in queues}


def queue_names(worker: WorkerInfo) -> frozenset[str]:
    """The queues of a worker without their weights; as written if another version wrote them."""
    try:
        return frozenset(served.name for served in parse_queues(worker.queues))
    except ConfigError:
        return frozenset(worker.queues)
