"""What workers have counted: one shard has it all, a key for each step, beginning and queue.

A script must be told its keys before it knows the time, so the caller asks for that first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...core.stats import FORGOTTEN, KEPT, StatPoint, Tally, bucket, by_queue, first_bucket
from ...errors import StoreUnavailable
from .io import Word
from .keys import bucket_of, tallied_by
from .portions import parts
from .shard import Shard
from .together import together

MOST_COUNTS: Final = 1_000
"""That one script adds, to a bucket of each step."""

MOST_TRIES: Final = 3
"""Each is too late only if it has taken longer than a bucket."""

BUCKETS_AT_ONCE: Final = 400
"""The most that one script reads: more than an hour has of the fine ones."""

Counted = tuple[str, Sequence[tuple[str, int]]]
"""What is to be added for one queue."""


async def tally(shard: Shard, worker: str, number: int, tallies: Sequence[Tally]) -> None:
    """Add what a worker has counted, unless that was done."""
    for place, part in enumerate(portions(tallies)):
        for _ in range(MOST_TRIES):
            if await _add(shard, worker, (number, place), part):
                break
        else:
            raise StoreUnavailable(
                "Redis answers so slowly that what was counted is too old for every bucket; "
                "see what keeps it busy, then try again."
            )


async def _add(shard: Shard, worker: str, which: tuple[int, int], part: Sequence[Counted]) -> bool:
    now = await shard.time()
    keys = [tallied_by(worker)]
    words: list[Word] = [*which, FORGOTTEN, len(KEPT)]
    for step, kept in KEPT.items():
        words += (step, kept, bucket(step, now))
    for queue, counts in part:
        for step in KEPT:
            at = bucket(step, now)
            keys += (bucket_of(step, at, queue), bucket_of(step, at + step, queue))
        words.append(len(counts))
        for name, n in counts:
            words += (name, n)
    return bool(await shard.run_on("tally", keys, words))


def portions(tallies: Sequence[Tally]) -> Iterator[Sequence[Counted]]:
    """What is to be added, in portions that one script may have; the same for the same tallies."""
    part: list[Counted] = []
    size = 0
    # Without counts there is one as well: the number is taken all the same.
    for queue, counts in sorted(by_queue(tallies).items()):
        for some in parts(sorted(counts.items()), MOST_COUNTS):
            if part and size + len(some) > MOST_COUNTS:
                yield part
                part, size = [], 0
            part.append((queue, some))
            size += len(some)
    yield part


async def points(shard: Shard, queues: Sequence[str], step: int, since: int) -> list[StatPoint]:
    """The buckets of queues that begin at a time or after it."""
    now = await shard.time()
    first = first_bucket(step, since, now)
    begin = bucket(step, max(first + step - 1, 0))
    buckets = [(at, queue) for at in range(begin, now + 1, step) for queue in sorted(set(queues))]
    found = await together([_read(shard, step, part) for part in parts(buckets, BUCKETS_AT_ONCE)])
    return [point for some in found for point in some]


async def _read(shard: Shard, step: int, buckets: Sequence[tuple[int, str]]) -> list[StatPoint]:
    keys = [bucket_of(step, at, queue) for at, queue in buckets]
    found: list[StatPoint] = []
    for n, values in _pairs(await shard.run_on("find_stats", keys)):
        at, queue = buckets[n]
        # What is no number was written by somebody else.
        counts = {
            name.decode("utf-8", "replace"): int(number)
            for name, number in _pairs(values)
            if number.removeprefix(b"-").isdigit()
        }
        found.append(StatPoint(at, queue, counts))
    return found


def _pairs(values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(values[::2], values[1::2], strict=True)
