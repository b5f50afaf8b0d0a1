"""Listing jobs, a bounded page at a time."""

from __future__ import annotations

from typing import Final

from ...core.model import Job, JobQuery, Page
from ...core.states import FINISHED, State
from ..contract import SCAN_BATCH
from ..cursor import Cursor, Key, plan
from .operation import Operation, Row, Statement
from .rows import TOP_PRIORITY, to_job

LOWEST: Final = -(2**63)
HIGHEST: Final = 2**63 - 1
LAST_QUEUE: Final = "\U0010ffff"


def find(query: JobQuery) -> Operation[Page]:
    found: list[Job] = []
    scanned = 0
    seen: Cursor | None = None
    for state, after in plan(query):
        room = SCAN_BATCH - scanned if query.filters else query.limit - len(found)
        name = "find_finished" if state in FINISHED else f"find_{state}"
        rows = yield Statement(name, _params(query, state, after, room + 1))
        for row in rows:
            if len(found) == query.limit or scanned == SCAN_BATCH:
                return Page(found, seen.encode() if seen else None)
            scanned += 1
            job = to_job(row)
            seen = Cursor(state, _key(state, row, job))
            if query.matches(job):
                found.append(job)
    return Page(found)


def _params(query: JobQuery, state: State, after: Key | None, limit: int) -> dict[str, object]:
    """Where to go on and where to end: `first`, `second`, `third` bound the key from before."""
    params: dict[str, object] = {"state": state.value, "limit": limit}
    if state in (State.PENDING, State.SCHEDULED, State.RETRY):
        queue, middle, place = after or (query.queue or "", LOWEST, LOWEST)
        # The key has -priority, the column rank = 100 - priority.
        shift = TOP_PRIORITY if state is State.PENDING and after else 0
        params |= {"first": queue, "second": int(middle) + shift, "third": place}
        params["last"] = query.queue or LAST_QUEUE
    elif state is State.ACTIVE:
        params["first"], params["second"] = after or (LOWEST, "")
    elif state is State.BLOCKED:
        params["first"] = after[0] if after else ""
    else:
        params["first"], params["second"] = after or (HIGHEST, HIGHEST)
    return params


def _key(state: State, row: Row, job: Job) -> Key:
    place: int = row[-1]
    match state:
        case State.PENDING:
            return job.queue, -job.priority, place
        case State.SCHEDULED | State.RETRY:
            return job.queue, job.due, place
        case State.ACTIVE:
            return job.fence, job.id
        case State.BLOCKED:
            return (job.id,)
    return job.finished_at or 0, place
