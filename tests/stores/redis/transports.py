"""Transports for the tests, and scripts that tell whether they were carried out twice."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha1

from windlass.stores.redis.scripts import Script
from windlass.stores.redis.transport import Transport, open_transport
from windlass.stores.redis.url import parse


def script(source: str) -> Script:
    return Script("test", source.encode(), sha1(source.encode()).hexdigest().encode())


ONE = script("return 1")

ECHO = script("return ARGV")

COUNT_ONCE = script(
    """
    if ARGV[1] == '1' and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then
        return 'again'
    end
    redis.call('HINCRBY', KEYS[1], ARGV[2], 1)
    return 'first'
    """
)
"""Counts ARGV[2] in the hash KEYS[1]; more than once only if a repetition was not told."""


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Transport]:
    transport = open_transport(parse(url), blocking=False)
    await transport.open()
    try:
        yield transport
    finally:
        await transport.close()


async def eventually(condition: Callable[[], bool], patience: float = 20.0) -> None:
    async with asyncio.timeout(patience):
        while not condition():
            await asyncio.sleep(0.01)
