"""How long jobs have been waiting, and how lanes stand; a bounded look at both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.lane import Lane, LanePage, LaneStats
from ..contract import MOST_COUNTED
from ..cursor import LaneCursor, decode_lane_cursor
from .lanes import limits_in
from .operation import Operation, Statement
from .rows import json_array

LARGEST_PAGE: Final = 100
"""The most lanes of a page: the jobs of each of them are counted."""


def oldest(queues: Sequence[str]) -> Operation[Mapping[str, int]]:
    if not queues:
        return {}
    rows = yield Statement("oldest", {"queues": json_array(sorted(set(queues)))})
    return dict(rows)


def risks() -> Operation[Sequence[str]]:
    rows = yield Statement("risks")
    return [sentence for (sentence,) in rows]


def lanes(limit: int, cursor: str | None) -> Operation[LanePage]:
    last, size = decode_lane_cursor(cursor), min(limit, LARGEST_PAGE)
    where = {"queue": last.queue, "name": last.name}
    rows = yield Statement("lane_page", {**where, "limit": size + 1, "most": MOST_COUNTED})
    page = tuple(
        LaneStats(queue, limits_in(record, Lane(name)), held, waiting)
        for queue, name, record, held, waiting in rows[:size]
    )
    more = len(rows) > size
    return LanePage(page, LaneCursor(*rows[size - 1][:2]).encode() if more else None)
