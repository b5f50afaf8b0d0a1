"""The same changes for all jobs that a query finds, in bounded steps.

No step is larger than a batch, so workers get their turn in between, and stopping halfway
leaves every job either changed or as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from ..core.model import Job
from ..stores.contract import Store
from .change import BATCH, Change
from .rounds import change_some
from .selection import Selection, Sieve


class Total(NamedTuple):
    """How many were changed, and how many were found and refused: a unique key, a claim."""

    changed: int = 0
    left: int = 0


def _ignore(_: int) -> None: ...


NO_PROGRESS: Final[Callable[[int], None]] = _ignore


async def count(store: Store, selection: Selection) -> int:
    """How many jobs there are in these states of these queues: the most that can be changed."""
    return sum(
        number
        for queue in await store.queues()
        if selection.queue in (None, queue.name)
        for state, number in queue.counts.items()
        if not selection.states or state in selection.states
    )


async def change_all(
    store: Store,
    change: Change,
    selection: Selection,
    most: int,
    progress: Callable[[int], None] = NO_PROGRESS,
    *,
    sieve: Sieve | None = None,
    dry: bool = False,
) -> Total:
    """Change what is selected, and tell `progress` after each step how many jobs it had.

    `most` ends it, however fast new jobs come in behind: give what `count` said. What was created
    after it began is left alone. A dry one changes nothing, and counts.
    """
    tests = sieve or Sieve(selection)
    began = await store.now()

    def passes(job: Job) -> bool:
        return job.created_at <= began and tests.passes(job)

    total, query = Total(), selection.query()
    while (room := most - sum(total)) > 0:
        query = replace(query, limit=min(BATCH, room))
        done = await change_some(store, change, query, passes, dry=dry)
        total = Total(total.changed + done.changed, total.left + done.left)
        progress(done.changed + done.left)
        if done.cursor is None:
            break
        query = replace(query, cursor=done.cursor)
    return total
