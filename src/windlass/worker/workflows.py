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

from ..core.codec import MSGPACK, Codec, Codecs, encode_call, encode_result
from ..core.context import Context
from ..core.dependents import ORPHANED
from ..core.model import Job, NewJob, Spec
from ..core.result import JUDGE, result_of
from ..core.retry import RetryPolicy
from ..core.states import LIVE, State
from ..definition import Definition, define
from ..errors import Fatal, Snooze, StoreUnavailable, UnknownJob, UsageError
from ..members import added, get_all, get_brief, is_spread, members, spread_over
from ..stores.contract import Store
from ..task import Registry
from ..workflows.outline import KEYS, WAKE, is_keyed_late, keys_id, unpack, with_keys
from .hand import Claim
from .membership import Membership
from .step_keys import StepKeys

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

    def __init__(self, store: Store, codecs: Codecs, registry: Registry) -> None:
        self._store = store
        self._codecs = codecs
        self._middleware = registry.middleware
        self._keys = StepKeys(store, codecs, registry, self.inputs)
        self._loop = asyncio.get_running_loop()
        self.memberships: dict[Claim, Membership] = {}
        """those that running attempts have asked for"""
        self.tasks: Mapping[str, Definition] = {
            JUDGE: define(self._judge, JUDGE, POLICY, takes_context=True),
            WAKE: define(self._wake, WAKE, POLICY, takes_context=True),
            KEYS: define(self._give_keys, KEYS, POLICY, takes_context=True),
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

    def codec(self, job: Job) -> Codec:
        """What reads the arguments of a job of ours; one that computes keys has none to read."""
        return MSGPACK if job.spec.task == KEYS else self._codecs.get(job.spec.content_type)

    async def inputs(self, job: Job) -> Sequence[Any]:
        """The results that are the first arguments of a job."""
        ids = job.spec.parents[: job.spec.inputs]
        try:
            jobs = await get_all(self._store, ids)
            results = [await self._result(job, id, jobs.get(id)) for id in ids]
        except StoreUnavailable as error:
            # The handler has not begun: this is no attempt of its.
            raise Snooze(OUTAGE, reason=f"the store did not answer: {error}") from error
        return [results] if job.spec.gathers else results

    async def _result(self, job: Job, id: str, parent: Job | None) -> Any:
        if parent is None and not job.spec.runs_anyway:
            raise Fatal(
                f"the result of job {id} is needed and is not there any more; give the steps "
                "before this one a longer keep"
            )
        if parent is not None and is_spread(parent):
            return await self._spread(parent)
        return None if parent is None else result_of(self._codecs, parent)

    async def _spread(self, judge: Job) -> Sequence[Any]:
        try:
            return [
                result_of(self._codecs, job)
                for job in await spread_over(self._store, self._codecs, judge)
            ]
        except UnknownJob as error:
            raise Fatal(str(error)) from None

    async def _judge(
        self, ctx: Context, number: int, success: bytes | None, failure: bytes | None
    ) -> Any:
        """Complete with the result of the workflow, or fail; callbacks go out before that."""
        job = ctx.job
        jobs = await self._all(job, number)
        live = [id for id, each in jobs.items() if each is not None and each.state in LIVE]
        if live:
            await self._sleep(job, live)
        failed = {id: each for id, each in jobs.items() if each is None or each.state is not DONE}
        if failed:
            reason = await self._reason(job.id, number, failed)
            await self._call_back(failure)
            raise WorkflowFailed(reason)
        results = await self.inputs(job)
        await self._call_back(success)
        if job.spec.gathers and not self._fits(job, results[0]):
            # Whoever asks for it gathers it from the jobs that have it: see `is_spread`.
            return None
        return results[0] if results else None

    def _fits(self, job: Job, results: Sequence[Any]) -> bool:
        """Whether the results of the steps can be kept together as that of the workflow."""
        codec = self._codecs.get(job.spec.content_type)
        return len(encode_result(codec, results)) <= self._codecs.limit

    async def _all(self, job: Job, number: int) -> dict[str, Job | None]:
        """Those that the workflow waits for, and all that were added."""
        found = await get_brief(self._store, job.spec.parents)
        jobs: dict[str, Job | None] = {id: found.get(id) for id in job.spec.parents}
        known = -1
        # Until nothing is new: one that has ended meanwhile may have added another before.
        while len(jobs) > known:
            known = len(jobs)
            async for each in added(self._store, job.id, number):
                jobs[each.id] = each
        return jobs

    async def _sleep(self, job: Job, live: Sequence[str]) -> None:
        id, codec = f"{job.id}~{job.fence}", self._codecs.get(job.spec.content_type)
        payload = encode_call(codec, (), {}, id, WAKE)
        spec = Spec(WAKE, payload, codec.name, keep=0, workflow=job.id)
        spec = replace(spec, parents=tuple(live), runs_anyway=True)
        wake = NewJob(id, spec, job.queue, job.priority)
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

    async def _give_keys(self, ctx: Context) -> None:
        """Compute the keys of a step before it is let go."""
        await self._keys.give(ctx.job)

    async def _reason(self, id: str, number: int, failed: Mapping[str, Job | None]) -> str:
        """What failed first of all, and not what was called off because of it."""
        ended = [job async for job in members(self._store, id, number) if job.state in FAILED]
        ended += await self._keys_of(ended)
        roots = [job for job in ended if _failed_itself(job)]
        gone = [id for id, job in failed.items() if job is None]
        total = len(roots) + len(gone)
        count = f"{total:,} jobs of the workflow did not complete, the first" if total > 1 else (
            "a job of the workflow did not complete"
        )  # fmt: skip
        if not roots:
            return f"{count}: {gone[0] if gone else next(iter(failed))} is not there any more"
        job = min(roots, key=lambda job: (job.state is not State.DEAD, job.finished_at or 0))
        error = f" ({job.error})" if job.error else ""
        return f"{count}: {job.id} of {job.task} is {job.state}{error}"

    async def _keys_of(self, steps: Sequence[Job]) -> Sequence[Job]:
        """The jobs that could not compute the keys of some steps."""
        ids = [keys_id(job.id) for job in steps if is_keyed_late(job.spec)]
        for _ in range(LOOKS):
            found = await get_all(self._store, ids) if ids else {}
            if all(job.state is not State.ACTIVE for job in found.values()):
                break
            # It has called its step off, and is about to say why.
            await asyncio.sleep(LOOK)
        return [job for job in found.values() if job.state in FAILED]

    async def _call_back(self, packed: bytes | None) -> None:
        """Enqueue a callback. Its id is the workflow's own, so that there is never another."""
        if packed is not None:
            await self._store.insert([*with_keys([unpack(packed)])])


DONE: Final = State.COMPLETED
FAILED: Final = (State.DEAD, State.CANCELLED)


def _failed_itself(job: Job) -> bool:
    """Whether a job has failed, or was called off by somebody, and not because of another."""
    orphan = job.error is not None and job.error.kind == ORPHANED
    return job.state in FAILED and not orphan
