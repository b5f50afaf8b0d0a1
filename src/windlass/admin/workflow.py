"""A workflow as an app offers it: enqueued, waited for, called off, tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypedDict, TypeVar, Unpack

from msgspec.structs import replace

from ..client import cancel_job, get_job
from ..core.codec import Codecs, encode_call
from ..core.ids import new_id
from ..core.model import Job, NewJob, Receipt
from ..core.result import JUDGE, result_of
from ..core.states import LIVE, REPLAYABLE, State
from ..core.step import Part, Step
from ..errors import CorruptRecord, InvalidOption, UsageError, WrongState
from ..handle import JobHandle
from ..members import BATCH, declared, get_all, is_spread, members, spread_over
from ..stores.contract import Store
from ..task import Wire
from ..workflows.flow import Plan, plan
from ..workflows.graph import Node
from ..workflows.outline import (
    KEYS,
    Callbacks,
    Outline,
    checked_workflow_id,
    failure_id,
    is_keyed_late,
    judge,
    keys_id,
    keys_job,
    member_id,
    outline,
    with_keys,
)

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

WITH_ITS_JOBS: Final = object()
"""In the place of a result that has to be gathered."""


class WorkflowOptions(TypedDict, total=False):
    """What `enqueue_workflow` takes."""

    id: str | None
    """enqueuing it again changes nothing"""
    on_success: Step[Any] | None
    on_failure: Step[Any] | None


class Draft(NamedTuple):
    """A workflow that is ready to be stored: its jobs, the last of which stands for it."""

    plan: Plan
    made: Outline
    jobs: Sequence[NewJob]

    @property
    def id(self) -> str:
        return self.jobs[-1].id

    def of_steps(self, receipts: Sequence[Receipt]) -> tuple[list[NewJob], list[Receipt]]:
        """The jobs of the steps, and what became of them: what middleware is told of."""
        pairs = zip(self.jobs[:-1], receipts[:-1], strict=True)
        own = [(job, receipt) for job, receipt in pairs if job.spec.task != KEYS]
        return [job for job, _ in own], [receipt for _, receipt in own]

    def convert(self, value: Any, binary: bool) -> Any:
        """A decoded result as the types that the steps return."""
        nodes, gathers, _ = self.plan.ends
        if gathers:
            pairs = zip(nodes, value, strict=True)
            return [node.step.convert(each, binary) for node, each in pairs]
        return nodes[0].step.convert(value, binary) if nodes else None

    def convert_each(self, values: Sequence[tuple[Any, bool]]) -> Any:
        """The same for results that come one by one, each with whether its codec is binary."""
        pairs = zip(self.plan.ends.nodes, values, strict=True)
        return [node.step.convert(value, binary) for node, (value, binary) in pairs]


def draft(wire: Wire, part: Part[Any], **options: Unpack[WorkflowOptions]) -> Draft:
    """Check everything about a workflow and make its jobs."""
    planned = plan(part)
    id = options.get("id")
    callbacks = options.get("on_success"), options.get("on_failure")
    name = new_id() if id is None else checked_workflow_id(id)
    drawn = outline(planned, name, *callbacks, wire.codecs, fresh=id is None)
    made = _through_middleware(wire, drawn)
    codec = wire.codecs.default

    def encode(*args: Any) -> bytes:
        return encode_call(codec, args, {}, name, JUDGE)

    last = judge(planned, made, name, encode, codec.name)
    return Draft(planned, made, [*with_keys(made.members), last])


def _through_middleware(wire: Wire, made: Outline) -> Outline:
    present = [job for job in made.callbacks if job is not None]
    asked = [*made.members, *present]
    jobs = wire.middleware.before(asked)
    for before, after in zip(asked, jobs, strict=True):
        if before.id != after.id:
            raise InvalidOption(f"A middleware cannot change the id of {before.id}, a workflow's.")
    rest = iter(jobs[len(made.members) :])
    callbacks = Callbacks(*(None if job is None else next(rest) for job in made.callbacks))
    return made._replace(members=[*jobs[: len(made.members)]], callbacks=callbacks)


class WorkflowHandle(JobHandle[R_co]):
    """A workflow that was enqueued; `R` is what it comes to.

    Its state, its error and its result are those of the job that has its id. `duplicate` says
    that a workflow of this id was there before.
    """

    __slots__ = ("_draft",)

    _noun = "workflow"

    def __init__(
        self,
        wire: Wire,
        id: str,
        convert: Callable[[Any, bool], R_co],
        duplicate: bool = False,
        draft: Draft | None = None,
    ) -> None:
        super().__init__(wire.client, wire.codecs, id, convert, duplicate, JUDGE)
        self._draft = draft

    def __repr__(self) -> str:
        return f"<WorkflowHandle {self.id}{' duplicate' if self.duplicate else ''}>"

    def handle(self, of: Node[R] | Step[R]) -> JobHandle[R]:
        """The handle of the job that a node of a Dag has become, or a step where it came first."""
        if self._draft is None:
            raise UsageError("Only the handle that enqueuing returned knows nodes and steps.")
        for node, number in self._draft.made.numbers.items():
            if node is of or node.step is of:
                id = member_id(self.id, number)
                return JobHandle(
                    self._client, self._codecs, id, node.step.convert, task=node.step.job.spec.task
                )
        raise InvalidOption(f"{of!r} is not in this workflow.")

    def result(self, timeout: float | None = None) -> R_co:
        """Wait for the workflow's end and give its result, or raise what it came to.

        Results that are too large together to be kept as one are read from the jobs that have
        them: they have to be kept until then.
        """
        result: Any = super().result(timeout)
        if result is not WITH_ITS_JOBS:
            return result  # type: ignore[no-any-return]
        return self._block(self._gathered, "result(…)")

    async def aresult(self, timeout: float | None = None) -> R_co:
        result: Any = await super().aresult(timeout)
        if result is not WITH_ITS_JOBS:
            return result  # type: ignore[no-any-return]
        return await self._gathered(await self._client.store())

    def jobs(self) -> Sequence[Job]:
        """Its jobs as the store has them now, those last that were added; none that is gone."""
        return self._block(self._jobs, "jobs()")

    async def ajobs(self) -> Sequence[Job]:
        """The same for async code."""
        return await self._jobs(await self._client.store())

    def wait(self, timeout: float | None = None) -> State:
        """Wait for its end, however it ends; its state then."""
        return self._wait(timeout, "wait(…)", "await_(…)").state

    async def await_(self, timeout: float | None = None) -> State:
        """The same for async code."""
        return (await self._await(timeout)).state

    def cancel(self) -> None:
        """Call off the workflow and all its jobs; no callback is called.

        `WrongState` if it is over already.
        """
        self._block(self._cancel, "cancel()")

    def retry(self) -> int:
        """Replay what is dead or cancelled, parents first, and with it the workflow; how many.

        What is completed stays so. `WrongState` if there is nothing to replay.
        """
        return self._block(self._retry, "retry()")

    async def aretry(self) -> int:
        """The same for async code."""
        return await self._retry(await self._client.store())

    def _outcome(self, job: Job) -> R_co:
        if is_spread(job):
            return WITH_ITS_JOBS  # type: ignore[return-value]
        return super()._outcome(job)

    async def _gathered(self, store: Store) -> R_co:
        jobs = await spread_over(store, self._codecs, await get_job(store, self.id))
        values = [
            (result_of(self._codecs, job), self._codecs.get(job.spec.content_type).binary)
            for job in jobs
        ]
        if self._draft is not None:
            return self._draft.convert_each(values)  # type: ignore[no-any-return]
        return self._convert([value for value, _ in values], True)

    async def _jobs(self, store: Store) -> Sequence[Job]:
        return await jobs_of(store, self._codecs, self.id)

    async def _cancel(self, store: Store) -> None:
        await cancel_workflow(store, self._codecs, self.id)

    async def _retry(self, store: Store) -> int:
        return await retry_workflow(store, self._codecs, self.id)


async def jobs_of(store: Store, codecs: Codecs, id: str) -> Sequence[Job]:
    """The jobs of a workflow, those last that were added; none that is gone."""
    judge = await get_job(store, id)
    try:
        number = declared(codecs, judge)
    except CorruptRecord:
        # In a codec that is not known here: they are found one after the other.
        number = 0
    return [job async for job in members(store, id, number)]


async def cancel_workflow(store: Store, codecs: Codecs, id: str) -> None:
    """Call off a workflow and all its jobs."""
    # First the one that would judge the others, or it would call this a failure.
    await cancel_job(store, id)
    # Twice: a job that is running may add another until it notices.
    for _ in range(2):
        live = [each for job in await jobs_of(store, codecs, id) if job.state in LIVE
                for each in _with_keys_ids(job)]  # fmt: skip
        for start in range(0, len(live), BATCH):
            await store.cancel(live[start : start + BATCH])


def _with_keys_ids(job: Job) -> Iterator[str]:
    if is_keyed_late(job.spec):
        yield keys_id(job.id)
    yield job.id


async def retry_workflow(store: Store, codecs: Codecs, id: str) -> int:
    """Replay what is dead or cancelled, parents first, and with it the workflow; how many."""
    ended = [job for job in await jobs_of(store, codecs, id) if job.state in REPLAYABLE]
    if not ended:
        state = (await get_job(store, id)).state
        raise WrongState(f"Workflow {id} is {state}: it has no job to replay.")
    # So that it is called again if the workflow fails again.
    await store.delete([failure_id(id)])
    number = 0
    for batch in _in_ranks(ended):
        await _prepare_keys(store, batch)
        number += len(await store.replay([job.id for job in batch]))
    await store.replay([id])
    return number


async def _prepare_keys(store: Store, steps: Sequence[Job]) -> None:
    """Have the keys of steps computed that have none yet: again, or at last."""
    late = {keys_id(job.id): job for job in steps if is_keyed_late(job.spec)}
    if not late:
        return
    found = await get_all(store, [*late])
    for id, step in late.items():
        if id not in found:  # kept no longer, and so may be what it waited for
            job = keys_job(step)
            there = await get_all(store, job.spec.parents)
            parents = tuple(each for each in job.spec.parents if each in there)
            await store.insert([replace(job, spec=replace(job.spec, parents=parents))])
    await store.replay([*found])


def _in_ranks(jobs: Sequence[Job]) -> Sequence[Sequence[Job]]:
    """Batches in which nobody waits for another, each after those that it waits for."""
    batches: list[list[Job]] = [[]]
    present: set[str] = set()
    for job in jobs:
        if len(batches[-1]) == BATCH or not present.isdisjoint(job.spec.parents):
            batches.append([])
            present = set()
        batches[-1].append(job)
        present.add(job.id)
    return batches
