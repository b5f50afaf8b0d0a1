"""One look at everything: queues, workers, what was done lately, what needs attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ..admin.attention import RECENT_MS, Attention, Situation, attention
from ..admin.leading import leaders_of
from ..core.model import QueueStats
from ..core.stats import COARSE, COMPLETED, FINE, WHOLE, StatPoint, bucket, summed
from ..stores.contract import Store
from .pulse import Snapshot, look

LASTS: Final = 2.0
"""Seconds for which a look serves others too."""

MINUTE: Final = 60_000
MOST_COUNTED: Final = 200
"""So many queues, those with most jobs, are told how much was done in them."""


class Panorama(msgspec.Struct, frozen=True):
    """What one look found."""

    snapshot: Snapshot
    serving: Mapping[str, int]
    """for each queue, how many workers serve it"""
    rates: Mapping[str, float]
    """jobs that were completed within the last whole minute, by queue; "" is all together"""
    counted: frozenset[str]
    """the queues whose rates are known"""
    attention: Sequence[Attention]


async def take(store: Store) -> Panorama:
    """Look at everything, with a bounded number of calls."""
    snapshot = await look(store)
    names = fullest(snapshot.queues, MOST_COUNTED)
    now = snapshot.at
    minute = bucket(FINE, now)
    done = await store.stats([WHOLE, *names], FINE, minute - MINUTE)
    recent = await store.stats(names, COARSE, now - RECENT_MS) if names else ()
    situation = Situation(
        now=now,
        queues=snapshot.queues,
        oldest=snapshot.oldest,
        workers=snapshot.workers,
        schedules=await store.schedules(),
        leaders=await leaders_of(store),
        recent={name: summed(points) for name, points in _by_queue(recent).items()},
    )
    whole = [point for point in done if point.at < minute]
    return Panorama(
        snapshot,
        {name: len(workers) for name, workers in situation.serving.items()},
        {name: _completed(points) for name, points in _by_queue(whole).items()},
        frozenset(names),
        attention(situation),
    )


def fullest(queues: Sequence[QueueStats], most: int) -> list[str]:
    """The names of the queues with most jobs."""
    by_jobs = sorted(queues, key=lambda queue: -sum(queue.counts.values()))
    return [queue.name for queue in by_jobs[:most]]


def _completed(points: Sequence[StatPoint]) -> float:
    return float(summed(points).get(COMPLETED, 0))


def _by_queue(points: Sequence[StatPoint]) -> Mapping[str, Sequence[StatPoint]]:
    found: dict[str, list[StatPoint]] = {}
    for point in points:
        found.setdefault(point.queue, []).append(point)
    return found
