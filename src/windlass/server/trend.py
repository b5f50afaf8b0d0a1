"""How much each queue has done over the last hours: a line beside its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ..core.stats import COARSE, COMPLETED, bucket
from ..stores.contract import Store
from .panorama import fullest

LASTS: Final = 60.0
"""Seconds for which a look serves others too."""

STEPS: Final = 24
MOST_DRAWN: Final = 50
"""So many queues, those with most jobs: all buckets of each of them are read."""


class Trend(msgspec.Struct, frozen=True):
    """What one look found, in milliseconds."""

    since: int
    until: int
    done: Mapping[str, Sequence[int]]
    """by queue, how many jobs were completed in each step; the last one is going on"""


async def take(store: Store) -> Trend:
    """Look at the fullest queues."""
    names = fullest(await store.queues(), MOST_DRAWN)
    now = await store.now()
    since = bucket(COARSE, now) - STEPS * COARSE
    done = {name: [0] * (STEPS + 1) for name in names}
    for point in await store.stats(names, COARSE, since) if names else ():
        # A bucket may have begun after `now` was read.
        place = min((point.at - since) // COARSE, STEPS)
        done[point.queue][place] += point.counts.get(COMPLETED, 0)
    return Trend(since, now, done)
