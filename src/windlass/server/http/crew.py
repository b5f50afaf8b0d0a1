"""Who works, at what, and within which limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...admin.moment import iso
from ...admin.workers import direct
from ...core.lane import Lane, LanePage, LaneStats
from ...core.name import checked_name
from ...core.workers import Order, WorkerInfo
from ..faults import NotThere
from ..listing import lanes_in
from .call import Call
from .jobs import Limit, asked_queue


class WorkerView(msgspec.Struct, frozen=True):
    """A worker as it describes itself."""

    id: str
    host: str
    pid: int
    queues: Sequence[str]
    concurrency: int
    active: int
    started_at: str | None
    seen_at: str | None
    memory: int | None
    """bytes of its process that are resident; null if it does not tell"""
    quiet: bool
    """it claims nothing, as it was told"""
    order: Order | None
    """what it was told last: work, quiet or stop; it follows within seconds"""
    fault: str | None
    """why it cannot work, though it lives"""
    completed: int
    """jobs that it has completed since its start"""
    failed: int
    """attempts that have failed there"""
    threads: int
    """how many of the jobs that it runs at the same time can be blocking ones"""


class WorkerList(msgspec.Struct, frozen=True):
    """The workers that were heard of lately, by id."""

    workers: Sequence[WorkerView]


async def list_workers(call: Call[None, None]) -> WorkerList:
    """List the workers that are alive."""
    return WorkerList([worker_view(worker) for worker in await call.store.workers()])


def worker_view(worker: WorkerInfo) -> WorkerView:
    return WorkerView(
        worker.id,
        worker.host,
        worker.pid,
        worker.queues,
        worker.concurrency,
        worker.active,
        iso(worker.started_at),
        iso(worker.seen_at),
        worker.memory or None,
        worker.quiet,
        worker.order,
        worker.fault or None,
        worker.completed,
        worker.failed,
        worker.threads,
    )


async def quiet_worker(call: Call[None, None]) -> None:
    """Tell a worker to claim nothing more, and to finish what it has."""
    await _direct(call, "quiet")


async def resume_worker(call: Call[None, None]) -> None:
    """Tell a worker to claim jobs again."""
    await _direct(call, "work")


async def stop_worker(call: Call[None, None]) -> None:
    """Tell a worker to finish what it has, and to end."""
    await _direct(call, "stop")


async def _direct(call: Call[Any, Any], order: Order) -> None:
    id = checked_name(call.path["id"], "id of a worker")
    if not (await direct(call.store, [id], order)).count:
        raise NotThere(f"There is no worker {id}: it has stopped, or was not heard of for long.")
    call.audit(worker=id)


class LimitsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of the list."""

    queue: str | None = None
    limit: Limit = 100
    cursor: str | None = None


class LimitView(msgspec.Struct, frozen=True):
    """A limit of a queue, or another lane: how many jobs it lets run, how many wait for it."""

    queue: str
    kind: str
    """limit, sequence or batch"""
    name: str
    concurrency: int | None
    starts: int | None
    """so many starts ..."""
    per: float | None
    """... in so many seconds"""
    burst: int | None
    size: int | None
    """jobs that run together, of a batch"""
    holders: int
    waiting: int


class LimitPage(msgspec.Struct, frozen=True):
    """Limits, and where the listing goes on; no cursor on the last page."""

    limits: Sequence[LimitView]
    cursor: str | None


async def list_limits(call: Call[LimitsQuery, None]) -> LimitPage:
    """List the limits, sequences and batches that jobs are in, by queue and name."""
    asked, queue = call.query, asked_queue(call.query.queue)
    if queue is None:
        page = await call.store.lanes(asked.limit, asked.cursor)
    elif call.caller.queues and queue not in call.caller.queues:
        page = LanePage(())
    else:
        page = await lanes_in(call.store, {queue}, asked.limit, asked.cursor)
    return LimitPage([_limit_view(each) for each in page.lanes], page.cursor)


def _limit_view(stats: LaneStats) -> LimitView:
    lane: Lane = stats.lane
    kind, _, name = lane.name.partition(":")
    return LimitView(
        stats.queue,
        kind,
        name,
        lane.slots or None,
        lane.starts or None,
        lane.per / 1000 if lane.starts else None,
        lane.burst or None,
        lane.size or None,
        stats.holders,
        stats.waiting,
    )
