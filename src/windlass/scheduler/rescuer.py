"""Finds jobs whose worker is gone and decides, by the rules for errors, what becomes of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from ..core.attempts import KEEP_ATTEMPTS, AttemptRecord
from ..core.clock import system_clock, to_ms
from ..core.model import Job, Transition
from ..core.outcome import LOST, Lost, decide
from ..core.retry import DEFAULT_RETRY
from ..core.states import State
from ..errors import Forbidden, StoreError
from ..observe import joblog
from ..observe.ledger import Ledger
from ..service import Service
from ..stores.contract import CLAIM_BYTES, Store
from ..task import Registry
from .leader import Leader

log = logging.getLogger("windlass")

BATCH: Final = 100
FEW: Final = 10
"""So many at first, for they come with their payloads, and how large these are is not known."""

LEASE: Final = 5.0
"""How long jobs wait for the next rescuer if this one dies before it has written what becomes of
them. One that takes longer has lost nothing, unless another has rescued them since."""


class Rescuer(Service):
    """Takes over expired leases. A job is dead once too many workers were lost with it."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        leader: Leader,
        interval: float,
        worker: str,
        ledger: Ledger | None = None,
        keep: int = KEEP_ATTEMPTS,
    ) -> None:
        super().__init__()
        self._store = store
        self._registry = registry
        self._leader = leader
        self._interval = interval
        self._worker = worker
        self._keep = keep
        self._events = registry.events
        self._ledger = ledger or Ledger(registry)

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(self._interval)
            if self._leader.is_leader:
                await self.rescue_all()

    async def take_over(self, worker: str) -> None:
        """Have the jobs of a worker run again at once, of which it is certain that it is gone.

        Whoever leads: it may have been the leader itself.
        """
        while await self._store.abandon(worker):
            pass
        # Behind a server it is left to that, unless the key is for the upkeep.
        with suppress(Forbidden):
            await self.rescue_all()

    async def rescue_all(self) -> None:
        """Rescue whatever there is, in batches that are no larger than a claim."""
        number = FEW
        while jobs := await self._rescue(number):
            if len(jobs) < number:
                return
            size = sum([len(job.spec.payload) for job in jobs]) // number
            number = min(BATCH, 2 * number, max(CLAIM_BYTES // max(size, 1), 1))

    async def rescue(self) -> int:
        """Rescue one batch; how many jobs it was."""
        return len(await self._rescue(BATCH))

    async def _rescue(self, number: int) -> Sequence[Job]:
        jobs = await self._store.rescue(number, to_ms(LEASE), self._worker)
        if jobs:
            log.warning("rescued %d job(s) whose lease had expired", len(jobs))
            moves = [self._decide(job) for job in jobs]
            held = await self._store.finish(moves)
            self._note(jobs, moves, held)
            if self._keep:
                await self._keep_lost(jobs, moves, held)
        return jobs

    def _note(self, jobs: Sequence[Job], moves: Sequence[Transition], held: frozenset[str]) -> None:
        for job, move in zip(jobs, moves, strict=True):
            if job.id in held:
                if move.state is State.DEAD:
                    joblog.failed(job, move, move.error or LOST)
                self._ledger.rescued(job, move)
                self._events.rescued(job, move)

    async def _keep_lost(
        self, jobs: Sequence[Job], moves: Sequence[Transition], held: frozenset[str]
    ) -> None:
        """Keep it that these attempts were lost, beside what their workers had noted of them."""
        rescued = [pair for pair in zip(jobs, moves, strict=True) if pair[0].id in held]
        try:
            known = await self._store.attempts([job.id for job, _ in rescued])
            records = [_lost(job, move, known.get(job.id, ())) for job, move in rescued]
            await self._store.note_attempts(records, self._keep)
        except StoreError as error:
            # The jobs are rescued; this was only to tell of it.
            log.warning("it could not be noted that %d attempt(s) were lost: %s", len(jobs), error)

    def _decide(self, job: Job) -> Transition:
        if job.task in self._registry:
            try:
                return decide(job, Lost(), self._registry[job.task].policy)
            except Exception:
                # A user's own backoff function can fail, and there is no error to give it: one
                # such job must not keep the others of its batch from being rescued.
                log.exception("the backoff of task %s failed; using the default", job.task)
        return decide(job, Lost(), DEFAULT_RETRY)


def _lost(job: Job, move: Transition, known: Sequence[AttemptRecord]) -> AttemptRecord:
    """What is kept of a lost attempt. If it has left no record itself, who ran it is not known
    any more, and the fence is the rescuer's."""
    record = AttemptRecord(job.id, job.queue, job.fence, job.attempt, "", job.started_at or 0)
    for each in known:
        if each.attempt == job.attempt and each.ended_at is None:
            record = each
    return replace(record, ended_at=system_clock(), state=move.state, error=move.error)
