"""Finds jobs whose worker is gone and decides, by the rules for errors, what becomes of them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from ..core.clock import to_ms
from ..core.model import Job, Transition
from ..core.outcome import Lost, decide
from ..core.retry import DEFAULT_RETRY
from ..observe.ledger import Ledger
from ..service import Service
from ..stores.contract import Store
from ..task import Registry
from .leader import Leader

log = logging.getLogger("windlass")

BATCH: Final = 100
LEASE: Final = 30.0


class Rescuer(Service):
    """Takes over expired leases. The lost attempt counts, so a job that kills workers dies."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        leader: Leader,
        interval: float,
        worker: str,
        ledger: Ledger | None = None,
    ) -> None:
        super().__init__()
        self._store = store
        self._registry = registry
        self._leader = leader
        self._interval = interval
        self._worker = worker
        self._events = registry.events
        self._ledger = ledger or Ledger(registry)

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(self._interval)
            if self._leader.is_leader:
                while await self.rescue() == BATCH:
                    pass

    async def rescue(self) -> int:
        """Rescue one batch; how many jobs it was."""
        jobs = await self._store.rescue(BATCH, to_ms(LEASE), self._worker)
        if jobs:
            log.warning("rescued %d job(s) whose lease had expired", len(jobs))
            moves = [self._decide(job) for job in jobs]
            held = await self._store.finish(moves)
            self._note(jobs, moves, held)
        return len(jobs)

    def _note(self, jobs: Sequence[Job], moves: Sequence[Transition], held: frozenset[str]) -> None:
        for job, move in zip(jobs, moves, strict=True):
            if job.id in held:
                self._ledger.rescued(job, move)
                self._events.rescued(job, move)

    def _decide(self, job: Job) -> Transition:
        if job.task in self._registry:
            try:
                return decide(job, Lost(), self._registry[job.task].policy)
            except Exception:
                # A user's own backoff function can fail, and there is no error to give it: one
                # such job must not keep the others of its batch from being rescued.
                log.exception("the backoff of task %s failed; using the default", job.task)
        return decide(job, Lost(), DEFAULT_RETRY)
