"""Listings over several pages of a store, or of history."""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec

from ..core.model import Job, JobQuery, Page
from ..history.query import HistoryQuery

Q = TypeVar("Q", JobQuery, HistoryQuery)
Q_contra = TypeVar("Q_contra", contravariant=True)


class Pages(Protocol[Q_contra]):
    """What can be listed page by page."""

    async def find(self, query: Q_contra) -> Page: ...


async def list_jobs(pages: Pages[Q], query: Q) -> Page:
    """The first `query.limit` jobs: single pages may be short, or even empty."""
    listed: list[Job] = []
    while True:
        page = await pages.find(query)
        listed += page.jobs
        left = query.limit - len(page.jobs)
        if page.cursor is None or left == 0:
            return Page(listed, page.cursor)
        query = msgspec.structs.replace(query, limit=left, cursor=page.cursor)
