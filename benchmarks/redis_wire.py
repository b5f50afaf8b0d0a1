"""What one call over our own connection costs, beside redis-py: the same script, one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import redis
import redis.asyncio
import uvloop

from windlass.stores.redis.scripts import Script
from windlass.stores.redis.transport import open_transport
from windlass.stores.redis.url import parse
from windlass.sync import drive

from .process import isolated
from .redis_server import serving
from .table import Line, ratio

NUMBER = 5_000
SOURCE = b"return 1"


def lines() -> Iterator[Line]:
    with serving() as url:
        yield _compared("a call, asyncio", url, async_call, async_other)
        yield _compared("a call, blocking", url, blocking_call, blocking_other)


def _compared(
    name: str, url: str, ours: Callable[[str], float], other: Callable[[str], float]
) -> Line:
    return ratio(
        name,
        lambda: isolated(ours, url),
        lambda: isolated(other, url),
        ("windlass", "redis-py"),
    )


def async_call(url: str) -> float:
    return uvloop.run(_calls(url, blocking=False))


def blocking_call(url: str) -> float:
    return drive(_calls(url, blocking=True))


async def _calls(url: str, *, blocking: bool) -> float:
    with redis.Redis.from_url(url) as client:
        sha = client.script_load(SOURCE)
    script = Script("one", SOURCE, str(sha).encode())
    transport = open_transport(parse(url), blocking)
    await transport.open()
    began = time.perf_counter()
    for _ in range(NUMBER):
        await transport.run(0, script, ("key",), ())
    rate = NUMBER / (time.perf_counter() - began)
    await transport.close()
    return rate


def async_other(url: str) -> float:
    return uvloop.run(_other(url))


async def _other(url: str) -> float:
    async with redis.asyncio.Redis.from_url(url) as client:
        sha = await client.script_load(SOURCE)
        began = time.perf_counter()
        for _ in range(NUMBER):
            await client.evalsha(sha, 1, "key", "0")
        return NUMBER / (time.perf_counter() - began)


def blocking_other(url: str) -> float:
    with redis.Redis.from_url(url) as client:
        sha = client.script_load(SOURCE)
        began = time.perf_counter()
        for _ in range(NUMBER):
            client.evalsha(sha, 1, "key", "0")
        return NUMBER / (time.perf_counter() - began)
