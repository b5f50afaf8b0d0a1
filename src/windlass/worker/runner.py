"""Runs attempts: one job in, one transition out. Open this file third.

The steps of an attempt are in `attempt`; here is how many run, what waits for its turn,
and who is told of the end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Any, Final

from ..core.codec import Codecs
from ..core.model import UNREADABLE, Job, Lease, Transition
from ..core.outcome import Expired, Released, Succeeded, decide, has_expired
from ..core.retry import DEFAULT_RETRY, RetryPolicy
from ..definition import Definition
from ..errors import UnknownTask
from ..middleware import Stack
from ..observe.events import waited
from ..observe.ledger import NOT_RUN
from ..service import is_being_cancelled
from ..task import Registry
from .acker import Acker
from .attempt import Surroundings, begin, encoded, failed, unknown
from .gathering import Gathering
from .hand import Claim
from .leftovers import leave_behind
from .transactions import RolledBack
from .unstarted import popped, withheld

log = logging.getLogger("windlass")

STALL: Final = 0.5
"""While nothing ends for so many seconds, another worker may as well run what waits here."""


class Runner:
    """Starts attempts, at most `size` at a time.

    Each ends in one call of the acker: what it came to, or that its lease was lost.
    """

    def __init__(
        self,
        registry: Registry,
        codecs: Codecs,
        size: int,
        max_result: int,
        patience: int,
        surroundings: Surroundings,
        acker: Acker,
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
        self._events = surroundings.events
        self._logbook = surroundings.logbook
        self._joblog = surroundings.joblog
        self._acker = acker
        self._loop = asyncio.get_running_loop()
        self._variables = copy_context()
        self._backlog: deque[Job | Gathering] = deque()
        self._gatherings: dict[Claim, Gathering] = {}
        self._surplus = 0
        """running attempts beyond the first of their batch: a batch has one slot"""
        self._running: dict[Claim, asyncio.Task[None]] = {}
        self._lost: set[Claim] = set()
        self._taken: dict[Claim, bool] = {}
        """attempts that are not to begin: see `withheld`"""
        self._seconds: float | None = None
        self._last_end = 0.0
        self.ran = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def active(self) -> int:
        """How many slots are taken now: by an attempt, or by those of a batch together."""
        return len(self._running) - self._surplus

    @property
    def claims(self) -> Sequence[Claim]:
        """Those of the attempts that run now; from any thread."""
        return list(self._running)

    def runs(self, claim: Claim) -> bool:
        """Whether this attempt goes on here."""
        return claim in self._running

    def fault(self) -> str | None:
        """Why it can start no attempt, or None; from any thread."""
        return None

    def pace(self) -> float | None:
        """How long an attempt takes, a moving average; None before the first one."""
        return self._seconds

    def deliver(self, jobs: Sequence[Job | Gathering]) -> None:
        """Take claimed jobs and start as many as may run."""
        self._backlog.extend(jobs)
        while self._backlog and len(self._running) - self._surplus < self._size:
            self._start_next()
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
        elif not self._lose_waiting(claim):
            # It has ended, and is about to be written.
            return
        log.warning("job %s: cancelled or taken over, stopping it", lease.id)

    def _lose_waiting(self, claim: Claim) -> bool:
        for part in list(self._backlog):
            lost = [job for job in _jobs(part) if (job.id, job.fence) == claim]
            if not lost:
                continue
            if isinstance(part, Gathering):
                part.drop(claim)
            if not isinstance(part, Gathering) or not part.jobs:
                with suppress(ValueError):  # another thread has taken it away
                    self._backlog.remove(part)
            self._acker.forget(claim)
            self._events.lost(lost[0])
            return True
        return False

    def release_backlog(self) -> None:
        """Give back what was claimed and not started."""
        for job in self.take_backlog():
            self._acker.put(decide(job, Released()))

    def take_backlog(self) -> list[Job]:
        """Take away what was claimed and not started; from any thread."""
        return popped(self._backlog)

    def withhold(self) -> list[Claim]:
        """Keep attempts that have not begun from beginning, and name them; from any thread.

        It is the caller who gives their jobs back.
        """
        return withheld(self._running, self._taken)

    def of_task(self, task: asyncio.Task[Any] | None) -> Sequence[Claim]:
        """The attempts that are this task, or have it as the call of their batch; any thread."""
        found = [claim for claim, each in list(self._running.items()) if each is task]
        batches = list(self._gatherings.items())
        return found or [claim for claim, each in batches if task and each.call is task]

    async def drain(self, timeout: float) -> None:
        """Let running attempts finish; after `timeout` seconds cancel and release them."""
        if self._running:
            _, late = await asyncio.wait(self._running.values(), timeout=timeout)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=1.0)
                leave_behind(self._running, self._gatherings)
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

    def _start_next(self) -> None:
        try:
            part = self._backlog.popleft()
        except IndexError:
            return  # another thread has taken it away in this very moment
        self._start(part)

    def _start(self, part: Job | Gathering) -> None:
        if isinstance(part, Gathering):
            self._surplus += len(part.jobs) - 1
            for job in part.jobs:
                self._enter(job, part)
                self._start(job)
            return
        # With the worker's variables, and not those of the attempt whose end has made room.
        task = self._loop.create_task(self._attempt(part), context=self._variables.copy())
        self._running[part.id, part.fence] = task

    def _enter(self, job: Job, batch: Gathering) -> Gathering:
        self._gatherings[job.id, job.fence] = batch
        batch.running += 1
        return batch

    def _batch(self, job: Job) -> Gathering:
        """The batch of a job; one that was enqueued before its task took batches is one itself."""
        return self._gatherings.get((job.id, job.fence)) or self._enter(job, Gathering([job]))

    async def _attempt(self, job: Job) -> None:
        began = time.perf_counter()
        policy = DEFAULT_RETRY
        started = settled = False
        move: Transition | None = None
        raised: BaseException | None = None
        try:
            if has_expired(job) or (self._taken and (job.id, job.fence) in self._taken):
                move = self._unbegun(job)
                return
            surroundings: Surroundings = self._surroundings
            inputs: Sequence[Any] = ()
            try:
                definition = self._registry[job.spec.task]
            except UnknownTask:
                instead = self._instead(job)
                if instead is None:
                    move = unknown(job, self._patience)
                    return
                definition, surroundings, job = instead
            started, policy = True, definition.policy
            if self._joblog.open:
                self._joblog.started(job)
            if self._events.started:
                self._events.started(job, waited(job))
            if job.spec.inputs and surroundings is not self._bare:
                inputs = await self._workflows.inputs(job)
            codec = self._codecs.get(job.spec.content_type)
            batch = self._batch(job) if definition.batch else None
            value = await begin(definition, codec, job, surroundings, inputs, batch)
            if self._transactions.completed and self._transactions.ended(job, value):
                move, settled = decide(job, Succeeded()), True
                return
            result = encoded(definition, codec, value, self._max_result)
            move = decide(job, Succeeded(result))
        except BaseException as error:
            if not self._loop.is_running():
                # The process ends before its handler does; the lease recovers the job.
                started = False
                raise
            raised = error
            settled = self._transactions.ended(job, error=error)
            move = self._after(job, error, policy, settled)
        finally:
            now = time.perf_counter()
            if move is not None and not settled:
                self._acker.put(move, now - began if started else NOT_RUN)
            elif started:
                self._acker.note(job, move, now - began, settled)
            if started and self._events.ended:
                self._events.ended(job, move, now - began, raised)
            # Or the error, its traceback and this frame would keep each other alive.
            raised = None
            self._end(job, move, began, now)

    def _unbegun(self, job: Job) -> Transition | None:
        """The move of a job that is not to begin; None if it was given back by another thread."""
        taken = self._taken.get((job.id, job.fence))
        if taken is None:
            return decide(job, Expired())
        return None if taken else decide(job, Released())

    def _instead(self, job: Job) -> tuple[Definition, Surroundings, Job] | None:
        """What runs a job whose task the app does not have: we, its default handler, or nothing."""
        own = self._workflows.tasks.get(job.spec.task)
        if own is not None:
            return own, self._bare, job
        default = self._registry.default
        if default is None or job.spec.content_type == UNREADABLE:
            return None
        return default.definition, self._surroundings, default.taking(job)

    def _after(
        self, job: Job, error: BaseException, policy: RetryPolicy, settled: bool
    ) -> Transition | None:
        """The move that follows an error; None if the lease was lost."""
        if settled:
            return None if isinstance(error, RolledBack) else decide(job, Succeeded())
        if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
            return None if (job.id, job.fence) in self._lost else decide(job, Released())
        # Also if the handler let a cancellation of its own escape: that is its failure.
        return failed(job, error, policy)

    def _end(self, job: Job, move: Transition | None, began: float, now: float) -> None:
        """Note the end and the pace, and start the next one in the place of this."""
        if self._logbook.pages or (move is not None and move.error is not None):
            self._logbook.over(job, move)
        if self._joblog.told:
            self._joblog.ended(job, move, now - began)
        claim = (job.id, job.fence)
        del self._running[claim]
        self.ran += 1
        if self._lost:
            self._lost.discard(claim)
        if self._taken:
            self._taken.pop(claim, None)
        if self._workflows.memberships:
            self._workflows.memberships.pop(claim, None)
        if self._signals.told:
            self._signals.told.pop(claim, None)
        self._last_end = now
        before = self._seconds
        self._seconds = now - began if before is None else 0.9 * before + 0.1 * (now - began)
        if self._gatherings:
            self._leave_batch(claim)
        if self._backlog and len(self._running) - self._surplus < self._size:
            self._start_next()

    def _leave_batch(self, claim: Claim) -> None:
        batch = self._gatherings.pop(claim, None)
        if batch is None:
            return
        batch.ended(claim)
        batch.running -= 1
        self._surplus -= bool(batch.running)


def _jobs(part: Job | Gathering) -> Sequence[Job]:
    return part.jobs if isinstance(part, Gathering) else (part,)
