"""The same changes for all jobs that a query finds, in bounded steps.

No step is larger than a batch, so workers get their turn in between, and stopping halfway
leaves every job either changed or as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from ..core.likeness import error_fingerprint
from ..core.model import Job, JobQuery
from ..core.states import State
from ..stores.contract import Store
from .change import BATCH, Change, apply


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to change. `finished_before` is a moment in milliseconds; `fingerprint` is that
    of the errors of the jobs."""

    states: tuple[State, ...]
    queue: str | None = None
    task: str | None = None
    finished_before: int | None = None
    fingerprint: str | None = None

    @property
    def narrowed(self) -> bool:
        """Whether `count` may be more than what is found."""
        given = (self.task, self.finished_before, self.fingerprint)
        return any(each is not None for each in given)

    def has(self, job: Job) -> bool:
        """What the query itself cannot ask for."""
        before, alike = self.finished_before, self.fingerprint
        if before is not None and (job.finished_at is None or job.finished_at >= before):
            return False
        if alike is None:
            return True
        return job.error is not None and error_fingerprint(job.task, job.error) == alike


class Total(NamedTuple):
    """How many were changed, and how many were found and refused: a unique key, a claim."""

    changed: int = 0
    left: int = 0


def _ignore(_: int) -> None: ...


NO_PROGRESS: Final[Callable[[int], None]] = _ignore


async def count(store: Store, selection: Selection) -> int:
    """How many jobs there are in these states of these queues: the most that can be changed."""
    return sum(
        queue.counts.get(state, 0)
        for queue in await store.queues()
        if selection.queue in (None, queue.name)
        for state in selection.states
    )


async def change_all(
    store: Store,
    change: Change,
    selection: Selection,
    most: int,
    progress: Callable[[int], None] = NO_PROGRESS,
) -> Total:
    """Change what is selected, and tell `progress` after each page how many jobs it had.

    `most` ends it, however fast new jobs come in behind: give what `count` said.
    """
    total, cursor = Total(), None
    while (room := most - sum(total)) > 0:
        query = JobQuery(
            states=selection.states,
            queue=selection.queue,
            task=selection.task,
            limit=min(BATCH, room),
            cursor=cursor,
        )
        page = await store.find(query)
        jobs = {job.id: job for job in page.jobs if selection.has(job)}
        changed = len(await apply(store, change, jobs))
        total = Total(total.changed + changed, total.left + len(jobs) - changed)
        progress(len(jobs))
        if page.cursor is None:
            break
        cursor = page.cursor
    return total
