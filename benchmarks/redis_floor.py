"""What redis-py with hiredis can do alone: a stream and a consumer group, no queue.

On uvloop, in one process. No task queue that uses this client can be as quick; the ratio to
it says what ours costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import uvloop
from redis.asyncio import Redis

from .process import isolated
from .redis_cost import Cost, Meter, typical
from .redis_server import clear, serving
from .table import Line

MANY = 20_000
SINGLE = 3_000
EACH = 100
COROUTINES = 50
DRAINED = 50_000
BATCH = 100
ROUNDS = 3

ARGUMENTS = {"user_id": 123, "email": "a@example.com"}
PAYLOAD = msgspec.msgpack.encode(ARGUMENTS)
STREAM, GROUP, CONSUMER = "floor", "group", "consumer"
SCRIPT = "return redis.call('XADD', KEYS[1], '*', 'p', ARGV[1])"


def lines() -> Iterator[Line]:
    measures: tuple[tuple[str, Callable[[str, int], Cost], int], ...] = (
        ("redis-py: XADD, one by one", single, SINGLE),
        ("redis-py: XADD, pipelined", pipelined, MANY),
        (f"redis-py: EVALSHA, {COROUTINES} coroutines", scripted, COROUTINES * EACH),
        ("redis-py: drain a stream", drain, DRAINED),
    )
    with serving() as url:
        for name, measure, number in measures:
            cost = typical([isolated(measure, url, number) for _ in range(ROUNDS)])
            detail = f"for each Python {cost.python:.1f} µs, Redis {cost.redis:.1f} µs"
            yield Line(name, cost.rate, "/s", detail)


def single(url: str, number: int) -> Cost:
    """XADD, each awaited before the next."""
    return uvloop.run(_single(url, number))


def pipelined(url: str, number: int) -> Cost:
    """XADD, a hundred in each pipeline."""
    return uvloop.run(_pipelined(url, number))


def scripted(url: str, number: int) -> Cost:
    """EVALSHA of a script with one XADD, by coroutines at once."""
    return uvloop.run(_scripted(url, number))


def drain(url: str, number: int) -> Cost:
    """XREADGROUP of a hundred, then XACK and XDEL of them in one pipeline."""
    return uvloop.run(_drain(url, number))[1]


def whole(url: str, number: int) -> Cost:
    """As `drain`, but what it cost Redis includes the pipelined XADD before."""
    added, drained = uvloop.run(_drain(url, number))
    return drained._replace(redis=added.redis + drained.redis)


async def _single(url: str, number: int) -> Cost:
    clear(url)
    async with Redis.from_url(url) as redis:
        await redis.xadd(STREAM, {"p": PAYLOAD})
        meter = Meter(url)
        for _ in range(number):
            await redis.xadd(STREAM, {"p": PAYLOAD})
        return meter.cost(number)


async def _pipelined(url: str, number: int) -> Cost:
    clear(url)
    async with Redis.from_url(url) as redis:
        await redis.ping()
        meter = Meter(url)
        await fill(redis, number)
        return meter.cost(number)


async def _scripted(url: str, number: int) -> Cost:
    clear(url)
    async with Redis.from_url(url) as redis:
        sha = await redis.script_load(SCRIPT)

        async def call(times: int) -> None:
            for _ in range(times):
                await redis.evalsha(sha, 1, STREAM, PAYLOAD)

        # The first round opens the connections.
        await asyncio.gather(*(call(1) for _ in range(COROUTINES)))
        meter = Meter(url)
        await asyncio.gather(*(call(number // COROUTINES) for _ in range(COROUTINES)))
        return meter.cost(number)


async def _drain(url: str, number: int) -> tuple[Cost, Cost]:
    clear(url)
    async with Redis.from_url(url) as redis:
        await redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        adding = Meter(url)
        await fill(redis, number)
        added = adding.cost(number)
        meter = Meter(url)
        drained = 0
        while drained < number:
            ids = await read(redis)
            await forget(redis, ids)
            drained += len(ids)
        return added, meter.cost(number)


async def fill(redis: Redis, number: int) -> None:
    for _ in range(0, number, BATCH):
        pipe = redis.pipeline(transaction=False)
        for _ in range(BATCH):
            pipe.xadd(STREAM, {"p": PAYLOAD})
        await pipe.execute()


async def read(redis: Redis, block: int | None = None) -> list[bytes]:
    """The ids of at most a hundred entries; `block` is for how many milliseconds to wait."""
    answer: Any = await redis.xreadgroup(GROUP, CONSUMER, {STREAM: ">"}, count=BATCH, block=block)
    return [id for id, _ in answer[0][1]] if answer else []


async def forget(redis: Redis, ids: list[bytes]) -> None:
    pipe = redis.pipeline(transaction=False)
    pipe.xack(STREAM, GROUP, *ids)
    pipe.xdel(STREAM, *ids)
    await pipe.execute()
