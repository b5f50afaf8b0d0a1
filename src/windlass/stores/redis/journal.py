"""The journal over several shards: each notes what ends there, in a stream of its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from heapq import merge
from itertools import islice
from typing import Any, Final

from ...core.model import Entry
from .lookout import Lookout
from .portions import LARGEST_CALL, parts
from .record import UNREADABLE, Sides, read
from .shard import Shard
from .sight import SHOWN
from .together import together

log = logging.getLogger("windlass")

READING: Final = 2.0
"""Seconds for the entries of a shard, which may be large."""

SIDES: Final = ("large", "result", "error", "progress", "checkpoint", "mail")


async def keep_journal(shards: Sequence[Shard], on: bool) -> None:
    """Switch it, in every shard: each asks itself alone when it notes."""
    words = ("HSET", "meta", "journal", 1) if on else ("HDEL", "meta", "journal")
    await together([shard.send(*words) for shard in shards])


async def read_journal(shards: Sequence[Shard], lookout: Lookout, limit: int) -> list[Entry]:
    """The oldest entries of all shards but those that are down, whose turn comes later."""
    limit = min(limit, LARGEST_CALL)
    room = SHOWN // len(shards)
    answers = await lookout.ask(
        range(len(shards)), lambda number: _read(shards[number], limit, room), READING
    )
    return list(islice(merge(*answers.values(), key=lambda entry: entry.at), limit))


async def trim_journal(shards: Sequence[Shard], entries: Sequence[Entry]) -> None:
    """Drop entries where they are."""
    numbers: dict[int, list[str]] = {}
    for entry in entries:
        where, _, number = entry.key.partition(":")
        numbers.setdefault(int(where), []).append(number)
    for shard, those in numbers.items():
        for part in parts(those):
            await shards[shard].run_on("trim_journal", ["journal"], part)


async def _read(shard: Shard, limit: int, room: int) -> list[Entry]:
    found = await shard.run_on("read_journal", ["journal"], [limit, room])
    entries: list[Entry] = []
    for number, values in found:
        try:
            entries.append(_entry(shard, number, values))
        except (*UNREADABLE, KeyError) as error:
            # Nobody can read it, and the history would stop at it for ever.
            log.warning("an entry of the journal is damaged and dropped: %r", error)
            await shard.run_on("trim_journal", ["journal"], [number])
    return entries


def _entry(shard: Shard, number: bytes, values: list[Any]) -> Entry:
    fields = dict(zip(values[::2], values[1::2], strict=True))
    sides = Sides(**{side: fields.get(side.encode()) for side in SIDES})
    return Entry(
        key=f"{shard.number}:{number.decode()}",
        at=int(fields[b"at"]),
        job=read(fields[b"id"], fields[b"record"], sides, shard.ref),
        ran=fields[b"ran"] == b"1",
    )
