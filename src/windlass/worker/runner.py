"""Runs attempts: one job in, one transition out. Open this file third.

The steps of an attempt are in `attempt`, what waits for its turn in `waiting`; here is how an
attempt begins, how it is stopped, and who is told of its end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any

from ..core.clock import system_clock
from ..core.model import UNREADABLE, Job, Lease, Transition
from ..core.outcome import Expired, Lost, Released, Succeeded, decide, has_expired
from ..core.retry import DEFAULT_RETRY, RetryPolicy
from ..definition import Definition
from ..errors import UnknownTask
from ..middleware import Stack
from ..observe.events import waited
from ..observe.ledger import NOT_RUN
from ..service import is_being_cancelled
from ..task import Registry
from .acker import Acker
from .attempt import Surroundings, begin, failed, unjudged, unknown
from .copies import calls_handlers
from .executors.presentable import presentable
from .executors.thread_call import NotBegun
from .gathering import Gathering, Gatherings
from .hand import Claim
from .kinds import Kinds
from .leftovers import Leftovers, leave_behind
from .limit import GRACE, AttemptTimeout
from .pool import Pool
from .results import encoded
from .transactions import RolledBack
from .unstarted import are_all_cancelled, is_new, withheld
from .waiting import Waiting

log = logging.getLogger("windlass")


class Runner:
    """Starts attempts: at most `concurrency` on the event loop, and `threads` blocking ones.

    Each ends in one call of the acker: what it came to, or that its lease was lost.
    """

    def __init__(
        self,
        registry: Registry,
        concurrency: int,
        threads: int,
        max_result: int,
        patience: int,
        surroundings: Surroundings,
        acker: Acker,
    ) -> None:
        self._registry = registry
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
        self.waiting = Waiting(
            Kinds(registry, self._workflows.tasks),
            concurrency,
            threads,
            self._start,
            lambda job, delay: acker.put(decide(job, Released(delay))),
            surroundings.executors.take_back,
            acker.hand,
        )
        """the slots, and what has none yet"""
        self._alone = self.waiting.alone
        self._gatherings = Gatherings()
        self._running: dict[Claim, tuple[asyncio.Task[None], Job, Pool]] = {}
        self._lost: set[Claim] = set()
        self._withheld: dict[Claim, bool] = {}
        """attempts that are not to begin: see `withheld`"""
        self._leftovers = Leftovers(concurrency)
        self._left = self._leftovers.jobs
        self._is_draining = False
        self.ran = 0

    @property
    def active(self) -> int:
        """How many slots are taken now: by an attempt, or by those of a batch together."""
        return self.waiting.awaiting.running + self.waiting.in_threads

    @property
    def claims(self) -> Sequence[Claim]:
        """Those of the attempts that run now; from any thread."""
        return list(self._running)

    @property
    def is_isolating(self) -> bool:
        """Whether nothing is to be claimed, since one job runs alone or is about to."""
        return self._alone.is_on

    @property
    def is_out_of_threads(self) -> bool:
        """Whether no blocking handler can be started."""
        return self._surroundings.executors.fault() is not None

    def runs(self, claim: Claim) -> bool:
        """Whether this attempt goes on here."""
        return claim in self._running

    def fault(self) -> str | None:
        """Why it can start no more attempts, or should not; from any thread."""
        return self._surroundings.executors.fault() or self._leftovers.fault()

    def of_task(self, task: asyncio.Task[Any] | None) -> Sequence[Claim]:
        """The attempts that are this task, or have it as the call of their batch; any thread."""
        found = [claim for claim, (each, *_) in list(self._running.items()) if each is task]
        return found or self._gatherings.of_call(task)

    def deliver(self, jobs: Sequence[Job]) -> None:
        """Take claimed jobs and start as many as may run, each by itself."""
        self.waiting.kinds.look()
        for number, some in enumerate(self.waiting.kinds.split(jobs)):
            self.waiting.line_up(some, blocks=number == 1)
        self.waiting.start()

    def lose(self, lease: Lease) -> None:
        """Stop an attempt whose lease is gone: cancelled, or taken over by another worker."""
        claim = (lease.id, lease.fence)
        if self._transactions.decides(claim) or claim in self._lost:
            # To cancel a second time would be to let go of what is about to end.
            return
        if claim in self._running:
            self._lost.add(claim)
            self._stop(claim)
        else:
            waiting = self.waiting.drop(claim)
            if waiting is None:
                # It has ended, and is about to be written.
                return
            self._forget(waiting)
        log.warning("job %s: cancelled or taken over, stopping it", lease.id)

    def take_backlog(self) -> list[Job]:
        """Take away what was claimed and not started; from any thread.

        It is the caller who gives these jobs back, and has the hand let go of them.
        """
        return self.waiting.take()

    def withhold(self) -> list[Claim]:
        """Keep attempts that have not begun from beginning, and name them; from any thread.

        It is the caller who gives their jobs back.
        """
        tasks = {claim: task for claim, (task, *_) in list(self._running.items())}
        return withheld(tasks, self._withheld)

    async def drain(self, timeout: float) -> None:
        """Let running attempts finish; after `timeout` seconds cancel and release them."""
        self._is_draining = True
        if self._running:
            tasks = [task for task, *_ in self._running.values()]
            _, late = await asyncio.wait(tasks, timeout=timeout)
            for claim in list(self._running):
                self._stop(claim)
            if late:
                await asyncio.wait(late, timeout=GRACE)
            for _, job, _ in list(self._running.values()):
                self._leave(job)
            left = {claim: task for claim, (task, *_) in self._running.items()}
            leave_behind(left, self._gatherings)
        self._surroundings.executors.close()

    def _start(self, part: Job | Gathering, pool: Pool) -> None:
        for job in part.jobs if isinstance(part, Gathering) else (part,):
            if isinstance(part, Gathering):
                self._gatherings.enter(job, part)
            attempt = self._attempt(job, pool)
            # With the worker's variables, and not those of the attempt whose end has made room.
            task = self._loop.create_task(attempt, context=self._variables.copy())
            self._running[job.id, job.fence] = task, job, pool

    def _stop(self, claim: Claim) -> None:
        """Cancel an attempt. One that has not begun finds out with its first step.

        To cancel its task before that would end it without a single step: nobody would be told,
        and its slot would be taken for ever.
        """
        task, job, _ = self._running[claim]
        if is_new(task):
            self._withheld.setdefault(claim, False)
        else:
            task.cancel()
            self._loop.call_later(GRACE, self._leave, job)

    def _leave(self, job: Job, error: AttemptTimeout | None = None) -> None:
        """End an attempt whose handler does not end, though it was stopped: it goes on by itself.

        `error` is why it was stopped, if not because its lease was lost or the worker stops.
        """
        claim = (job.id, job.fence)
        if claim not in self._running:
            return
        if self._transactions.commits(claim):
            # That ends by itself, and how is not to be guessed.
            self._loop.call_later(GRACE, self._leave, job, error)
            return
        task, job, pool = self._running[claim]
        self._leftovers.add(job, task, self._gatherings.get(claim))
        own = None if job.spec.task in self._registry else self._instead(job)
        definition, _, job = own or (self._registry[job.spec.task], None, job)
        raised = error or asyncio.CancelledError()
        settled = self._transactions.ended(job, error=raised)
        if error is None and not settled:
            move = self._stopped(claim, job)
        else:
            move = self._after(job, raised, definition.policy, settled)
        seconds = max(system_clock() - (job.started_at or 0), 0) / 1000
        self._finish(job, pool, move, time.perf_counter() - seconds, True, settled, raised)

    async def _attempt(self, job: Job, pool: Pool) -> None:
        began = time.perf_counter()
        policy = DEFAULT_RETRY
        started = settled = False
        move: Transition | None = None
        raised: BaseException | None = None
        try:
            if self._withheld and (job.id, job.fence) in self._withheld:
                move = self._withdrawn(job)
                return
            if has_expired(job):
                move = decide(job, Expired())
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
            codec = self._workflows.codec(job)
            batch = self._gatherings.of(job) if definition.batch else None
            value = await begin(definition, codec, job, surroundings, inputs, batch, self._leave)
            if self._transactions.completed and self._transactions.ended(job, value):
                move, settled = decide(job, Succeeded()), True
                return
            result = encoded(job, codec, value, self._max_result)
            move = decide(job, Succeeded(result))
        except BaseException as error:
            if not self._loop.is_running():
                # The process ends before its handler does; the lease recovers the job.
                started = False
                raise
            if self._left and (job.id, job.fence) in self._left:
                return
            raised = error = presentable(error)
            settled, move = self._judged(job, error, policy)
        finally:
            if self._left and (job.id, job.fence) in self._left:
                self._leftovers.end(job)
            else:
                self._finish(job, pool, move, began, started, settled, raised)
            # Or the error, its traceback and this frame would keep each other alive.
            raised = None

    def _instead(self, job: Job) -> tuple[Definition, Surroundings, Job] | None:
        """What runs a job whose task the app does not have: we, its default handler, or nothing."""
        own = self._workflows.tasks.get(job.spec.task)
        if own is not None:
            return own, self._bare, job
        default = self._registry.default
        if default is None or job.spec.content_type == UNREADABLE:
            return None
        return default.definition, self._surroundings, default.taking(job)

    def _withdrawn(self, job: Job) -> Transition | None:
        """The move of an attempt that was stopped before it began."""
        claim = (job.id, job.fence)
        if claim in self._lost:
            self._forget(job)
            return None
        return None if self._withheld[claim] else decide(job, Released())

    def _forget(self, job: Job) -> None:
        """Let go of a job whose lease was lost before an attempt began."""
        self._acker.forget((job.id, job.fence))
        self._events.lost(job)

    def _stopped(self, claim: Claim, job: Job) -> Transition | None:
        """The move of an attempt that was cancelled; None if the lease was lost."""
        return None if claim in self._lost else decide(job, Released())

    def _judged(
        self, job: Job, error: BaseException, policy: RetryPolicy
    ) -> tuple[bool, Transition | None]:
        """Whether a transaction has settled it, and the move that follows an error, whatever it is.

        An error may raise another when it is looked at, and no attempt is to end without a move.
        """
        settled = False
        try:
            settled = self._transactions.ended(job, error=error)
            return settled, self._after(job, error, policy, settled)
        except BaseException as unfit:
            return settled, unjudged(job, error, unfit)

    def _sweep(self) -> None:
        """Give back the jobs of attempts that a handler has cancelled before their first step."""
        for task, job, pool in list(self._running.values()):
            if task.done():
                move = decide(job, Released())
                self._finish(job, pool, move, time.perf_counter(), False, False, None)

    def _after(
        self, job: Job, error: BaseException, policy: RetryPolicy, settled: bool
    ) -> Transition | None:
        """The move that follows an error; None if the lease was lost."""
        if settled:
            return None if issubclass(type(error), RolledBack) else decide(job, Succeeded())
        claim = (job.id, job.fence)
        if isinstance(error, NotBegun):
            return self._stopped(claim, job)
        if isinstance(error, asyncio.CancelledError) and is_being_cancelled():
            if self._is_draining or claim in self._lost:
                return self._stopped(claim, job)
            self._loop.call_soon(self._sweep)
            if are_all_cancelled([task for task, *_ in self._running.values()]):
                # By whichever of their handlers: each may have to run alone to find that out.
                return decide(job, Lost(), policy)
        # Also if the handler let a cancellation of its own escape: that is its failure.
        return failed(job, error, policy)

    def _finish(
        self,
        job: Job,
        pool: Pool,
        move: Transition | None,
        began: float,
        started: bool,
        settled: bool,
        raised: BaseException | None,
    ) -> None:
        """Tell everybody of the end, note the pace, and start the next one in the place of this."""
        now = time.perf_counter()
        seconds = now - began
        if move is not None and not settled:
            self._acker.put(move, seconds if started else NOT_RUN)
        elif started:
            self._acker.note(job, move, seconds, settled)
        if started and self._events.ended:
            self._events.ended(job, move, seconds, raised)
        if self._logbook.pages or (move is not None and move.error is not None):
            self._logbook.over(job, move)
        if self._joblog.told:
            self._joblog.ended(job, move, seconds)
        claim = (job.id, job.fence)
        del self._running[claim]
        self.ran += 1
        if self._lost:
            self._lost.discard(claim)
        if self._withheld:
            self._withheld.pop(claim, None)
        if self._workflows.memberships:
            self._workflows.memberships.pop(claim, None)
        if self._signals.told:
            self._signals.told.pop(claim, None)
        pool.end(seconds, now)
        if not self._gatherings or self._gatherings.leave(claim):
            pool.running -= 1
        if self._alone.was_on:
            self._alone.end(claim)
        elif pool.backlog and pool.running < pool.most:
            self.waiting.start_next(pool)


calls_handlers(Runner._attempt)
