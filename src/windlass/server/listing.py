"""Listings for a key that sees some queues only: jobs and lanes queue by queue, and counts.

A store that lists all queues would put the names of others into its cursors, and a page of what is
left of its own would be short, or empty, as often as others are busy.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec
from msgspec.structs import replace

from ..core.lane import LanePage
from ..core.model import JobQuery, Page
from ..core.stats import WHOLE, StatPoint, together
from ..stores.contract import Store
from ..stores.cursor import LaneCursor, decode, decode_lane_cursor, encode, refusal


class Place(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a listing goes on: the queue that it has come to, and the store's own cursor there."""

    queue: str
    cursor: str | None = None


async def find_in(store: Store, queues: Collection[str], query: JobQuery) -> Page:
    """A page of the jobs of some queues; one queue has to end before the next one begins."""
    if query.queue is not None or len(queues) == 1:
        (name,) = {query.queue} if query.queue is not None else queues
        return await store.find(replace(query, queue=name)) if name in queues else Page([])
    names = sorted(queues)
    place = Place(names[0]) if query.cursor is None else _decoded(query.cursor, queues)
    page = await store.find(replace(query, queue=place.queue, cursor=place.cursor))
    if page.cursor is not None:
        return Page(page.jobs, encode(Place(place.queue, page.cursor)))
    after = [name for name in names if name > place.queue]
    return Page(page.jobs, encode(Place(after[0])) if after else None)


async def lanes_in(
    store: Store, queues: Collection[str], limit: int, cursor: str | None
) -> LanePage:
    """A page of the lanes of some queues."""
    last, names = decode_lane_cursor(cursor), sorted(queues)
    if cursor is None:
        last = LaneCursor(names[0])
    elif last.queue not in queues:
        raise refusal()
    page = await store.lanes(limit, last.encode())
    own = tuple(each for each in page.lanes if each.queue == last.queue)
    if page.cursor is not None and decode_lane_cursor(page.cursor).queue == last.queue:
        return LanePage(own, page.cursor)
    after = [name for name in names if name > last.queue]
    return LanePage(own, LaneCursor(after[0]).encode() if after else None)


async def stats_in(
    store: Store, queues: Collection[str], asked: Collection[str], step: int, since: int
) -> Sequence[StatPoint]:
    """What was counted for some queues; all together means these, and no others."""
    wanted = [*queues] if WHOLE in asked else [queue for queue in asked if queue in queues]
    found = await store.stats(wanted, step, since)
    points = [point for point in found if point.queue in asked]
    if WHOLE in asked:
        points += together(found)
    return sorted(points, key=lambda point: (point.at, point.queue))


def _decoded(text: str, queues: Collection[str]) -> Place:
    place = decode(text, Place)
    if place is None or place.queue not in queues:
        raise refusal()
    return place
