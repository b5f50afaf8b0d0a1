"""Runs attempts: one job in, one transition out. Open this file third.

The steps of an attempt are in `attempt`; here is how many run, what waits for its turn,
and who is told of the end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..core.codec import Codecs
from ..core.model import Job, Lease, Transition
from ..core.outcome import Expired, Released, Succeeded, decide, has_expired
from ..core.retry import DEFAULT_RETRY
from ..errors import UnknownTask
from ..middleware import Stack
from ..service import is_being_cancelled
from ..task import Registry
from .attempt import Surroundings, begin, encoded, failed, unknown
from .gathering import Gathering
from .hand import Claim

log = logging.getLogger("windlass")

STALL: Final = 0.5
"""While nothing ends for so many seconds, another worker may as well run what waits here."""


class Runner:
    """Starts attempts, at most `size` at a time.

    Each ends in one call: `report` of what it came to, or `forget` if its lease was lost.
    """

    def __init__(
        self,
        registry: Registry,
        codecs: Codecs,
        size: int,
        max_result: int,
        patience: int,
        surroundings: Surroundings,
        report: Callable[[Transition], None],
        forget: Callable[[Claim], None],
    ) -> None:
        self._registry = registry
        self._codecs = codecs
        self._size = size
        self._max_result = max_result
        self._patience = patience
        self._surroundings = surroundings
        self._bare = surroundings._replace(middleware=Stack())
        """for tasks of our own, which no middleware expects"""
        self._transactions = surroundings.transactions
        self._workflows = surroundings.workflows
        self._signals = surroundings.signals
        self._report = report
        self._forget = forget
        self._loop = asyncio.get_running_loop()
        self._backlog: deque[Job | Gathering] = deque()
        self._gatherings: dict[Claim, Gathering] = {}
        self._surplus = 0
        """running attempts beyond the first of their batch: a batch has one slot"""
        self._running: dict[Claim, asyncio.Task[None]] = {}
        self._lost: set[Claim] = set()
        self._seconds: float | None = None
        self._last_end = 0.0
        self.ran = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def active(self) -> int:
        """How many slots are taken now: by an attempt, or by those of a batch together."""
        return len(self._running) - self._surplus

    def pace(self) -> float | None:
        """How long an attempt takes, a moving average; None before the first one."""
        return self._seconds

    def deliver(self, jobs: Sequence[Job | Gathering]) -> None:
        """Take claimed jobs and start as many as may run."""
        self._backlog.extend(jobs)
        while self._backlog and len(self._running) - self._surplus < self._size:
            self._start(self._backlog.popleft())
        if self._backlog and self._timer is None:
            self._timer = self._loop.call_later(STALL, self._look_at_backlog)

    def lose(self, lease: Lease) -> None:
        """Stop an attempt whose lease is gone: cancelled, or taken over by another worker."""
        claim = (lease.id, lease.fence)
        if self._transactions.decides(claim):
            return
        task = self._running.get(claim)
        if task is not None:
            self._lost.add(claim)
            task.cancel()
        else:
            self._lose_waiting(claim)

    def _lose_waiting(self, claim: Claim) -> None:
        for part in self._backlog:
            if claim not in _claims(part):
                continue
            if isinstance(part, Gathering):
                part.drop(claim)
            if not isinstance(part, Gathering) or not part.jobs:
                self._backlog.remove(part)
            self._forget(claim)
            return

    def release_backlog(self) -> None:
        """Give back what was claimed and not started."""
        while self._backlog:
            part = self._backlog.popleft()
            for job in part.jobs if isinstance(part, Gathering) else (part,):
                self._report(decide(job, Released()))

    async def drain(self, timeout: float) -> None:
        """Let running attempts finish; after `timeout` seconds cancel and release them."""
        if self._running:
            _, late = await asyncio.wait(self._running.values(), timeout=timeout)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1.0)
                _leave_behind(self._running, self._gatherings)
        self._surroundings.executors.close()

    def _look_at_backlog(self) -> None:
        """Give back what was claimed ahead of jobs that turned out to be slow."""
        self._timer = None
        if not self._backlog:
            return
        still = time.perf_counter() - self._last_end
        if still < STALL:
            self._timer = self._loop.call_later(STALL - still, self._look_at_backlog)
        else:
            self._seconds = max(self._seconds or 0.0, STALL)
            self.release_backlog()

    def _start(self, part: Job | Gathering) -> None:
        if isinstance(part, Gathering):
            self._surplus += len(part.jobs) - 1
            for job in part.jobs:
                self._enter(job, part)
                self._start(job)
            return
        task = self._loop.create_task(self._attempt(part))
        self._running[part.id, part.fence] = task

    def _enter(self, job: Job, batch: Gathering) -> Gathering:
        self._gatherings[job.id, job.fence] = batch
        batch.running += 1
        return batch

    async def _attempt(self, job: Job) -> None:
        started = time.perf_counter()
        policy = DEFAULT_RETRY
        try:
            if has_expired(job):
                self._report(decide(job, Expired()))
                return
            surroundings: Surroundings = self._surroundings
            inputs: Sequence[Any] = ()
            try:
                definition = self._registry[job.spec.task]
                if job.spec.inputs:
                    inputs = await self._workflows.inputs(job)
            except UnknownTask:
                if job.spec.task not in self._workflows.tasks:
                    self._report(unknown(job, self._patience))
                    return
                definition, surroundings = self._workflows.tasks[job.spec.task], self._bare
            policy = definition.policy
            codec = self._codecs.get(job.spec.content_type)
            batch = None
            if definition.batch:
                # One that was enqueued before its task took batches is one of its own.
                batch = self._gatherings.get((job.id, job.fence))
                batch = batch or self._enter(job, Gathering([job]))
            value = await begin(definition, codec, job, surroundings, inputs, batch)
            if self._transactions.completed and self._transactions.ended(job, value):
                return
            result = encoded(definition, codec, value, self._max_result)
            self._report(decide(job, Succeeded(result)))
        except asyncio.CancelledError as error:
            if self._transactions.ended(job, error=error):
                return
            if not is_being_cancelled():
                # The handler let one of its own escape; that is its failure.
                self._report(failed(job, error, policy))
            elif (job.id, job.fence) in self._lost:
                self._forget((job.id, job.fence))
            else:
                self._report(decide(job, Released()))
        except BaseException as error:
            if not self._loop.is_running():
                # The process ends before its handler does; the lease recovers the job.
                raise
            if not self._transactions.ended(job, error=error):
                self._report(failed(job, error, policy))
        finally:
            self._end(job, started)

    def _end(self, job: Job, started: float) -> None:
        """Note the pace, and start the next one in the place of this."""
        claim = (job.id, job.fence)
        del self._running[claim]
        self.ran += 1
        if self._lost:
            self._lost.discard(claim)
        if self._workflows.memberships:
            self._workflows.memberships.pop(claim, None)
        if self._signals.told:
            self._signals.told.pop(claim, None)
        now = self._last_end = time.perf_counter()
        before = self._seconds
        self._seconds = now - started if before is None else 0.9 * before + 0.1 * (now - started)
        if self._gatherings:
            self._leave_batch(claim)
        if self._backlog and len(self._running) - self._surplus < self._size:
            self._start(self._backlog.popleft())

    def _leave_batch(self, claim: Claim) -> None:
        batch = self._gatherings.pop(claim, None)
        if batch is None:
            return
        batch.ended(claim)
        batch.running -= 1
        self._surplus -= bool(batch.running)


def _claims(part: Job | Gathering) -> Sequence[Claim]:
    return part.claims if isinstance(part, Gathering) else [(part.id, part.fence)]


def _leave_behind(
    running: Mapping[Claim, asyncio.Task[None]], batches: Mapping[Claim, Gathering]
) -> None:
    """Let go of handlers that did not end when they were cancelled.

    `asyncio.run` would wait for them, and so for ever.
    """
    for (id, _), task in running.items():
        log.error("job %s: its handler went on when it was cancelled, and is left behind", id)
        _abandon(task)
    for batch in batches.values():
        if batch.call is not None:
            _abandon(batch.call)


def _abandon(task: asyncio.Task[None]) -> None:
    asyncio._unregister_task(task)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
