"""Whether a million jobs that wait, are scheduled or are finished make a claim slower.

The rows are made by the server itself, in a shape that jobs have: a million enqueued one batch
after the other would take most of the time of this benchmark.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

import uvloop

from windlass import Windlass
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.contract import Store

from .jobs import nothing
from .postgres_server import clear, serving, tell
from .process import isolated
from .table import Goal, Line, paired

FEW, MANY = 1_000, 1_000_000
BATCH = 100
CALLS = 60
ROUNDS = 5
LEASE = 3_600_000
QUEUES = {"default": BATCH}

LIVE = """
INSERT INTO windlass_jobs (id, spec, queue, state, rank, place, created_at, due, keep)
SELECT '{state}-' || n, '\\x92a76e6f7468696e67c40180', 'default', '{state}', 50, n - 10000000, 0,
       {due} + n, 86400000
FROM generate_series(1, {number}) AS n
"""
FINISHED = """
INSERT INTO windlass_finished (id, spec, queue, state, rank, place, created_at, due, keep, fence,
                               finished_at, expires_at, attempt)
SELECT 'finished-' || n, '\\x92a76e6f7468696e67c40180', 'default', 'completed', 50, n, 0, 0,
       86400000, 1, n, 9000000000000 + n, 1
FROM generate_series(1, {number}) AS n
"""
FAR = 9_000_000_000_000
"""A moment in the year 2255."""


class Steps(NamedTuple):
    """Jobs per second through each step."""

    insert: float
    claim: float
    finish: float


def lines() -> Iterator[Line]:
    with serving() as few, serving() as many:
        for url, number in ((few, FEW), (many, MANY)):
            fill(url, number)
        pairs = [(isolated(steps, many), isolated(steps, few)) for _ in range(ROUNDS)]
        for index, step in enumerate(Steps._fields):
            yield paired(
                f"postgres: {step} with a million of each kind",
                [(deep[index], shallow[index]) for deep, shallow in pairs],
                ("a million", f"{FEW:,}"),
                Goal("at least", 0.5),
            )
        yield from _claims(many, few)


def _claims(many: str, few: str) -> Iterator[Line]:
    pairs = [(isolated(one_claim, many), isolated(one_claim, few)) for _ in range(ROUNDS)]
    deep, shallow = (median(times) for times in zip(*pairs, strict=True))
    yield Line(
        "postgres: a claim of one job with a million of each kind",
        deep,
        "ms",
        f"with {FEW:,} of each {shallow:.2f} ms",
    )


def fill(url: str, number: int) -> None:
    """So many jobs pending, scheduled and finished each."""
    clear(url)
    app = Windlass(url)
    app.client.block(lambda store: store.ping(), "this", "nothing")
    app.close()
    tell(
        url,
        LIVE.format(state="pending", due=0, number=number),
        LIVE.format(state="scheduled", due=FAR, number=number),
        FINISHED.format(number=number),
        f"INSERT INTO windlass_deltas VALUES ('default', 'pending', {number})",
        "VACUUM ANALYZE",
        "CHECKPOINT",
    )


def steps(url: str) -> Steps:
    return uvloop.run(_steps(url))


async def _steps(url: str) -> Steps:
    app = Windlass(url)
    store = await app.client.store()
    await _step(app, store)
    spent = [await _step(app, store) for _ in range(CALLS)]
    await app.aclose()
    return Steps(*(BATCH / median(seconds) for seconds in zip(*spent, strict=True)))


async def _step(app: Windlass, store: Store) -> tuple[float, float, float]:
    """Seconds for each step; as many jobs wait afterwards as before."""
    task = app.tasks.get(nothing.__name__) or app.task(nothing)
    new = [task.call(user_id=123, email="a@example.com").job for _ in range(BATCH)]
    began = time.perf_counter()
    await store.insert(new)
    inserted = time.perf_counter()
    jobs = await store.claim(QUEUES, BATCH, LEASE, "somebody")
    claimed = time.perf_counter()
    ends = [Transition(job.id, job.fence, State.COMPLETED, queue=job.queue) for job in jobs]
    finishing = time.perf_counter()
    held = await store.finish(ends)
    finished = time.perf_counter()
    if len(held) < BATCH:
        raise RuntimeError(f"Of {BATCH} jobs only {len(held)} could be claimed and finished.")
    return inserted - began, claimed - inserted, finished - finishing


def one_claim(url: str) -> float:
    """Milliseconds."""
    return uvloop.run(_one_claim(url))


async def _one_claim(url: str) -> float:
    app = Windlass(url)
    store = await app.client.store()
    times: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        [job] = await store.claim({"default": 1}, 1, LEASE, "somebody")
        times.append(1000 * (time.perf_counter() - began))
        await store.finish([Transition(job.id, job.fence, State.COMPLETED)])
    await app.aclose()
    return median(times)
