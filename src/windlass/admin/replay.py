"""Replaying: jobs by themselves, and those of workflows together with the whole of it.

A workflow is dead when one of its jobs is: with that one those come back that were called off
because of it, and the job that stands for the workflow. By themselves they would do nothing, or
die again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..core.codec import Codecs
from ..core.model import Job
from ..core.states import REPLAYABLE
from ..errors import UnknownJob, WrongState
from ..members import get_brief
from ..stores.contract import Store
from ..workflows.outline import member_id, step_of
from .workflow import retry_workflow


def workflow_of(job: Job) -> str:
    """The workflow that comes back with a job, "" for none: its callbacks come back alone."""
    workflow, id = job.spec.workflow, step_of(job.id)
    if not workflow or id == workflow:
        return workflow
    number = id.removeprefix(member_id(workflow, 0)[:-1])
    return workflow if number != id and number.isdigit() else ""


async def replay(store: Store, codecs: Codecs, ids: Sequence[str]) -> frozenset[str]:
    """Make dead or cancelled jobs pending again; those of these ids that are."""
    alone: list[str] = []
    workflows: dict[str, list[str]] = {}
    for id, job in (await get_brief(store, ids)).items():
        workflow = workflow_of(job)
        (workflows.setdefault(workflow, []) if workflow else alone).append(id)
    done = await store.replay(alone) if alone else frozenset()
    for workflow, members in workflows.items():
        done |= await _replay_whole(store, codecs, workflow, members)
    return done


async def _replay_whole(
    store: Store, codecs: Codecs, workflow: str, members: Iterable[str]
) -> frozenset[str]:
    ids = list(members)
    try:
        await retry_workflow(store, codecs, workflow)
    except (UnknownJob, WrongState):
        # The workflow was deleted, or has nothing to replay but the job that stands for it.
        return await store.replay(ids)
    after = await get_brief(store, ids)
    return frozenset(id for id, job in after.items() if job.state not in REPLAYABLE)
