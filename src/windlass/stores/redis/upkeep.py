"""Rescuing and pruning over several shards; those that are down are left out."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from ...core.model import Job
from ...errors import StoreError
from ..contract import ABANDON_BATCH
from .lookout import Lookout
from .names import Names
from .portions import LARGEST_CALL
from .shard import Shard

log = logging.getLogger("windlass")


async def rescue(
    shards: Sequence[Shard],
    lookout: Lookout,
    limit: int,
    lease: int,
    worker: str,
    beyond: int,
) -> list[Job]:
    """Jobs whose lease ran out, longest ago first, over all shards."""
    limit = min(limit, LARGEST_CALL)
    if len(shards) == 1:
        return await shards[0].rescue(limit, lease, worker, beyond)
    ends = await lookout.ask(range(len(shards)), lambda number: shards[number].expired(limit))
    oldest = sorted((end, number) for number, found in ends.items() for end in found)[:limit]
    taken: dict[int, list[Job]] = {}
    for number, most in Counter(number for _, number in oldest).items():
        try:
            taken[number] = await shards[number].rescue(most, lease, worker, beyond)
        except StoreError as error:
            # What was taken from others is to be handed over all the same.
            log.warning("jobs of a lost worker could not be rescued yet: %s", error)
    order = {number: iter(jobs) for number, jobs in taken.items()}
    merged = [next(order[number], None) for _, number in oldest if number in order]
    return [job for job in merged if job is not None]


async def abandon(shards: Sequence[Shard], lookout: Lookout, worker: str) -> int:
    """Let leases of a worker run out in all shards that are there."""
    numbers = range(len(shards))
    done = await lookout.ask(numbers, lambda number: shards[number].abandon(worker, ABANDON_BATCH))
    return sum(done.values())


async def prune(shards: Sequence[Shard], names: Names, lookout: Lookout, limit: int) -> int:
    """Jobs that were kept long enough, a portion at a time."""
    if len(shards) == 1:
        return await _prune(shards[0], names, limit)
    used = await lookout.ask(
        range(len(shards)), lambda number: shards[number].exist("jobs", "windows", "lanes")
    )
    done = 0
    for number in used:
        if used[number]:
            try:
                done += await _prune(shards[number], names, limit - done)
            except StoreError as error:
                log.warning("old jobs could not be pruned yet: %s", error)
    return done


async def _prune(shard: Shard, names: Names, limit: int) -> int:
    done, number = 0, -1
    while done < limit and number != 0:
        number, owed = await shard.prune(min(limit - done, LARGEST_CALL))
        if owed:
            await names.pay_owed(shard, owed)
        done += number
    return done
