"""What two stores are compared by, and what is left out: that is each store's own affair."""

from __future__ import annotations

from collections.abc import Awaitable, Container, Sequence
from functools import cache
from typing import TypeVar

import msgspec

from ..core.model import Entry, Job, NewJob, Receipt, Transition
from ..core.states import State, is_legal
from ..errors import UnknownJob
from ..stores.contract import Store

T = TypeVar("T")

MANY = 1_000
"""More lines than a journal gets here."""

replace = msgspec.structs.replace


class Grant(msgspec.Struct, frozen=True):
    """A job, as the specification and as the store under test gave it: claimed, or packed."""

    expected: Job
    actual: Job

    @property
    def fences(self) -> tuple[str, int, int]:
        return self.expected.id, self.expected.fence, self.actual.fence


def visible(job: Job) -> Job:
    """A job without its fence and its ref, the numbers of which are the store's own affair."""
    return replace(job, fence=0, ref=0, waits_for=tuple(sorted(job.waits_for)))


def with_known_parents(jobs: Sequence[NewJob], known: Container[str]) -> list[NewJob]:
    """Most calls are to be taken: one parent that is not there refuses all jobs of a call."""
    coming: set[str] = set()
    found = []
    for job in jobs:
        parents = tuple(id for id in job.spec.parents if id in known or id in coming)
        found.append(replace(job, spec=replace(job.spec, parents=parents)))
        coming.add(job.id)
    return found


async def accepted(store: Store, jobs: Sequence[NewJob]) -> list[Receipt] | None:
    """What became of new jobs; None if one was refused for a parent that is not there."""
    try:
        return list(await store.insert(jobs))
    except UnknownJob:
        return None


def noted(entry: Entry) -> Entry:
    """A line of the journal without what is the store's own affair."""
    return replace(entry, key="", job=visible(entry.job))


def in_order(entry: Entry) -> tuple[int, str, int, bool, str]:
    return entry.at, entry.job.id, entry.job.fence, not entry.ran, str(noted(entry))


async def as_list(answer: Awaitable[Sequence[T]]) -> list[T]:
    return list(await answer)


async def trim(store: Store, number: int) -> None:
    """Drop the same lines of any store: which of one moment comes first is left open."""
    entries = await store.read_journal(MANY)
    await store.trim_journal(sorted(entries, key=in_order)[:number])


def place(job: Job) -> tuple[State, int | str]:
    """What a listing sorts by, as far as it is promised; pending jobs are compared apart."""
    match job.state:
        case State.SCHEDULED | State.RETRY:
            return job.state, job.due
        case State.ACTIVE | State.BLOCKED:
            return job.state, job.id
        case State.PENDING:
            return job.state, ""
    return job.state, job.finished_at or 0


@cache
def is_reachable(before: State, after: State) -> bool:
    """Whether one call may take a job there: on the way it may enter its lane and get a slot."""
    seen = {before}
    for _ in range(3):
        seen |= {State.PENDING} & {mid for mid in State for one in seen if is_legal(one, mid)}
        seen |= {State.BLOCKED} & {mid for mid in State for one in seen if is_legal(one, mid)}
    return before is after or any(is_legal(one, after) for one in seen)


def line(jobs: Sequence[Job], queue: str) -> list[str]:
    return [job.id for job in jobs if job.queue == queue]


def one_release(pairs: Sequence[tuple[Grant, Transition]]) -> list[tuple[Grant, Transition]]:
    """Without the second job that goes to the front: which of two comes first is left open."""
    front = [grant for grant, move in pairs if _may_go_to_the_front(move)]
    return [
        (grant, move)
        for grant, move in pairs
        if not _may_go_to_the_front(move) or grant is front[0]
    ]


def _may_go_to_the_front(move: Transition) -> bool:
    return move.state is State.PENDING or move.awaits is not None


def by_id(jobs: Sequence[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: job.id)
