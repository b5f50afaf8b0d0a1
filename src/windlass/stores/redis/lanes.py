"""Listing lanes over all shards, a bounded page at a time.

A lane is in one shard. If its queue was divided while it had jobs, the rest of them are in another
one until they have run: both are the same lane.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from ...core.lane import LanePage, LaneStats
from ..cursor import LaneCursor, decode_lane_cursor
from .lookout import Lookout
from .replies import LaneRow
from .shard import Shard
from .spread import Spread
from .traits import read_limits

log = logging.getLogger("windlass")

LARGEST_PAGE: Final = 250


async def lanes(
    shards: Sequence[Shard], spread: Spread, lookout: Lookout, limit: int, cursor: str | None
) -> LanePage:
    last, size = decode_lane_cursor(cursor), min(limit, LARGEST_PAGE)
    answers = await lookout.ask(
        range(len(shards)), lambda number: shards[number].lanes(last.queue, last.name, size + 1)
    )
    found: dict[tuple[str, str], list[LaneRow]] = defaultdict(list)
    for number, rows in answers.items():
        for row in rows:
            at_home = spread.of_job(row.queue, row.name) == number
            same = found[row.queue, row.name]
            same.insert(0 if at_home else len(same), row)
    keys = sorted(found)
    page = (_one_of(found[key]) for key in keys[:size])
    return LanePage(
        tuple(stats for stats in page if stats is not None),
        LaneCursor(*keys[size - 1]).encode() if len(keys) > size else None,
    )


def _one_of(rows: Sequence[LaneRow]) -> LaneStats | None:
    """The lane in these rows, with the limits of the first; None if they are damaged."""
    name, limits = rows[0].name, next((row.limits for row in rows if row.limits is not None), None)
    if limits is None:
        log.warning("the lane %s of the queue %s is damaged and left out", name, rows[0].queue)
        return None
    return LaneStats(
        rows[0].queue,
        read_limits(name, limits),
        sum(row.holders for row in rows),
        sum(row.waiting for row in rows),
    )
