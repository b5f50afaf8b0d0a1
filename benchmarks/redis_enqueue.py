"""How quickly Redis accepts jobs: many together, from many coroutines, and one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from statistics import median

import uvloop

from windlass import Windlass

from . import redis_floor as floor
from .jobs import nothing
from .process import isolated
from .redis_cost import Cost, Meter, compared
from .redis_floor import COROUTINES
from .redis_server import clear, serving
from .table import Goal, Line

MANY = 50_000
AT_ONCE = 20_000
SINGLE = 3_000
BATCH = 1_000
SMALL = 100


def lines() -> Iterator[Line]:
    with serving() as url:
        yield _many(url)
        yield compared(
            "redis: aenqueue_many",
            lambda: isolated(aenqueue_many, url, MANY, BATCH),
            lambda: isolated(floor.pipelined, url, floor.MANY),
            Goal("at least", 1),
        )[0]
        yield compared(
            f"redis: aenqueue, {COROUTINES} coroutines",
            lambda: isolated(aenqueue, url, AT_ONCE, COROUTINES),
            lambda: isolated(floor.scripted, url, AT_ONCE),
            Goal("at least", 5),
        )[0]
        yield compared(
            "redis: aenqueue, one by one",
            lambda: isolated(aenqueue, url, SINGLE, 1),
            lambda: isolated(floor.single, url, SINGLE),
            Goal("at least", 0.8),
        )[0]
        yield compared(
            "redis: enqueue, one by one",
            lambda: isolated(enqueue, url, SINGLE),
            lambda: isolated(floor.single, url, SINGLE),
            Goal("at least", 0.6),
        )[0]


def _many(url: str) -> Line:
    line, _, _ = compared(
        "redis: enqueue_many",
        lambda: isolated(enqueue_many, url, MANY, BATCH),
        lambda: isolated(floor.pipelined, url, floor.MANY),
        Goal("at least", 1),
    )
    small = median(isolated(enqueue_many, url, MANY, SMALL).rate for _ in range(3))
    return line._replace(
        detail=f"{line.detail}; in batches of {BATCH:,}, in those of {SMALL} {small:,.0f}/s"
    )


def enqueue_many(url: str, number: int, batch: int) -> Cost:
    clear(url)
    app = Windlass(url)
    task = app.task(nothing)
    app.enqueue_many([task.call(user_id=123, email="a@example.com")])
    meter = Meter(url)
    for _ in range(0, number, batch):
        app.enqueue_many([task.call(user_id=123, email="a@example.com") for _ in range(batch)])
    cost = meter.cost(number)
    app.close()
    return cost


def enqueue(url: str, number: int) -> Cost:
    clear(url)
    app = Windlass(url)
    task = app.task(nothing)
    task.enqueue(user_id=123, email="a@example.com")
    meter = Meter(url)
    for _ in range(number):
        task.enqueue(user_id=123, email="a@example.com")
    cost = meter.cost(number)
    app.close()
    return cost


def aenqueue_many(url: str, number: int, batch: int) -> Cost:
    return uvloop.run(_aenqueue_many(url, number, batch))


async def _aenqueue_many(url: str, number: int, batch: int) -> Cost:
    clear(url)
    app = Windlass(url)
    task = app.task(nothing)
    await app.aenqueue_many([task.call(user_id=123, email="a@example.com")])
    meter = Meter(url)
    for _ in range(0, number, batch):
        await app.aenqueue_many(
            [task.call(user_id=123, email="a@example.com") for _ in range(batch)]
        )
    cost = meter.cost(number)
    await app.aclose()
    return cost


def aenqueue(url: str, number: int, coroutines: int) -> Cost:
    return uvloop.run(_aenqueue(url, number, coroutines))


async def _aenqueue(url: str, number: int, coroutines: int) -> Cost:
    clear(url)
    app = Windlass(url)
    task = app.task(nothing)

    async def produce(times: int) -> None:
        for _ in range(times):
            await task.aenqueue(user_id=123, email="a@example.com")

    await produce(1)
    meter = Meter(url)
    await asyncio.gather(*(produce(number // coroutines) for _ in range(coroutines)))
    cost = meter.cost(number)
    await app.aclose()
    return cost
