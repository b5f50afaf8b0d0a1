"""Claiming over several queues, and the few questions that spare many."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ...core.model import Job
from ...errors import StoreError
from .lookout import Lookout
from .names import Names
from .replies import Owed
from .shard import Shard
from .spread import Spread

log = logging.getLogger("windlass")

MOST_QUEUES: Final = 64
"""Beyond so many, the shard is asked first which of them have work."""

Stop = tuple[int, str]
"""A shard and a queue that it has, or has a part of."""


class Ways(NamedTuple):
    """What it takes to ask several shards."""

    shards: Sequence[Shard]
    spread: Spread
    names: Names
    lookout: Lookout


async def claim(
    ways: Ways,
    queues: Mapping[str, int],
    limit: int,
    lease: int,
    worker: str,
    beyond: int,
    most_bytes: int,
) -> list[Job]:
    """Jobs from queues in the order of preference, with one call to a shard for all of its own."""
    shards, spread, names, lookout = ways
    if any(shard.has_lost_claims for shard in shards):
        lost = await _claimed_before(shards, lookout, lease, worker)
        if lost:
            return lost
    if len(shards) == 1 and len(queues) <= MOST_QUEUES:
        if not queues:
            return []
        return (await shards[0].claim(queues, limit, lease, worker, beyond, most_bytes)).jobs
    stops = [(shard, queue) for queue in queues for shard in spread.of_queue(queue)]
    stops = await _with_work(shards, lookout, stops)
    taken: list[Job] = []
    room = limit
    left = dict(queues)
    failed: dict[int, StoreError] = {}
    for number, part in _calls(stops):
        if room == 0 or most_bytes < 0 or number in failed:
            continue
        caps = {queue: left[queue] for queue in part}
        try:
            jobs, owed, led, most_bytes = await shards[number].claim(
                caps, room, lease, worker, beyond, most_bytes, len(taken)
            )
        except StoreError as error:
            failed[number] = error
            continue
        for job in jobs:
            left[job.queue] -= 1
        taken += jobs
        room -= led
        if owed:
            await _pay(names, shards[number], owed)
    for failure in failed.values():
        if not taken:
            raise failure
        # What was taken elsewhere must be handed over, or it waits for its lease to end.
        log.warning("nothing could be claimed from some queues: %s", failure)
    return taken


async def _claimed_before(
    shards: Sequence[Shard], lookout: Lookout, lease: int, worker: str
) -> list[Job]:
    """What claims of this worker took whose answers were lost, from all shards that are there.

    It is the whole answer: these may be as many jobs as were asked for, and of other queues.
    """
    found: list[Job] = []
    failure: StoreError | None = None
    for shard in shards:
        try:
            while not lookout.is_silent(shard.number):
                taken = await shard.claimed_before(lease, worker)
                if taken is None:
                    break
                found += taken.jobs
        except StoreError as error:
            failure = error
    if failure is not None and not found and len(shards) == 1:
        raise failure
    return found


async def _pay(names: Names, shard: Shard, owed: Sequence[Owed]) -> None:
    """Give up the unique keys of jobs that hold them until they start."""
    try:
        await names.pay_owed(shard, owed)
    except StoreError as error:
        # It is noted, and done later; the jobs are to be handed over.
        log.warning("keys of jobs that were started stay taken for now: %s", error)


def _calls(stops: Sequence[Stop]) -> Iterator[tuple[int, Sequence[str]]]:
    """Neighbours of one shard make one call, so that the order of preference is kept."""
    for number, group in groupby(stops, key=lambda stop: stop[0]):
        queues = [queue for _, queue in group]
        for n in range(0, len(queues), MOST_QUEUES):
            yield number, queues[n : n + MOST_QUEUES]


async def _with_work(
    shards: Sequence[Shard], lookout: Lookout, stops: Sequence[Stop]
) -> list[Stop]:
    asked: dict[int, list[str]] = {}
    for number, queue in stops:
        asked.setdefault(number, []).append(queue)
    busy = await lookout.ask(asked, lambda number: _ready(shards[number], asked[number]))
    return [(number, queue) for number, queue in stops if queue in busy.get(number, ())]


async def _ready(shard: Shard, queues: Sequence[str]) -> set[str]:
    if len(queues) > MOST_QUEUES:
        # Most of so many are empty, as a rule.
        return await shard.busy(queues)
    return await shard.ready(queues)
