"""What a store looks at when it is opened: the version of its data, the server's settings."""

from __future__ import annotations

import logging
import time
from functools import cache
from typing import Final

from ...errors import SchemaMismatch, StoreError, StoreUnavailable
from .errands import Errands
from .keys import FIXED, OTHERS
from .shard import Shard
from .spread import Spread
from .transport import Transport

log = logging.getLogger("windlass")

VERSION: Final = 1
MOST_QUEUES: Final = 500
"""Of a shard, whose keys an audit looks at."""

REFRESH: Final = 5.0
"""Seconds after which a running store asks again which queues have partitions."""


async def check_version(shard: Shard) -> None:
    """Raise `SchemaMismatch` if the data were written by a version that this one cannot read."""
    stored = await shard.send("HGET", "meta", "version")
    if stored is None:
        await shard.send("HSETNX", "meta", "version", VERSION)
    elif not stored.isdigit():
        raise StoreError(
            f"The version of the data in Redis is {stored!r}, which is no number: something else "
            "has written over it. Use another namespace, or set that field of its meta key right."
        )
    elif int(stored) > VERSION:
        raise SchemaMismatch(
            f"The data in Redis are of version {int(stored)}, this Windlass knows {VERSION}: "
            "upgrade it, or use another namespace."
        )


async def risks(transport: Transport) -> list[str]:
    """What is unsafe about the servers, each once."""
    texts = await transport.everywhere("INFO", "everything")
    found = [each for text in texts for each in warnings(parse_info(text.decode()))]
    return list(dict.fromkeys(found))


async def misplaced(shard: Shard) -> list[str]:
    """What was written over keys of a shard, for as many of its queues as a look may take."""
    queues = sorted({queue for queue, _, _ in await shard.counts()})[:MOST_QUEUES]
    pairs = (f"{kind}:{queue}" for queue in queues for kind in ("line", "later"))
    return await shard.mistyped([shard.key_of(name) for name in (*FIXED, *OTHERS, *pairs)])


async def warn_of_losses(transport: Transport) -> None:
    """Say it if the server is set up in a way that can lose jobs: that is the user's choice."""
    try:
        found = await risks(transport)
    except StoreUnavailable as error:
        # One master of several is no reason not to serve the others.
        log.warning("it is not known whether Redis is set up to keep jobs: %s", error)
        return
    for warning in found:
        _say_once(warning)


@cache
def _say_once(warning: str) -> None:
    """Once in a process, however many stores it opens."""
    log.warning("%s", warning)


def parse_info(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    return {name: value.strip() for name, _, value in pairs}


def warnings(info: dict[str, str]) -> list[str]:
    """What is unsafe about a server, one sentence each."""
    found: list[str] = []
    durable = info.get("aof_enabled") == "1" or int(info.get("connected_slaves", "0")) > 0
    if not durable:
        found.append(
            "Redis has neither an append-only file nor a replica: a restart loses jobs; "
            "set appendonly yes."
        )
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and info.get("maxmemory", "0") != "0":
        found.append(
            f"Redis may evict jobs when its memory is full (maxmemory-policy {policy}); "
            "set it to noeviction."
        )
    return found


class Partitions:
    """The queues that are split over several shards, as all who share the store know them.

    The number of a queue's partitions only grows: jobs in a part that nobody asks for any more
    would never run.
    """

    def __init__(self, shard: Shard, spread: Spread, errands: Errands) -> None:
        self._shard = shard
        self._spread = spread
        self._errands = errands
        self._asked_at = 0.0

    async def open(self) -> None:
        if self._spread.shards == 1:
            return
        wanted = dict(self._spread.partitions)
        await self._load()
        for queue, number in wanted.items():
            if number > self._spread.shards:
                raise StoreError(
                    f"A queue has at most {self._spread.shards} partitions; got {queue}:{number}."
                )
            if number > self._spread.partitions.get(queue, 1):
                await self._shard.send("HSET", "partitions", queue, number)
        await self._load()

    async def refresh(self) -> None:
        """Ask again, in the background, if it is time to; nobody waits for the answer."""
        if self._spread.shards > 1 and time.monotonic() - self._asked_at > REFRESH:
            self._asked_at = time.monotonic()
            what = "it was not learnt which queues have been split since the last look"
            await self._errands.run(what, [self._load()])

    async def _load(self) -> None:
        self._asked_at = time.monotonic()
        found = await self._shard.send("HGETALL", "partitions")
        self._spread.partitions = {
            queue.decode(): int(number)
            for queue, number in zip(found[::2], found[1::2], strict=True)
            if number.isdigit()
        }
