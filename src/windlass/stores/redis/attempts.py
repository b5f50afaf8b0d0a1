"""What attempts came to and logged: a key for each job, at the home of its id.

The records do not say where the job is, and many outlast it. On a Cluster that may be another shard
than the job's own, so to delete the job takes a second step there; what a process that died before
it has left is over some day.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ...core.attempts import (
    MOST_ATTEMPTS,
    AttemptRecord,
    decode_attempt,
    encode_attempt,
    newest,
)
from .io import Word
from .keys import attempts_of
from .portions import LARGEST_CALL, parts
from .record import pack_number
from .shard import Shard
from .spread import Spread
from .together import together

log = logging.getLogger("windlass")

LARGEST_NOTE: Final = 1 << 20
"""Bytes, and more only if one record has them, of what one script is given to keep."""

JOBS_AT_ONCE: Final = 50
"""The most jobs whose records one script brings: each may have many."""

Noted = tuple[AttemptRecord, bytes]
"""A record, and as bytes."""


class Attempts:
    """Keeps records of attempts, and finds them again."""

    def __init__(self, shards: Sequence[Shard], spread: Spread) -> None:
        self._shards = shards
        self._spread = spread

    async def note(self, records: Sequence[AttemptRecord], keep: int) -> None:
        kept = newest(records)
        await together(
            [
                _note(shard, [record for id in ids for record in kept[id]], keep)
                for shard, ids in self._homes(kept)
            ]
        )

    async def of(self, ids: Sequence[str]) -> dict[str, list[AttemptRecord]]:
        """The records of these jobs that are not over, oldest first."""
        asked = list(dict.fromkeys(ids))
        answers = await together([_find(shard, own) for shard, own in self._homes(asked)])
        found = {id: records for answer in answers for id, records in answer.items()}
        return {id: found[id] for id in asked if id in found}

    async def forget(self, ids: Iterable[str]) -> None:
        """Drop what was kept of jobs that were deleted."""
        for shard, own in self._homes(ids):
            for part in parts(own):
                await shard.drop(*map(attempts_of, part))

    def is_at_home(self, id: str, shard: Shard) -> bool:
        return self._spread.home(id) == shard.number

    def _homes(self, ids: Iterable[str]) -> list[tuple[Shard, list[str]]]:
        by_home: dict[int, list[str]] = {}
        for id in ids:
            by_home.setdefault(self._spread.home(id), []).append(id)
        return [(self._shards[number], own) for number, own in by_home.items()]


async def _note(shard: Shard, records: Sequence[AttemptRecord], keep: int) -> None:
    for part in portions(records):
        jobs = list(dict.fromkeys(record.id for record, _ in part))
        places = {id: n for n, id in enumerate(jobs, 1)}
        words: list[Word] = [keep, MOST_ATTEMPTS]
        for record, raw in part:
            words += (places[record.id], pack_number(record.fence), raw)
        await shard.run_on("note_attempts", [attempts_of(id) for id in jobs], words)


def portions(records: Sequence[AttemptRecord]) -> Iterator[Sequence[Noted]]:
    """Records as bytes, in portions that one script may have."""
    part: list[Noted] = []
    size = 0
    for record in records:
        raw = encode_attempt(record)
        if part and (size + len(raw) > LARGEST_NOTE or len(part) == LARGEST_CALL):
            yield part
            part, size = [], 0
        part.append((record, raw))
        size += len(raw)
    if part:
        yield part


async def _find(shard: Shard, ids: Sequence[str]) -> dict[str, list[AttemptRecord]]:
    found: dict[str, list[AttemptRecord]] = {}
    for part in parts(ids, JOBS_AT_ONCE):
        answer: list[Any] = await shard.run_on("find_attempts", [attempts_of(id) for id in part])
        for n, raws in zip(answer[::2], answer[1::2], strict=True):
            records = [record for raw in raws if (record := _read(part[n], raw))]
            if records:
                found[part[n]] = sorted(records, key=lambda record: record.fence)
    return found


def _read(id: str, raw: bytes) -> AttemptRecord | None:
    record = decode_attempt(raw)
    if record is None:
        log.warning("a record of an attempt of job %s is damaged and left out", id)
    return record
