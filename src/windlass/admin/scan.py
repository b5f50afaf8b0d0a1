"""Pages of jobs that pass a sieve: a bounded number is looked at for each, however few pass."""

from __future__ import annotations

import time
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..core.model import Job, JobQuery, Page, size_of
from ..stores.contract import PAGE_BYTES, SCAN_BATCH, Store
from .selection import Sieve

MOST_LOOKS: Final = 20
LONGEST: Final = 0.15
"""Seconds after which a page ends as it is; the client can go on."""


class Found(NamedTuple):
    """A page: no cursor on the last one."""

    jobs: list[Job]
    cursor: str | None
    looked_at: int


async def scan(
    store: Store,
    query: JobQuery,
    sieve: Sieve,
    *,
    bounded: bool = True,
) -> Found:
    """At most `query.limit` jobs; bounded, fewer if that takes many looks, long, or many bytes."""
    jobs: list[Job] = []
    looks, looked_at, heft, ends = 0, 0, 0, time.monotonic() + LONGEST
    # The first look takes no more than there is room for: often all of them pass.
    size = query.limit
    while looks < MOST_LOOKS or not bounded:
        looks += 1
        page, passed = await _look(store, replace(query, limit=size), sieve, query.limit)
        looked_at += len(page.jobs)
        jobs += passed
        heft += sum(map(size_of, passed))
        is_past = bool(page.jobs) and sieve.ends(query.states, page.jobs[-1])
        cursor = None if is_past else page.cursor
        query = replace(query, limit=query.limit - len(passed), cursor=cursor)
        if cursor is None or not query.limit:
            break
        if bounded and (heft >= PAGE_BYTES or time.monotonic() >= ends):
            break
        size = query.limit if sieve.is_open else SCAN_BATCH
    return Found(jobs, query.cursor, looked_at)


async def _look(store: Store, query: JobQuery, sieve: Sieve, room: int) -> tuple[Page, list[Job]]:
    """A page that has no more of what passes than there is room for.

    A cursor is always at the end of a page: one that has too many is read again, up to where the
    room ends.
    """
    while True:
        page = await store.find(query)
        places = [place for place, job in enumerate(page.jobs) if sieve.passes(job)]
        if len(places) <= room:
            return page, [page.jobs[place] for place in places]
        query = replace(query, limit=places[room - 1] + 1)
