"""What a worker does for workflows: brings results to the jobs that need them, and judges the end.

The job that stands for a workflow waits for those of its jobs that nobody else waits for. When it
runs, jobs that were added, or replayed, may still be on their way: then it sleeps, and a job that
waits for them wakes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ..core.codec import Codecs, decode_result
from ..core.context import Context
from ..core.model import Job, NewJob, Spec
from ..core.retry import RetryPolicy
from ..core.states import LIVE, State
from ..definition import Definition, define
from ..errors import Fatal, Snooze, StoreUnavailable, UnknownJob, UsageError
from ..members import added, get_all
from ..middleware import Stack
from ..stores.contract import Store
from ..workflows.outline import JUDGE, unpack
from .hand import Claim
from .membership import Membership

WAKE: Final = "windlass.workflow.wake"
LONGEST_SLEEP: Final = 3600.0
"""Seconds after which a workflow is looked at again even if nothing woke it."""

SOON: Final = 1.0
LOOKS: Final = 20
LOOK: Final = 0.02
OUTAGE: Final = 1.0
POLICY: Final = RetryPolicy()


class WorkflowFailed(Fatal):
    """Some job of a workflow did not complete."""


class StoredWorkflows:
    """The workflows of a worker's jobs, in its store."""

    def __init__(self, store: Store, codecs: Codecs, middleware: Stack) -> None:
        self._store = store
        self._codecs = codecs
        self._middleware = middleware
        self._loop = asyncio.get_running_loop()
        self.memberships: dict[Claim, Membership] = {}
        """those that running attempts have asked for"""
        self.tasks: Mapping[str, Definition] = {
            JUDGE: define(self._judge, JUDGE, POLICY, takes_context=True),
            WAKE: define(self._wake, WAKE, POLICY, takes_context=True),
        }

    def of(self, job: Job) -> Membership:
        if not job.spec.workflow:
            raise UsageError(f"Job {job.id} belongs to no workflow.")
        claim = (job.id, job.fence)
        if claim not in self.memberships:
            self.memberships[claim] = Membership(
                job, self._store, self._codecs, self._middleware, self._loop
            )
        return self.memberships[claim]

    async def inputs(self, job: Job) -> Sequence[Any]:
        """The results that are the first arguments of a job."""
        ids = job.spec.parents[: job.spec.inputs]
        try:
            jobs = await get_all(self._store, ids)
        except StoreUnavailable as error:
            # The handler has not begun: this is no attempt of its.
            raise Snooze(OUTAGE, reason=f"the store did not answer: {error}") from error
        results = [self._result(job, id, jobs.get(id)) for id in ids]
        return [results] if job.spec.gathers else results

    def _result(self, job: Job, id: str, parent: Job | None) -> Any:
        if parent is None and not job.spec.runs_anyway:
            raise Fatal(
                f"the result of job {id} is needed and is not there any more; give the steps "
                "before this one a longer keep"
            )
        if parent is None or parent.result is None:
            return None
        return decode_result(self._codecs.get(parent.spec.content_type), parent.result)

    async def _judge(
        self, ctx: Context, number: int, success: bytes | None, failure: bytes | None
    ) -> Any:
        """Complete with the result of the workflow, or fail; callbacks go out before that."""
        job = ctx.job
        jobs = await self._all(job, number)
        live = [id for id, each in jobs.items() if each is not None and each.state in LIVE]
        if live:
            await self._sleep(job, live)
        failed = [id for id, each in jobs.items() if each is None or each.state is not DONE]
        if failed:
            await self._call_back(failure)
            raise WorkflowFailed(_reason(failed, jobs[failed[0]]))
        results = await self.inputs(job)
        await self._call_back(success)
        return results[0] if results else None

    async def _all(self, job: Job, number: int) -> dict[str, Job | None]:
        """Those that the workflow waits for, and all that were added."""
        found = await get_all(self._store, job.spec.parents)
        jobs: dict[str, Job | None] = {id: found.get(id) for id in job.spec.parents}
        known = -1
        # Until nothing is new: one that has ended meanwhile may have added another before.
        while len(jobs) > known:
            known = len(jobs)
            async for each in added(self._store, job.id, number):
                jobs[each.id] = each
        return jobs

    async def _sleep(self, job: Job, live: Sequence[str]) -> None:
        spec = Spec(WAKE, job.spec.payload, job.spec.content_type, keep=0, workflow=job.id)
        spec = replace(spec, parents=tuple(live), runs_anyway=True)
        wake = NewJob(f"{job.id}~{job.fence}", spec, job.queue, job.priority)
        try:
            await self._store.insert([wake])
        except UnknownJob:  # deleted just now
            raise Snooze(SOON) from None
        raise Snooze(LONGEST_SLEEP, reason="some jobs of the workflow have not ended")

    async def _wake(self, ctx: Context, *_payload: Any) -> None:
        """Let the job that stands for the workflow look again."""
        id = ctx.job.spec.workflow
        for _ in range(LOOKS):
            judge = (await self._store.get([id])).get(id)
            if judge is None or judge.state is not State.ACTIVE:
                await self._store.reschedule([id])
                return
            # It has not gone to sleep yet, which it is about to.
            await asyncio.sleep(LOOK)
        raise Snooze(SOON, reason="the workflow is just being looked at")

    async def _call_back(self, packed: bytes | None) -> None:
        """Enqueue a callback. Its id is the workflow's own, so that there is never another."""
        if packed is not None:
            await self._store.insert([unpack(packed)])


DONE: Final = State.COMPLETED


def _reason(failed: Sequence[str], first: Job | None) -> str:
    number = f"{len(failed):,} jobs" if len(failed) > 1 else "a job"
    text = f"{number} of the workflow did not complete: {failed[0]}"
    if first is None:
        return f"{text} is not there any more"
    error = f" ({first.error})" if first.error else ""
    return f"{text} of {first.task} is {first.state}{error}"
