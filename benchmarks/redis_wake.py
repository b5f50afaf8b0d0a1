"""How long redis-py takes from XADD to the answer of an XREADGROUP that another process awaits."""

from __future__ import annotations

import time

import uvloop
from redis.asyncio import Redis

from .redis_floor import GROUP, PAYLOAD, STREAM, forget, read

REPLIES = "replies"
LONGEST_BLOCK = 2_000
"""Milliseconds; redis-py takes a longer silence for a lost connection."""


def serve(url: str) -> None:
    """Read entries for ever, and answer each with the moment at which it came."""
    uvloop.run(_serve(url))


async def _serve(url: str) -> None:
    async with Redis.from_url(url) as redis:
        await redis.xgroup_create(STREAM, GROUP, id="0", mkstream=True)
        while True:
            ids = await read(redis, LONGEST_BLOCK)
            # CLOCK_MONOTONIC is the same for all processes of a machine.
            now = time.monotonic_ns()
            if ids:
                await forget(redis, ids)
                await redis.rpush(REPLIES, now)


async def sample(redis: Redis) -> float:
    """Milliseconds that one entry took."""
    before = time.monotonic_ns()
    await redis.xadd(STREAM, {"p": PAYLOAD})
    reply = None
    while reply is None:
        reply = await redis.blpop([REPLIES], LONGEST_BLOCK / 1000)
    return (int(reply[1]) - before) / 1e6
