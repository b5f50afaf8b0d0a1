"""The jobs of a workflow, found in the store by what they are called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final

from .core.codec import Codecs, decode_call
from .core.model import Job, brief
from .core.result import JUDGE, refuse_no_workflow
from .core.states import State
from .errors import UnknownJob
from .stores.contract import Store
from .workflows.outline import member_id

BATCH: Final = 500
FEW: Final = 64
"""So many jobs are read at a time where each may be as large as a job can be."""

WINDOW: Final = 50
"""Among added jobs, so many may be gone, kept no longer, before the list is taken for over."""


async def in_parts(store: Store, ids: Sequence[str]) -> AsyncIterator[dict[str, Job | None]]:
    """Any number of jobs in their order, so few at a time that large ones can be held.

    None stands for one that is not there.
    """
    for start in range(0, len(ids), FEW):
        part = ids[start : start + FEW]
        found = await store.get(part)
        yield {id: found.get(id) for id in part}


async def get_brief(store: Store, ids: Sequence[str]) -> dict[str, Job]:
    """Any number of jobs without what may be large: payloads, results and checkpoints."""
    found: dict[str, Job] = {}
    async for part in in_parts(store, ids):
        found |= {id: brief(job) for id, job in part.items() if job is not None}
    return found


async def get_all(store: Store, ids: Sequence[str]) -> dict[str, Job]:
    """Any number of jobs, in bounded steps; those that are not there are left out."""
    found: dict[str, Job] = {}
    for start in range(0, len(ids), BATCH):
        found |= await store.get(ids[start : start + BATCH])
    return found


def is_spread(job: Job) -> bool:
    """Whether a job stands for a workflow whose results together were too large to be kept so.

    Then they are with the jobs that it has gathered them from: its first parents.
    """
    is_judge = job.task == JUDGE and job.state is State.COMPLETED
    return is_judge and job.spec.gathers and job.result is None


async def spread_over(store: Store, codecs: Codecs, judge: Job) -> Sequence[Job]:
    """The jobs that have the results of a workflow, in their order; `UnknownJob` if one is gone."""
    refuse_no_workflow(codecs, judge)
    ids = judge.spec.parents[: judge.spec.inputs]
    found = await get_all(store, ids)
    for id in ids:
        if id not in found:
            raise UnknownJob(
                f"The results of workflow {judge.id} are with its jobs, and {id} is not there any "
                "more: give its steps a longer keep."
            )
    return [found[id] for id in ids]


def declared(codecs: Codecs, judge: Job) -> int:
    """How many jobs a workflow was enqueued with, by the job that stands for it."""
    if judge.task != JUDGE:
        raise UnknownJob(f"{judge.id} is a job, not a workflow.")
    codec = codecs.get(judge.spec.content_type)
    args, _ = decode_call(codec, judge.spec.payload, judge.id, judge.task)
    number: int = args[0]
    return number


async def members(store: Store, workflow: str, number: int) -> AsyncIterator[Job]:
    """The jobs that a workflow was enqueued with, and those that it has added to itself."""
    for first in range(1, number + 1, BATCH):
        for job in (
            await _members(store, workflow, first, min(BATCH, number + 1 - first))
        ).values():
            yield job
    async for job in added(store, workflow, number):
        yield job


async def added(store: Store, workflow: str, number: int) -> AsyncIterator[Job]:
    """The jobs after the first so many."""
    while True:
        found = await _members(store, workflow, number + 1, WINDOW)
        if not found:
            return
        for job in found.values():
            yield job
        number += WINDOW


async def _members(store: Store, workflow: str, first: int, count: int) -> dict[str, Job]:
    """So many jobs of a workflow from the first on. Any job can have such an id."""
    ids = [member_id(workflow, number) for number in range(first, first + count)]
    found = await store.get(ids)
    return {id: found[id] for id in ids if id in found and found[id].spec.workflow == workflow}
