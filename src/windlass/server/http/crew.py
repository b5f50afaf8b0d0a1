"""Who works, at what, and within which limits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...admin.moment import iso
from ...core.lane import Lane, LaneStats
from ...core.workers import WorkerInfo
from .call import Call
from .jobs import Limit


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
    )


class LimitsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which part of the list."""

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
    page = await call.store.lanes(call.query.limit, call.query.cursor)
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


class TaskView(msgspec.Struct, frozen=True):
    """A task of the app: what a job of it takes, and what holds unless a job says otherwise."""

    name: str
    signature: str
    doc: str | None
    queue: str
    priority: int
    max_retries: int
    timeout: float | None


class TaskList(msgspec.Struct, frozen=True):
    """The tasks that the app has; `known` is false without an app: any name is taken then."""

    known: bool
    tasks: Sequence[TaskView]


async def list_tasks(call: Call[None, None]) -> TaskList:
    """List the tasks of the app, with their signatures."""
    tasks = call.site.app.tasks if call.site.has_tasks else {}
    views = [
        TaskView(
            name,
            str(task.definition.arguments),
            task.__doc__,
            task.options.queue,
            task.options.priority,
            task.options.max_retries,
            None if task.options.timeout is None else task.options.timeout / 1000,
        )
        for name, task in sorted(tasks.items())
    ]
    return TaskList(call.site.has_tasks, views)
