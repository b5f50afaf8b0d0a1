"""Whether limits are kept and turns are taken, by real workers on Redis."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from windlass import State, Windlass
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Job, JobQuery, NewJob
from windlass.stores.contract import Store

from .command import worker
from .jobs import nothing
from .processes import completed, until, workers
from .redis_server import clear, serving
from .table import Goal, Line

SECONDS: Final = 30
RATES: Final = ((100, 10), (1_000, 100))
"""Starts a second, and burst."""

TENANTS: Final = 1_000
EACH: Final = 20
BACKLOG: Final = 100_000
BATCH: Final = 500

replace = msgspec.structs.replace


def lines() -> Iterator[Line]:
    with serving() as url:
        for rate, burst in RATES:
            yield started_in_time(url, rate, burst)
        alone, beside = waits(url, 0), waits(url, BACKLOG)
        yield Line(
            "redis: wait of 999 tenants beside one with 100,000 jobs",
            beside / alone,
            "×",
            f"p95 {beside:,.0f} ms, without that tenant {alone:,.0f} ms",
            Goal("at most", 2),
        )


def started_in_time(url: str, rate: int, burst: int) -> Line:
    """How many of what may start in half a minute did, by two processes."""
    clear(url)
    lane = Lane("limited", starts=rate, per=1_000, burst=burst)
    expected = rate * SECONDS + burst
    jobs = made(expected + 5 * rate, lane=lane)
    app = Windlass(url)
    app.client.block(lambda store: store.pause("default"), "this", "nothing")
    app.client.block(lambda store: insert(store, jobs), "this", "nothing")
    with worker(url, "--processes", "2"):
        until(lambda: workers(app) == 2)
        app.client.block(lambda store: store.resume("default"), "this", "nothing")
        until(lambda: completed(app) > expected)
    moments = sorted(job.started_at or 0 for job in finished(app))
    app.close()
    number = sum(moment < moments[0] + SECONDS * 1000 for moment in moments)
    off = abs(number - expected) / expected * 100
    return Line(
        f"redis: starts in {SECONDS} s, {rate:,} a second, two processes: off by",
        off,
        "%",
        f"{number:,} of {expected:,}",
        Goal("at most", 2),
    )


def waits(url: str, backlog: int) -> float:
    """Milliseconds from enqueue to start, the 95th of a hundred, of all tenants but the first."""
    clear(url)
    app = Windlass(url)
    app.client.block(lambda store: store.pause("default"), "this", "nothing")
    heavy = made(backlog, group="tenant-0")
    others = [made(EACH, group=f"tenant-{n}") for n in range(1, TENANTS)]
    light = [job for turn in zip(*others, strict=True) for job in turn]
    app.client.block(lambda store: insert(store, [*heavy, *light]), "this", "nothing")
    with worker(url):
        until(lambda: workers(app) == 1)
        app.client.block(lambda store: store.resume("default"), "this", "nothing")
        ids = [job.id for job in light]
        until(lambda: are_completed(app, ids))
        began = min(job.started_at or 0 for job in by_id(app, [*ids, *[job.id for job in heavy]]))
    delays = sorted((job.started_at or 0) - began for job in by_id(app, ids))
    app.close()
    return delays[len(delays) * 95 // 100]


def made(number: int, **fields: object) -> list[NewJob]:
    app = Windlass("memory://")
    model = app.task(nothing).call(user_id=123, email="a@example.com").job
    spec = replace(model.spec, **fields)
    return [NewJob(new_id(), spec, fresh=True) for _ in range(number)]


async def insert(store: Store, jobs: Sequence[NewJob]) -> None:
    for start in range(0, len(jobs), BATCH):
        await store.insert(jobs[start : start + BATCH])


def finished(app: Windlass) -> list[Job]:
    async def find(store: Store) -> list[Job]:
        found: list[Job] = []
        query = JobQuery(states=(State.COMPLETED,), limit=1_000)
        while True:
            page = await store.find(query)
            found += page.jobs
            if page.cursor is None:
                return found
            query = replace(query, cursor=page.cursor)

    return app.client.block(find, "this", "nothing")


def by_id(app: Windlass, ids: Sequence[str]) -> list[Job]:
    async def get(store: Store) -> list[Job]:
        found: list[Job] = []
        for start in range(0, len(ids), BATCH):
            found += (await store.get(ids[start : start + BATCH])).values()
        return [job for job in found if job.started_at is not None]

    return app.client.block(get, "this", "nothing")


def are_completed(app: Windlass, ids: Sequence[str]) -> bool:
    """Whether the last of these is; asked seldom, for the answer costs the server."""
    time.sleep(0.2)
    return completed(app) >= len(ids) and all(
        job.state is State.COMPLETED for job in by_id(app, ids[-BATCH:])
    )
