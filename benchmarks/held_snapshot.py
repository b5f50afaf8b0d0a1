"""What an old snapshot costs: one idle transaction that looks at an older state of the database.

While it is open no engine removes what is gone. Many jobs are drained beside it; then claims of
several sizes are timed, and single enqueues and claims on a queue with nothing in it. The same is
done without that transaction. To measure more or fewer: `NUMBER=20000`; one engine alone:
`ENGINE=postgres`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager
from statistics import median
from typing import Any, NamedTuple

import asyncmy
import asyncpg
import uvloop

from windlass import Windlass
from windlass.core.model import Transition
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.mysql.url import parse

from . import mysql_server, postgres_server
from .jobs import nothing
from .process import isolated
from .table import Goal, Line

NUMBER = int(os.environ.get("NUMBER", "200000"))
BATCH = 1_000
SIZES = (100, 10, 1)
CALLS = 60
LEASE = 3_600_000
QUEUE = "default"

Release = Callable[[], Coroutine[Any, Any, None]]


class Engine(NamedTuple):
    """How an engine is served, emptied and held back."""

    serving: Callable[[], AbstractContextManager[str]]
    clear: Callable[[str], str]
    hold: Callable[[str], Coroutine[Any, Any, Release]]
    """opens a transaction that looks at the database as it is now; what ends it"""


class Times(NamedTuple):
    """Medians, in milliseconds."""

    claims: tuple[float, ...]
    """of each of `SIZES`"""
    enqueue: float
    empty: float


def lines() -> Iterator[Line]:
    chosen = os.environ.get("ENGINE")
    for name, engine in ENGINES.items():
        if chosen in (None, name):
            with engine.serving() as url:
                yield from _lines(name, url)


def _lines(name: str, url: str) -> Iterator[Line]:
    free = isolated(measure, name, url, False)
    held = isolated(measure, name, url, True)
    beside = f"beside a snapshot held while {NUMBER:,} jobs were drained"
    named = [
        *((f"a claim of {size}", index) for index, size in enumerate(SIZES)),
        ("a single enqueue", len(SIZES)),
        ("a claim that finds nothing", len(SIZES) + 1),
    ]
    for what, index in named:
        slow, quick = _flat(held)[index], _flat(free)[index]
        detail = f"{slow:.2f} ms, undisturbed {quick:.2f} ms"
        yield Line(f"{name}: {what} {beside}", slow / quick, "×", detail, Goal("at most", 2))


def _flat(times: Times) -> tuple[float, ...]:
    return (*times.claims, times.enqueue, times.empty)


def measure(name: str, url: str, hold: bool) -> Times:
    engine = ENGINES[name]
    return uvloop.run(_measure(engine, engine.clear(url), hold))


async def _measure(engine: Engine, url: str, hold: bool) -> Times:
    app = Windlass(url)
    task = app.task(nothing)
    store = await app.client.store()
    for _ in range(0, NUMBER + (CALLS + 1) * sum(SIZES), BATCH):
        await app.aenqueue_many(
            [task.call(user_id=123, email="a@example.com") for _ in range(BATCH)]
        )
    release = await engine.hold(url) if hold else None
    drained = 0
    while drained < NUMBER:
        drained += await _step(store, SIZES[0])
    claims = tuple([await _median_of_claims(store, size) for size in SIZES])
    while await _step(store, SIZES[0]):
        pass
    enqueues: list[float] = []
    empty: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        await task.aenqueue(user_id=123, email="a@example.com")
        enqueues.append(time.perf_counter() - began)
        await _step(store, 1)
        began = time.perf_counter()
        await store.claim({QUEUE: 1}, 1, LEASE, "somebody")
        empty.append(time.perf_counter() - began)
    if release is not None:
        await release()
    await app.aclose()
    return Times(claims, 1000 * median(enqueues), 1000 * median(empty))


async def _median_of_claims(store: Store, size: int) -> float:
    """Milliseconds."""
    times: list[float] = []
    for _ in range(CALLS):
        began = time.perf_counter()
        jobs = await store.claim({QUEUE: size}, size, LEASE, "somebody")
        times.append(time.perf_counter() - began)
        await store.finish([Transition(job.id, job.fence, State.COMPLETED) for job in jobs])
    return 1000 * median(times)


async def _step(store: Store, size: int) -> int:
    """Claim so many jobs and complete them; how many there were."""
    jobs = await store.claim({QUEUE: size}, size, LEASE, "somebody")
    moves = [
        Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref) for job in jobs
    ]
    if moves:
        await store.finish(moves)
    return len(jobs)


async def _hold_postgres(url: str) -> Release:
    connection = await asyncpg.connect(url)
    await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    await connection.execute("SELECT 1")

    async def release() -> None:
        await connection.close()

    return release


async def _hold_mysql(url: str) -> Release:
    settings = parse(url)
    connection = await asyncmy.connect(
        host=settings.host, port=settings.port, user=settings.user, password=settings.password
    )
    async with connection.cursor() as cursor:
        await cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")

    async def release() -> None:
        connection.close()

    return release


def _cleared(url: str) -> str:
    postgres_server.clear(url)
    return url


ENGINES = {
    "postgres": Engine(
        lambda: postgres_server.serving("autovacuum_naptime=5s"), _cleared, _hold_postgres
    ),
    "mysql": Engine(mysql_server.serving, mysql_server.clear, _hold_mysql),
}
