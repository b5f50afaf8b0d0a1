"""What a store looks at when it is opened: the version of its data, the server's settings."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Final

from ...errors import SchemaMismatch, StoreError
from .errands import Errands
from .keys import FIXED, OTHERS
from .lookout import Lookout
from .shard import Shard
from .spread import Spread
from .transport import Transport

log = logging.getLogger("windlass")

VERSION: Final = 1
MOST_QUEUES: Final = 500
"""Of a shard, whose keys an audit looks at."""

REFRESH: Final = 5.0
"""Seconds after which a running store asks again which queues have partitions."""


async def check_version(shards: Sequence[Shard], lookout: Lookout) -> None:
    """Raise `SchemaMismatch` if the data were written by a version that this one cannot read.

    Every shard tells, so that a store can be opened while some are down.
    """
    answers = await lookout.ask(
        range(len(shards)), lambda number: shards[number].send("HGET", "meta", "version")
    )
    for stored in answers.values():
        if stored is not None and not stored.isdigit():
            raise StoreError(
                f"The version of the data in Redis is {stored!r}, which is no number: something "
                "else has written over it. Use another namespace, or set that field of its meta "
                "key right."
            )
        if stored is not None and int(stored) > VERSION:
            raise SchemaMismatch(
                f"The data in Redis are of version {int(stored)}, this Windlass knows {VERSION}: "
                "upgrade it, or use another namespace."
            )
    new = [number for number, stored in answers.items() if stored is None]
    if new:
        await lookout.ask(
            new, lambda number: shards[number].send("HSETNX", "meta", "version", VERSION)
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
    except StoreError as error:
        # One master of several is no reason not to serve the others, nor is a user without INFO.
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
    if info.get("aof_enabled") != "1":
        found.append(_without_file(info))
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction" and info.get("maxmemory", "0") != "0":
        if policy.startswith("volatile"):
            # Jobs have no time to live, so that none of them is ever chosen.
            found.append(
                f"Redis may evict statistics and records of attempts when its memory is full "
                f"(maxmemory-policy {policy}); jobs are safe. Set it to noeviction to keep these."
            )
        else:
            found.append(
                f"Redis may evict jobs when its memory is full (maxmemory-policy {policy}); "
                "set it to noeviction."
            )
    return found


def _without_file(info: dict[str, str]) -> str:
    """A replica is no file: a master that restarts empty makes it empty, too."""
    if int(info.get("connected_slaves", "0")) > 0:
        return (
            "Redis has no append-only file: if it restarts before a replica takes over, it comes "
            "back with its last snapshot or with nothing, and its replicas copy that; set "
            "appendonly yes."
        )
    return (
        "Redis has neither an append-only file nor a replica: a restart loses jobs; "
        "set appendonly yes."
    )


class Partitions:
    """The queues that are split over several shards, as all who share the store know them.

    The number of a queue's partitions only grows: jobs in a part that nobody asks for any more
    would never run.
    """

    def __init__(
        self, shards: Sequence[Shard], spread: Spread, lookout: Lookout, errands: Errands
    ) -> None:
        self._shards = shards
        self._lookout = lookout
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
        more = {
            queue: number
            for queue, number in wanted.items()
            if number > self._spread.partitions.get(queue, 1)
        }
        if more:
            await self._write(range(len(self._shards)), more)
            await self._load()

    async def refresh(self) -> None:
        """Ask again, in the background, if it is time to; nobody waits for the answer."""
        if self._spread.shards > 1 and time.monotonic() - self._asked_at > REFRESH:
            self._asked_at = time.monotonic()
            what = "it was not learnt which queues have been split since the last look"
            await self._errands.run(what, [self._load()])

    async def _load(self) -> None:
        """Every shard has all of them; one that was down meanwhile is told what it has missed."""
        self._asked_at = time.monotonic()
        answers = await self._lookout.ask(range(len(self._shards)), self._kept)
        found: dict[str, int] = {}
        for kept in answers.values():
            for queue, number in kept.items():
                found[queue] = max(number, found.get(queue, 1))
        self._spread.partitions = found
        lacking = [number for number, kept in answers.items() if kept != found]
        if lacking:
            await self._write(lacking, found)

    async def _kept(self, number: int) -> dict[str, int]:
        found = await self._shards[number].send("HGETALL", "partitions")
        return {
            queue.decode(): int(number)
            for queue, number in zip(found[::2], found[1::2], strict=True)
            if number.isdigit()
        }

    async def _write(self, numbers: Collection[int], partitions: Mapping[str, int]) -> None:
        words = [word for pair in partitions.items() for word in pair]
        await self._lookout.ask(
            numbers, lambda number: self._shards[number].send("HSET", "partitions", *words)
        )
