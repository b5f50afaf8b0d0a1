"""Removing a job whose record is damaged: what tells where it stands is lost, so it is looked for.

Every look is bounded, but there are more of them the more jobs there are: this is for people who
delete such a job by hand. A worker that meets one lets it die.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

from ...core.states import FINISHED
from .edges import Ending
from .io import Word
from .keys import attempts_of
from .portions import parts
from .record import CODES, pack_id, pack_queue
from .replies import read_owed
from .shard import Answer, Shard

AT_ONCE: Final = 1_000
QUEUES_AT_ONCE: Final = 50


async def discard(shard: Shard, id: str, *, shared: bool) -> Answer:
    """Remove a damaged job, unless a worker has it: that one will let it die."""
    raw = pack_id(id)
    queues = sorted({queue for queue, _, _ in await shard.counts()})
    portions = list(parts(queues, QUEUES_AT_ONCE)) or [[]]
    ends = [
        (CODES[state], member)
        for state in FINISHED
        async for member in _members(shard, state.value, raw)
    ]
    held = [key async for key in _keys_of(shard, raw)]
    for n, part in enumerate(portions):
        later: list[Word] = []
        for queue in part:
            async for member in _members(shard, f"later:{queue}", raw):
                later += (pack_queue(queue), member)
        words: list[Word] = [raw, int(n == len(portions) - 1), int(shared), len(later) // 2, *later]
        words.append(len(ends))
        for code, member in ends:
            words += (code, member)
        kept = shard.key_of(attempts_of(id))
        done, owed, endings = await shard.run("discard", part, [*words, *held], more=(kept,))
        if not done:
            return Answer(frozenset())
    return Answer(
        frozenset({id}),
        read_owed(owed),
        [Ending(shard.number, ending) for ending in endings],
    )


async def _members(shard: Shard, key: str, raw: bytes) -> AsyncIterator[bytes]:
    """What stands for a job in a sorted set: its id is at the end, behind 17 bytes."""
    cursor: int | bytes = 0
    while cursor != b"0":
        cursor, found = await shard.send("ZSCAN", key, cursor, "COUNT", AT_ONCE)
        for member in found[::2]:
            if member[17:] == raw:
                yield member


async def _keys_of(shard: Shard, raw: bytes) -> AsyncIterator[bytes]:
    """The unique keys that are held here in the name of a job."""
    cursor: int | bytes = 0
    while cursor != b"0":
        cursor, found = await shard.send("HSCAN", "unique", cursor, "COUNT", AT_ONCE)
        for key, holder in zip(found[::2], found[1::2], strict=True):
            if raw in (holder, holder[17:]):
                yield key
