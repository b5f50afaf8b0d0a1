"""Workflows: their jobs, who waits for whom, and how they end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from ...admin.record import FullRecord, JobRecord, record
from ...admin.workflow import cancel_workflow, jobs_of, retry_workflow
from ...client import get_job
from ...core.model import JobQuery, brief, size_of
from ...core.result import JUDGE
from ...core.states import State
from ...members import declared, members
from ...stores.contract import PAGE_BYTES
from .call import Call
from .jobs import JobPage, Limit, asked_queue, id_in, listed
from .shown import shown
from .sieve import Filters, sieve_of

MOST_SHOWN: Final = 2_000
STATES: Final = (
    State.ACTIVE,
    State.BLOCKED,
    State.RETRY,
    State.DEAD,
    State.CANCELLED,
    State.COMPLETED,
    State.SCHEDULED,
    State.PENDING,
)
"""Those first in which workflows stay: among a million jobs that wait there is hardly one."""


class WorkflowsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which workflows to list."""

    state: tuple[State, ...] = ()
    queue: str | None = None
    limit: Limit = 100
    cursor: str | None = None


class WorkflowView(msgspec.Struct, frozen=True):
    """A workflow: the job that stands for it, and its jobs, each with what it depends on."""

    workflow: FullRecord
    jobs: Sequence[JobRecord]
    complete: bool
    """whether these are all; of a workflow that is too large to be shown they are the first"""


class Retried(msgspec.Struct, frozen=True):
    """How many jobs were replayed."""

    replayed: int


async def list_workflows(call: Call[WorkflowsQuery, None]) -> JobPage:
    """List workflows by the jobs that stand for them."""
    asked = call.query
    query = JobQuery(
        states=asked.state or STATES,
        queue=asked_queue(asked.queue),
        task=JUDGE,
        limit=asked.limit,
        cursor=asked.cursor,
    )
    return await listed(call.store, query, sieve_of(call.site, Filters()))


async def get_workflow(call: Call[None, None]) -> WorkflowView:
    """Show a workflow and its jobs."""
    id = id_in(call)
    codecs, jobs, size = call.site.app.codecs, list[JobRecord](), 0
    judge = await get_job(call.store, id)
    async for job in members(call.store, id, declared(codecs, judge)):
        if len(jobs) == MOST_SHOWN or size >= PAGE_BYTES:
            return WorkflowView(shown(call.site, judge), jobs, False)
        jobs.append(record(job))
        size += size_of(brief(job))
    return WorkflowView(shown(call.site, judge), jobs, True)


async def cancel_whole(call: Call[None, None]) -> JobRecord:
    """Call off a workflow and all its jobs."""
    id = id_in(call)
    await jobs_of(call.store, call.site.app.codecs, id)
    await cancel_workflow(call.store, call.site.app.codecs, id)
    call.audit(id=id)
    return record(await get_job(call.store, id))


async def retry_whole(call: Call[None, None]) -> Retried:
    """Replay what is dead or cancelled of a workflow."""
    id = id_in(call)
    number = await retry_workflow(call.store, call.site.app.codecs, id)
    call.audit(id=id, replayed=number)
    return Retried(number)
