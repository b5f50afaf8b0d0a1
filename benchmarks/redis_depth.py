"""Whether millions of jobs in Redis make its scripts slower.

These are two million and a hundred thousand jobs, just more than 2 ** 21: the table of the hash
that holds them has doubled shortly before, and Redis still moves it, a piece with each access.
With somewhat fewer jobs, or nearly twice as many, the ratios are higher.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import NamedTuple

import uvloop

from windlass import Windlass
from windlass.core.model import JobQuery, Transition
from windlass.core.states import State
from windlass.stores.contract import Store

from .jobs import nothing
from .process import isolated
from .redis_drain import BATCH as FILL_BATCH
from .redis_drain import fill
from .redis_server import note_slow, serving, slowest
from .table import Goal, Line, paired

FEW = 1_000
WAITING, SCHEDULED, ACTIVE = 1_000_000, 1_000_000, 100_000
DAY = 86_400.0
BATCH = 100
CALLS = 100
ROUNDS = 5
CLAIMED_AT_ONCE = 500
DUE_AT_ONCE = 5_000
FILLED = 50_000
LEASE = 3_600_000
QUEUES = {"default": CLAIMED_AT_ONCE}


class Steps(NamedTuple):
    """Jobs per second through each step."""

    insert: float
    claim: float
    finish: float


def lines() -> Iterator[Line]:
    with serving() as few, serving() as many:
        isolated(fill, few, FEW)
        isolated(fill, many, WAITING + ACTIVE)
        isolated(fill, many, SCHEDULED, None, DAY)
        isolated(activate, many, ACTIVE)
        rounds = [(isolated(steps, many), isolated(steps, few)) for _ in range(ROUNDS)]
        for index, step in enumerate(Steps._fields):
            yield paired(
                f"redis: {step} with millions of jobs",
                [(deep[index], shallow[index]) for deep, shallow in rounds],
                ("millions", f"{FEW:,}"),
            )
        yield _slowest(many)


def _slowest(url: str) -> Line:
    """Measured by itself: SLOWLOG costs, and would make one side of a ratio slower."""
    note_slow(url)
    isolated(steps, url)
    isolated(look, url)
    most, name = slowest(url)
    note_slow(url)
    isolated(fill, url, FILLED)
    together, _ = slowest(url)
    return Line(
        "redis: slowest script with millions of jobs",
        most,
        "ms",
        f"{name}, {BATCH} jobs in each call; enqueue_many of {FILL_BATCH:,} {together:.1f} ms; "
        f"{WAITING:,} wait, {SCHEDULED:,} are scheduled, {ACTIVE:,} active",
        Goal("at most", 5),
    )


def activate(url: str, number: int) -> None:
    uvloop.run(_activate(url, number))


async def _activate(url: str, number: int) -> None:
    app = Windlass(url)
    store = await app.client.store()
    claimed = 0
    while claimed < number:
        claimed += len(await store.claim(QUEUES, CLAIMED_AT_ONCE, LEASE, "somebody"))
    await app.aclose()


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


def look(url: str) -> None:
    """A claim when thousands fall due at once, and what people and upkeep ask for.

    SLOWLOG notes how long it took.
    """
    uvloop.run(_look(url))


async def _look(url: str) -> None:
    app = Windlass(url)
    store = await app.client.store()
    task = app.task(nothing).using(delay=0.001)
    for _ in range(0, DUE_AT_ONCE, BATCH):
        await store.insert(
            [task.call(user_id=123, email="a@example.com").job for _ in range(BATCH)]
        )
    await asyncio.sleep(0.01)
    await store.claim(QUEUES, BATCH, LEASE, "somebody")
    await store.queues()
    for state in State:
        await store.find(JobQuery(states=(state,), limit=BATCH))
    await store.rescue(BATCH, LEASE, "somebody")
    await store.prune(BATCH)
    await app.aclose()
