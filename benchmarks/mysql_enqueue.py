"""How quickly MariaDB accepts jobs: many together, from many coroutines, and one by one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import uvloop

from windlass import Windlass

from . import mysql_floor as floor
from .jobs import nothing
from .mysql_server import clear, serving
from .process import isolated
from .table import Goal, Line, ratio

MANY = 20_000
SINGLE = 2_000
BATCH = 1_000
COROUTINES = 50
LABELS = ("windlass", "asyncmy")


def lines() -> Iterator[Line]:
    with serving() as url:
        for batch in (BATCH, floor.BATCH):
            yield ratio(
                f"mysql: enqueue_many, {batch:,} at a time",
                lambda batch=batch: isolated(enqueue_many, url, MANY, batch),  # type: ignore[misc]
                lambda: isolated(floor.many, url, MANY),
                LABELS,
                Goal("at least", 0.6),
            )
        yield ratio(
            f"mysql: aenqueue_many, {BATCH:,} at a time",
            lambda: isolated(aenqueue_many, url, MANY, BATCH),
            lambda: isolated(floor.many, url, MANY),
            LABELS,
            Goal("at least", 0.6),
        )
        yield ratio(
            f"mysql: aenqueue, {COROUTINES} coroutines",
            lambda: isolated(aenqueue, url, MANY, COROUTINES),
            lambda: isolated(floor.single, url, SINGLE),
            LABELS,
            Goal("at least", 1),
        )
        yield ratio(
            "mysql: aenqueue, one by one",
            lambda: isolated(aenqueue, url, SINGLE, 1),
            lambda: isolated(floor.single, url, SINGLE),
            LABELS,
            Goal("at least", 0.4),
        )


def enqueue_many(url: str, number: int, batch: int) -> float:
    app = Windlass(clear(url))
    task = app.task(nothing)
    app.enqueue_many([task.call(user_id=123, email="a@example.com")])
    began = time.perf_counter()
    for _ in range(0, number, batch):
        app.enqueue_many([task.call(user_id=123, email="a@example.com") for _ in range(batch)])
    rate = number / (time.perf_counter() - began)
    app.close()
    return rate


def aenqueue_many(url: str, number: int, batch: int) -> float:
    return uvloop.run(_aenqueue_many(url, number, batch))


async def _aenqueue_many(url: str, number: int, batch: int) -> float:
    app = Windlass(clear(url))
    task = app.task(nothing)
    await app.aenqueue_many([task.call(user_id=123, email="a@example.com")])
    began = time.perf_counter()
    for _ in range(0, number, batch):
        calls = [task.call(user_id=123, email="a@example.com") for _ in range(batch)]
        await app.aenqueue_many(calls)
    rate = number / (time.perf_counter() - began)
    await app.aclose()
    return rate


def aenqueue(url: str, number: int, coroutines: int) -> float:
    return uvloop.run(_aenqueue(url, number, coroutines))


async def _aenqueue(url: str, number: int, coroutines: int) -> float:
    app = Windlass(clear(url))
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
