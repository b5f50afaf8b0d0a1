"""What an app does with jobs besides running them: many at once, workflows, and those there are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from .admin.dead_jobs import DeadJobs
from .admin.jobs import Jobs
from .admin.queues import Queues
from .admin.workers import Workers
from .admin.workflow import Draft, WorkflowHandle, WorkflowOptions, draft
from .client import Reason
from .core import habits
from .core.model import NewJob, Receipt
from .core.options import JobLike, id_of
from .core.step import Part
from .errors import InvalidOption, shown
from .handle import JobHandle
from .intake import Made
from .observe.events import Observer
from .stores.contract import Store
from .sync import need_loop, refuse_in_loop
from .task import Call, Registry, Wire, duplicate
from .workflows.order import refuse_disorder

R = TypeVar("R")


class Producer:
    """The part of an app that brings jobs to the store and finds them there."""

    def __init__(self, wire: Wire, registry: Registry | None = None) -> None:
        self._wire = wire
        self.client = wire.client
        self.codecs = wire.codecs
        known = Registry() if registry is None else registry
        self.queues = Queues(wire, known)
        self.jobs = Jobs(wire, known)
        self.dead = DeadJobs(wire, known)
        self.workers = Workers(wire, known)

    if not TYPE_CHECKING:  # or type checkers would take any attribute for one

        def __getattr__(self, name: str) -> Any:
            """Say what to use for what apps of other queues have."""
            raise habits.unknown(self, name, habits.APPS.get(name))

    @property
    def wire(self) -> Wire:
        """What its tasks share, for those who make tasks of their own."""
        return self._wire

    def observe(self, observer: Observer) -> None:
        """Have an observer told of each step; before the store is used, or calls of it are not."""
        self._wire.middleware.events.observe(observer)

    def enqueue_many(
        self, calls: Iterable[Call[R]], *, connection: object = None
    ) -> Sequence[JobHandle[R]]:
        """Store many jobs in one step, from blocking code: all of them, or none.

        On Redis, which must not be held up for long, 500 at a time. With a `connection` of
        yours, they exist if and only if its transaction commits.

        A call with `on_conflict="raise"` whose job was there before raises `DuplicateJob` when all
        others are stored; its `handles` are what would have been returned.
        """
        ready = list(calls)
        jobs = self._checked(ready)
        receipts = self.client.insert(
            jobs, "app.enqueue_many(…)", "app.aenqueue_many(…)", connection
        )
        return self._stored(ready, jobs, receipts)

    def aenqueue_many(
        self, calls: Iterable[Call[R]], *, connection: object = None
    ) -> asyncio.Future[Sequence[JobHandle[R]]]:
        """Store many jobs in one step, from async code; under way from this call on."""
        names = ("app.aenqueue_many(…)", "app.enqueue_many(…)")
        need_loop(*names)
        ready = list(calls)
        jobs = self._checked(ready)
        made = partial(self._stored, ready)
        if connection is None:
            return self.client.enqueue(jobs, made)
        return self.client.enqueue_on(connection, jobs, made, *names)

    def _checked(self, calls: Sequence[Call[Any]]) -> Sequence[NewJob]:
        for each in calls:
            if not isinstance(each, Call):
                raise InvalidOption(
                    "enqueue_many takes calls of tasks, as in app.enqueue_many([add.call(1, 2)]); "
                    f"got {shown(each)}."
                )
        jobs = self._wire.middleware.before([call.job for call in calls])
        refuse_disorder(jobs)
        return jobs

    def _stored(
        self, calls: Sequence[Call[R]], jobs: Sequence[NewJob], receipts: Sequence[Receipt]
    ) -> Sequence[JobHandle[R]]:
        self._wire.middleware.after(jobs, receipts)
        pairs = [*zip(calls, receipts, strict=True)]
        handles: list[JobHandle[R]] = [
            JobHandle(
                self.client,
                self.codecs,
                receipt.id,
                call.convert,
                receipt.duplicate,
                call.job.spec.task,
            )
            for call, receipt in pairs
        ]
        for call, receipt in pairs:
            if receipt.duplicate and call.raises:
                raise duplicate(call.job, receipt, handles)
        return handles

    def job(self, id: JobLike) -> JobHandle[Any]:
        """The handle of a job that was enqueued before, of whichever task."""
        return JobHandle(self.client, self.codecs, id_of(id), lambda value, _: value)

    def signal(self, job: JobLike, name: str, value: Any = None) -> None:
        """Send a job what its handler waits for, from blocking code."""
        refuse_in_loop("app.signal(…)", "app.asignal(…)")
        self.job(job).signal(name, value)

    async def asignal(self, job: JobLike, name: str, value: Any = None) -> None:
        """The same for async code."""
        await self.job(job).asignal(name, value)

    def enqueue_workflow(
        self, flow: Part[R], *, connection: object = None, **options: Unpack[WorkflowOptions]
    ) -> WorkflowHandle[R]:
        """Store a workflow, from blocking code: all its jobs in one step.

        A callback is enqueued when the workflow has completed, or failed; `on_success` gets its
        result as first argument, if it takes one more.
        """
        ready = draft(self._wire, flow, **options)
        names = ("app.enqueue_workflow(…)", "app.aenqueue_workflow(…)")
        return self._begun(ready, ready.jobs, self.client.insert(ready.jobs, *names, connection))

    def aenqueue_workflow(
        self, flow: Part[R], *, connection: object = None, **options: Unpack[WorkflowOptions]
    ) -> asyncio.Future[WorkflowHandle[R]]:
        """Store a workflow, from async code; under way from this call on."""
        names = ("app.aenqueue_workflow(…)", "app.enqueue_workflow(…)")
        need_loop(*names)
        ready = draft(self._wire, flow, **options)
        made: Made[WorkflowHandle[R]] = partial(self._begun, ready)
        if connection is None:
            return self.client.enqueue(ready.jobs, made)
        return self.client.enqueue_on(connection, ready.jobs, made, *names)

    def workflow(self, id: str) -> WorkflowHandle[Any]:
        """The handle of a workflow that was enqueued before."""
        return WorkflowHandle(self._wire, id, lambda value, _: value)

    def _begun(
        self, ready: Draft, jobs: Sequence[NewJob], receipts: Sequence[Receipt]
    ) -> WorkflowHandle[Any]:
        self._wire.middleware.after(*ready.of_steps(receipts))
        return WorkflowHandle(self._wire, ready.id, ready.convert, receipts[-1].duplicate, ready)


async def explain(store: Store, id: str) -> Reason:
    """Why a job does not run, for those who wait for it."""
    from .admin.reason import reason

    return await reason(store, id)
