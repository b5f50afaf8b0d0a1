"""Whether a million jobs of each kind in MariaDB make a step of a job slower.

And whether a transaction that somebody has left open does: while it is, InnoDB removes nothing for
good, and every claim meets the index entries of those before it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit

import asyncmy
import uvloop

from tests.servers.mysql_client import query
from windlass import Windlass
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.contract import Store

from .jobs import nothing
from .mysql_drain import fill
from .mysql_server import clear, serving
from .process import isolated
from .table import Line, paired

FEW, MANY = 1_000, 1_000_000
BATCH = 100
CALLS = 50
ROUNDS = 5
LEASE = 3_600_000
QUEUES = {"default": BATCH}

LIVE = """
INSERT INTO windlass_jobs (id, spec, queue, state, `rank`, place, created_at, due, keep)
SELECT UUID(), REPEAT('x', 50), 'default', '{state}', 50, seq * 4, 0, {due}, 86400000
FROM seq_1_to_{number}
"""
FINISHED = """
INSERT INTO windlass_finished
  (state, finished_at, number, id, spec, queue, `rank`, created_at, due, keep, attempt, fence,
   expires_at)
SELECT 'completed', 1000, -seq, UUID(), REPEAT('x', 50), 'default', 50, 0, 0, 86400000, 1, 1,
  9000000000000
FROM seq_1_to_{number}
"""


class Steps(NamedTuple):
    """Jobs per second through each step."""

    insert: float
    claim: float
    finish: float


def lines() -> Iterator[Line]:
    with serving() as first, serving() as second:
        few, many = clear(first), clear(second)
        isolated(fill, few, FEW)
        isolated(fill, many, FEW)
        _fill_up(many, MANY)
        rounds = [(isolated(steps, many), isolated(steps, few)) for _ in range(ROUNDS)]
        for index, step in enumerate(Steps._fields):
            yield paired(
                f"mysql: {step} with millions of jobs",
                [(deep[index], shallow[index]) for deep, shallow in rounds],
                (f"{MANY:,} of each kind", f"{FEW:,}"),
            )
    with serving() as url:
        yield _held(url)


def _fill_up(url: str, number: int) -> None:
    """As many jobs waiting, scheduled and finished; by the server itself, which is quicker."""
    database = f"USE {urlsplit(url).path[1:]}"
    query(
        url,
        database,
        LIVE.format(state="pending", due=0, number=number),
        LIVE.format(state="scheduled", due=9_000_000_000_000, number=number),
        FINISHED.format(number=number),
        "ANALYZE TABLE windlass_jobs, windlass_finished",
    )


def _held(url: str) -> Line:
    fresh = clear(url)
    isolated(fill, fresh, 20 * FEW)
    before, after = isolated(held, fresh)
    return Line(
        "mysql: claim while a transaction stays open",
        after / before,
        "×",
        f"{before * 1e3:.1f} ms for {BATCH} at first, {after * 1e3:.1f} ms {20 * FEW:,} jobs later",
    )


def steps(url: str) -> Steps:
    return uvloop.run(_steps(url))


async def _steps(url: str) -> Steps:
    app = Windlass(url)
    store = await app.client.store()
    await _step(app, store)
    spent = [await _step(app, store) for _ in range(CALLS)]
    await app.aclose()
    return Steps(*(BATCH * CALLS / sum(seconds) for seconds in zip(*spent, strict=True)))


async def _step(app: Windlass, store: Store) -> tuple[float, float, float]:
    """Seconds for each step; as many jobs wait afterwards as before."""
    task = app.tasks.get(nothing.__name__) or app.task(nothing)
    new = [task.call(user_id=123, email="a@example.com").job for _ in range(BATCH)]
    began = time.perf_counter()
    await store.insert(new)
    inserted = time.perf_counter()
    jobs = await store.claim(QUEUES, BATCH, LEASE, "somebody")
    claimed = time.perf_counter()
    ends = [
        Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref) for job in jobs
    ]
    finishing = time.perf_counter()
    held = await store.finish(ends)
    finished = time.perf_counter()
    if len(held) < BATCH:
        raise RuntimeError(f"Of {BATCH} jobs only {len(held)} could be claimed and finished.")
    return inserted - began, claimed - inserted, finished - finishing


def held(url: str) -> tuple[float, float]:
    """Seconds of a claim before and after many, while a transaction looks at the past."""
    return uvloop.run(_held_open(url))


async def _held_open(url: str) -> tuple[float, float]:
    async with _looking(url):
        app = Windlass(url)
        store = await app.client.store()
        times: list[float] = []
        while True:
            began = time.perf_counter()
            jobs = await store.claim(QUEUES, BATCH, LEASE, "somebody")
            times.append(time.perf_counter() - began)
            if len(jobs) < BATCH:
                break
            await store.finish(
                [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in jobs]
            )
        await app.aclose()
    return median(times[1:21]), median(times[-21:-1])


@asynccontextmanager
async def _looking(url: str) -> AsyncIterator[None]:
    parts = urlsplit(url)
    async with (
        asyncmy.connect(
            host=parts.hostname, port=parts.port, user=parts.username, database=parts.path[1:]
        ) as connection,
        connection.cursor() as cursor,
    ):
        await cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        await asyncio.sleep(0)
        yield
