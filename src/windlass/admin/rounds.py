"""The same change to all jobs that pass a test, in rounds that somebody can watch and stop.

A round has a bound in time and number, and says where the next one goes on. Nothing is remembered
between two of them: who does not ask for the next one has stopped it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..core.model import Job, JobQuery
from ..stores.contract import Store
from .change import BATCH, Change, apply

LONGEST: Final = 1.0
"""Seconds after which a round begins no other step."""


class Round(NamedTuple):
    """What a round came to. `left` were found and refused: a unique key, a claim. No cursor after
    the last round."""

    changed: int
    left: int
    looked_at: int
    cursor: str | None


async def change_some(
    store: Store,
    change: Change,
    query: JobQuery,
    passes: Callable[[Job], bool],
    *,
    dry: bool = False,
) -> Round:
    """Change at most `query.limit` jobs that pass; a dry round only counts them."""
    done, ends = Round(0, 0, 0, query.cursor), time.monotonic() + LONGEST
    while True:
        room = query.limit - done.changed - done.left
        page = await store.find(replace(query, limit=min(BATCH, room), cursor=done.cursor))
        fit = {job.id: job for job in page.jobs if passes(job) and not change.is_in_effect(job)}
        changed = len(fit) if dry else len(await apply(store, change, fit))
        done = Round(
            done.changed + changed,
            done.left + len(fit) - changed,
            done.looked_at + len(page.jobs),
            page.cursor,
        )
        is_full = done.changed + done.left >= query.limit
        if page.cursor is None or is_full or time.monotonic() >= ends:
            return done
