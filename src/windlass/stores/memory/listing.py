"""Listing jobs page by page, and the oldest ones. Looks at every job each time, to be plain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ...core.model import Job, JobQuery, Page, brief, size_of
from ...core.states import FINISHED, State
from ..contract import PAGE_BYTES, SCAN_BATCH
from ..cursor import KEY_TYPES, Cursor, Key, plan
from .shelf import Shelf

BY_ID: Final = {state: (*types, str) for state, types in KEY_TYPES.items() if types[-1] is int}
TYPES: Final = {**KEY_TYPES, **BY_ID}
"""By the id at last: outside of the line, jobs of groups may have the same place."""


def find(shelf: Shelf, query: JobQuery) -> Page:
    found: list[Job] = []
    size = 0
    seen: Cursor | None = None
    for scanned, (cursor, job) in enumerate(_listing(shelf, query)):
        if len(found) == query.limit or scanned == SCAN_BATCH or size >= PAGE_BYTES:
            return Page(found, seen.encode() if seen else None)
        seen = cursor
        if query.matches(job):
            found.append(brief(job) if query.brief else job)
            size += size_of(found[-1])
    return Page(found)


def _listing(shelf: Shelf, query: JobQuery) -> Iterator[tuple[Cursor, Job]]:
    for state, after in plan(query, TYPES):
        jobs = [job for job in shelf.jobs.values() if job.state is state]
        down = state in FINISHED
        keyed = [(_key(job, shelf.place[job.id]), job) for job in jobs]
        for key, job in sorted(keyed, reverse=down):
            if after is None or (key < after if down else key > after):
                yield Cursor(state, key), job


def _key(job: Job, place: int) -> Key:
    match job.state:
        case State.PENDING:
            return job.queue, -job.priority, place, job.id
        case State.SCHEDULED | State.RETRY:
            return job.queue, job.due, place, job.id
        case State.ACTIVE:
            return job.fence, job.id
        case State.BLOCKED:
            return (job.id,)
    return job.finished_at or 0, place, job.id


def oldest(shelf: Shelf, queues: Sequence[str]) -> Mapping[str, int]:
    """For each queue, the earliest `due` of those that stand first in their priority."""
    asked = frozenset(queues)
    first: dict[tuple[str, int], tuple[int, int]] = {}
    for job in shelf.jobs.values():
        if job.state is State.PENDING and job.queue in asked:
            line = (job.queue, job.priority)
            stands = (shelf.place[job.id], job.due)
            first[line] = min(stands, first.get(line, stands))
    found: dict[str, int] = {}
    for (queue, _), (_, due) in first.items():
        found[queue] = min(due, found.get(queue, due))
    return found
