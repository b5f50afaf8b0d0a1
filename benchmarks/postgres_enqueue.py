"""How quickly PostgreSQL accepts jobs: many together, from many coroutines, and one by one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from statistics import median

import uvloop

from windlass import Windlass

from . import postgres_floor as floor
from .jobs import nothing
from .postgres_server import clear, serving
from .process import isolated
from .table import Goal, Line, ratio

MANY = 30_000
AT_ONCE = 10_000
COROUTINES = 50
SINGLE = 2_000
BATCH = 1_000
LABELS = ("windlass", "asyncpg")


def lines() -> Iterator[Line]:
    with serving() as url:
        yield _many(url)
        yield ratio(
            f"postgres: enqueue_many, {BATCH:,} at a time",
            lambda: isolated(enqueue_many, url, MANY, BATCH),
            lambda: isolated(floor.insert, url, MANY),
            LABELS,
            Goal("at least", 0.6),
        )
        yield ratio(
            f"postgres: aenqueue, {COROUTINES} coroutines",
            lambda: isolated(aenqueue, url, AT_ONCE, COROUTINES),
            lambda: isolated(floor.single, url, SINGLE),
            LABELS,
            Goal("at least", 2),
            rounds=3,
        )
        yield ratio(
            "postgres: aenqueue, one by one",
            lambda: isolated(aenqueue, url, SINGLE, 1),
            lambda: isolated(floor.single, url, SINGLE),
            LABELS,
            rounds=3,
        )


def _many(url: str) -> Line:
    line = ratio(
        f"postgres: aenqueue_many, {BATCH:,} at a time",
        lambda: isolated(aenqueue_many, url, MANY, BATCH),
        lambda: isolated(floor.insert, url, MANY),
        LABELS,
        Goal("at least", 0.6),
    )
    small = median(isolated(aenqueue_many, url, MANY, floor.BATCH) for _ in range(3))
    return line._replace(detail=f"{line.detail}; {floor.BATCH} at a time {small:,.0f}/s")


def enqueue_many(url: str, number: int, batch: int) -> float:
    clear(url)
    app = Windlass(url)
    task = app.task(nothing)
    app.enqueue_many([task.call(user_id=123, email="a@example.com")])
    began = time.perf_counter()
    for _ in range(0, number, batch):
        app.enqueue_many([task.call(user_id=123, email="a@example.com") for _ in range(batch)])
    rate = number / (time.perf_counter() - began)
    app.close()
    return rate


def aenqueue_many(url: str, number: int, batch: int) -> float:
    clear(url)
    return uvloop.run(_aenqueue_many(url, number, batch))


async def _aenqueue_many(url: str, number: int, batch: int) -> float:
    app = Windlass(url)
    task = app.task(nothing)
    await app.aenqueue_many([task.call(user_id=123, email="a@example.com")])
    began = time.perf_counter()
    for _ in range(0, number, batch):
        await app.aenqueue_many(
            [task.call(user_id=123, email="a@example.com") for _ in range(batch)]
        )
    rate = number / (time.perf_counter() - began)
    await app.aclose()
    return rate


def aenqueue(url: str, number: int, coroutines: int) -> float:
    clear(url)
    return uvloop.run(_aenqueue(url, number, coroutines))


async def _aenqueue(url: str, number: int, coroutines: int) -> float:
    app = Windlass(url)
    task = app.task(nothing)

    async def produce(times: int) -> None:
        for _ in range(times):
            await task.aenqueue(user_id=123, email="a@example.com")

    await produce(1)
    began = time.perf_counter()
    await asyncio.gather(*(produce(number // coroutines) for _ in range(coroutines)))
    rate = number / (time.perf_counter() - began)
    await app.aclose()
    return rate
