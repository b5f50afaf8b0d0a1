"""A batch: jobs that were claimed together, each with an attempt of its own, and one call for all.

Each attempt goes its own way, with its timeout, its middleware and its outcome, until it comes to
the handler. There it waits for the others; when all are there, or have ended before, the handler
is called once, with the list, and each gets its part of what that came to. One that ends
meanwhile, cancelled or out of time, leaves the others alone; with the last one the call is stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context as Variables
from contextvars import copy_context
from typing import Any, Final

from ..core.context import Context, current_batch
from ..core.model import Job
from ..errors import Fatal
from .copies import calls_handlers
from .executors.presentable import presentable
from .hand import Claim
from .limit import Limit

Handler = Callable[[list[Any]], Awaitable[Any]]

DOUBTFUL: Final = 2
"""A job of which so many attempts were lost with their worker runs alone."""


class Gathering:
    """The jobs of one batch on their way to one call."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = list(jobs)
        self.running = 0
        """attempts that were started and have not ended; the runner's to count"""
        self._missing = {(job.id, job.fence) for job in jobs}
        """those that have neither come to the handler nor ended"""
        self._items: dict[Claim, Any] = {}
        self._contexts: dict[Claim, Context] = {}
        self._answers: dict[Claim, asyncio.Future[Any]] = {}
        self._handler: Handler | None = None
        # That of the worker: what one attempt sets, the current job for one, is not the batch's.
        self._variables: Variables = copy_context()
        self.call: asyncio.Task[None] | None = None
        self.limits: list[Limit] = []
        """those of its attempts; what they limit is the same call"""

    def wait(self) -> None:
        """The call waits for a thread or a child, which takes nobody's time."""
        for limit in self.limits:
            limit.pause()

    def begin(self) -> None:
        """The handler begins now, for all of them."""
        for limit in self.limits:
            limit.begin()

    @property
    def claims(self) -> list[Claim]:
        return [(job.id, job.fence) for job in self.jobs]

    def drop(self, claim: Claim) -> None:
        """Leave a job out that has not been started."""
        self.jobs = [job for job in self.jobs if (job.id, job.fence) != claim]
        self._missing.discard(claim)

    async def join(self, context: Context, item: Any, handler: Handler) -> Any:
        """Wait for the others, then for the call; what it came to for this one."""
        claim = (context.job.id, context.job.fence)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._contexts[claim] = context
        self._handler = self._handler or handler
        self._items[claim], self._answers[claim] = item, answer
        self.ended(claim)
        try:
            return await answer
        finally:
            self._items.pop(claim, None)
            self._answers.pop(claim, None)
            if not self._answers and self.call is not None and not self.call.done():
                self.call.cancel()
                await asyncio.wait([self.call])

    def ended(self, claim: Claim) -> None:
        """One less to wait for."""
        self._missing.discard(claim)
        if not self._missing and self._items and self.call is None and self._handler is not None:
            work = self._run(self._handler)
            loop = asyncio.get_running_loop()
            self.call = loop.create_task(work, context=self._variables)

    async def _run(self, handler: Handler) -> None:
        claims = [claim for claim in self.claims if claim in self._items]
        current_batch.set([self._contexts[claim] for claim in claims])
        try:
            values = _shared(await handler([self._items[claim] for claim in claims]), len(claims))
        except BaseException as error:
            values = [presentable(error)] * len(claims)
        for claim, value in zip(claims, values, strict=True):
            answer = self._answers.get(claim)
            if answer is not None and not answer.done():
                _give(answer, value)


calls_handlers(Gathering._run)


class Gatherings(dict[Claim, Gathering]):
    """The batches whose attempts run, by the claim of each attempt."""

    def enter(self, job: Job, batch: Gathering) -> Gathering:
        """An attempt of a batch starts."""
        self[job.id, job.fence] = batch
        batch.running += 1
        return batch

    def of(self, job: Job) -> Gathering:
        """The batch of a job; one that was enqueued before its task took batches is one itself."""
        return self.get((job.id, job.fence)) or self.enter(job, Gathering([job]))

    def of_call(self, task: asyncio.Task[Any] | None) -> list[Claim]:
        """The attempts whose call is this task; from any thread."""
        batches = list(self.items())
        return [claim for claim, each in batches if task and each.call is task]

    def leave(self, claim: Claim) -> bool:
        """Whether the end of this attempt frees its slot: a batch has one for all of its own."""
        batch = self.pop(claim, None)
        if batch is None:
            return True
        batch.ended(claim)
        batch.running -= 1
        return not batch.running


def gathered(jobs: Sequence[Job]) -> tuple[Sequence[Job | Gathering], Sequence[Job]]:
    """What one claim has brought, the jobs of each batch as one; and those that are to run alone.

    A job whose attempts were lost with their worker, again and again, may be what ends workers.
    """
    for job in jobs:
        if job.lost >= DOUBTFUL or (job.spec.lane is not None and job.spec.lane.size):
            break
    else:
        return jobs, ()
    alone = [job for job in jobs if job.lost >= DOUBTFUL]
    found: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        if job.lost < DOUBTFUL:
            lane = job.spec.lane
            key = (job.queue, lane.name) if lane is not None and lane.size else ("", job.id)
            found.setdefault(key, []).append(job)
    return [each[0] if key[0] == "" else Gathering(each) for key, each in found.items()], alone


def _shared(value: Any, number: int) -> Sequence[Any]:
    """What each job has of what the handler returned."""
    if value is None:
        return [None] * number
    if not isinstance(value, list | tuple):
        raise Fatal(f"a handler of batches returns a list, or None, not {value!r:.100}")
    if len(value) != number:
        raise Fatal(f"the handler returned {len(value):,} results for a batch of {number:,} jobs")
    return value


def _give(answer: asyncio.Future[Any], value: Any) -> None:
    if issubclass(type(value), (StopIteration, GeneratorExit)):  # not by its `__class__`
        # A future cannot carry them: they would end the coroutine that awaits it.
        answer.set_exception(RuntimeError(f"the handler raised {type(value).__name__}: {value}"))
    elif isinstance(value, BaseException):
        answer.set_exception(value)
    else:
        answer.set_result(value)
