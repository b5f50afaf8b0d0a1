"""Listing jobs, a bounded page at a time."""

from __future__ import annotations

from typing import Final

from ...core.model import Job, JobQuery, Page, brief, size_of
from ...core.states import FINISHED, State
from ..contract import PAGE_BYTES, SCAN_BATCH
from ..cursor import KEY_TYPES, Cursor, Key, plan
from .operation import Operation, Row, Statement
from .rows import TOP_PRIORITY, to_job

FIRST_STEP: Final = 50
LARGEST_STEP: Final = 200
"""Jobs that one statement looks at, at first and at the most: each may have some megabytes."""

LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
LAST: Final = "\U0010ffff"
"""Behind any queue and any id."""

IN_LINE: Final = (State.PENDING, State.SCHEDULED, State.RETRY)
BY_ID: Final = {state: (*KEY_TYPES[state], str) for state in (*FINISHED, *IN_LINE)}
TYPES: Final = {**KEY_TYPES, **BY_ID}
"""By the id at last: jobs of groups may have the same place, outside of the line, or in it where
two can give out places at one moment."""


def find(query: JobQuery) -> Operation[Page]:
    found: list[Job] = []
    scanned = size = read = 0
    step = FIRST_STEP
    seen: Cursor | None = None
    for state, start in plan(query, TYPES):
        after, more = start, True
        while more:
            room = SCAN_BATCH - scanned if may_skip(query, state) else query.limit - len(found)
            most = min(room, step) + 1
            name = "find_finished" if state in FINISHED else f"find_{state}"
            rows = yield Statement(name, _params(query, state, after, most))
            for row in rows:
                if len(found) == query.limit or scanned == SCAN_BATCH or size >= PAGE_BYTES:
                    return Page(found, seen.encode() if seen else None)
                scanned += 1
                job = to_job(row)
                read += size_of(job)
                after = _key(state, row, job)
                seen = Cursor(state, after)
                if query.matches(job):
                    found.append(brief(job) if query.brief else job)
                    size += size_of(found[-1])
            more = len(rows) == most
            # What is read at once is no more than about a page either, brief or not.
            if scanned:
                step = min(PAGE_BYTES * scanned // read + 1, LARGEST_STEP)
    return Page(found)


def may_skip(query: JobQuery, state: State) -> bool:
    """Whether some rows may not match. An index leads to those of a queue that wait for a run."""
    return query.task is not None or (query.queue is not None and state not in IN_LINE)


def _params(query: JobQuery, state: State, after: Key | None, limit: int) -> dict[str, object]:
    """Where to go on and where to end: `first` to `fourth` bound the key from before."""
    params: dict[str, object] = {"state": state.value, "limit": limit}
    if state in IN_LINE:
        queue, middle, place, *id = after or (query.queue or "", LOWEST, LOWEST)
        # The key has -priority, the column rank = 100 - priority.
        shift = TOP_PRIORITY if state is State.PENDING and after else 0
        params |= {"first": queue, "second": int(middle) + shift, "third": place}
        params["fourth"], params["last"] = id[0] if id else "", query.queue or LAST
    elif state is State.ACTIVE:
        params["first"], params["second"] = after or (LOWEST, "")
    elif state is State.BLOCKED:
        params["first"] = after[0] if after else ""
    else:
        params["first"], params["second"], params["third"] = after or (HIGHEST, HIGHEST, LAST)
    return params


def _key(state: State, row: Row, job: Job) -> Key:
    place: int = row[-1]
    match state:
        case State.PENDING:
            return job.queue, -job.priority, place, job.id
        case State.SCHEDULED | State.RETRY:
            return job.queue, job.due, place, job.id
        case State.ACTIVE:
            return job.fence, job.id
        case State.BLOCKED:
            return (job.id,)
    return job.finished_at or 0, place, job.id
