"""One look at everything: queues, workers, what was done lately, what needs attention.

Many ask for it again and again, and a look is a handful of calls of the store. So one look serves
all who ask within a moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from ..admin.attention import RECENT_MS, Attention, Situation, attention
from ..core.stats import COARSE, COMPLETED, FINE, WHOLE, StatPoint, bucket, summed
from ..stores.contract import Store
from .pulse import Snapshot, look

LASTS: Final = 2.0
"""Seconds for which a look serves others too."""

MINUTE: Final = 60_000
MOST_COUNTED: Final = 200
"""So many queues, those with most jobs, are told how much was done in them."""

MOST_KEPT: Final = 100
"""So many looks are kept, each for callers that see other queues."""


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


class Lookout:
    """Takes looks, and remembers each for a moment."""

    def __init__(self) -> None:
        self._looks: dict[frozenset[str], tuple[float, asyncio.Task[Panorama]]] = {}

    async def get(self, store: Store, queues: frozenset[str]) -> Panorama:
        """A look at the store as callers see it who are bound to these queues."""
        now = asyncio.get_running_loop().time()
        taken = self._looks.get(queues)
        if taken is None or now - taken[0] >= LASTS or _has_failed(taken[1]):
            if len(self._looks) >= MOST_KEPT:
                self._looks.clear()
            taken = self._looks[queues] = (now, asyncio.create_task(take(store)))
        # Others may wait for the same look: who leaves does not end it.
        return await asyncio.shield(taken[1])


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def take(store: Store) -> Panorama:
    """Look at everything, with a bounded number of calls."""
    snapshot = await look(store)
    fullest = sorted(snapshot.queues, key=lambda queue: -sum(queue.counts.values()))
    names = [queue.name for queue in fullest[:MOST_COUNTED]]
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


def _completed(points: Sequence[StatPoint]) -> float:
    return float(summed(points).get(COMPLETED, 0))


def _by_queue(points: Sequence[StatPoint]) -> Mapping[str, Sequence[StatPoint]]:
    found: dict[str, list[StatPoint]] = {}
    for point in points:
        found.setdefault(point.queue, []).append(point)
    return found
