"""Brings what attempts came to into the store, in batches, until the store has taken it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from ..core.model import Job, Transition
from ..errors import StoreUnavailable
from ..observe.events import Events
from ..service import Service
from ..stores.contract import Store
from .hand import Hand
from .reporter import Reporter

log = logging.getLogger("windlass")

LARGEST_BATCH: Final = 1_000


class Acker(Service):
    """Finishes jobs. What could not be written stays in line for the next try."""

    def __init__(self, store: Store, hand: Hand, reporter: Reporter, events: Events) -> None:
        super().__init__()
        self._store = store
        self._hand = hand
        self._reporter = reporter
        self._events = events
        self._waiting: list[Transition] = []
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()

    def put(self, transition: Transition) -> None:
        if not self._waiting:
            self._some.set()
            self._none.clear()
        self._waiting.append(transition)

    async def run(self) -> None:
        while True:
            await self._some.wait()
            batch = self._waiting[:LARGEST_BATCH]
            await self._reporter.flush(batch)
            try:
                held = await self._store.finish(batch)
            except StoreUnavailable as error:
                self._settle_some(batch, error)
                raise
            del self._waiting[: len(batch)]
            self._settle(batch, held)

    async def drain(self, timeout: float) -> None:
        """Wait until everything is written; what is not by then, its lease recovers."""
        try:
            await asyncio.wait_for(self._none.wait(), timeout)
        except TimeoutError:
            log.error(
                "%d outcome(s) could not be written before the exit; their leases will expire "
                "and the jobs run again",
                len(self._waiting),
            )

    def _settle_some(self, batch: list[Transition], error: StoreUnavailable) -> None:
        """Be done with what was written; the others go behind those that have not been tried."""
        written = [each for each in batch if (each.id, each.fence) in error.settled]
        left = [each for each in batch if (each.id, each.fence) not in error.settled]
        self._waiting = self._waiting[len(batch) :] + left
        self._settle(written, error.held)

    def _settle(self, batch: list[Transition], held: frozenset[str]) -> None:
        jobs = self._hand.drop([(transition.id, transition.fence) for transition in batch])
        if len(held) < len(batch):
            self._note_lost(batch, jobs, held)
        if not self._waiting:
            self._some.clear()
            self._none.set()

    def _note_lost(
        self, batch: list[Transition], jobs: Sequence[Job | None], held: frozenset[str]
    ) -> None:
        for transition, job in zip(batch, jobs, strict=True):
            if transition.id in held:
                continue
            log.warning(
                "job %s: its lease was lost, so this attempt does not count (%s)",
                transition.id,
                transition.state,
            )
            if self._events.refused and job is not None:
                self._events.refused(job)
