"""Brings what attempts came to into the store, in batches, until the store has taken it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from ..core.model import Job, Transition
from ..core.outcome import failure_from
from ..core.states import State
from ..errors import StoreUnavailable
from ..observe.events import Events
from ..observe.ledger import NOT_RUN, Ledger
from ..service import Service
from ..stores.contract import Store
from .hand import Claim, Hand
from .logbook import Logbook
from .reporter import Reporter

log = logging.getLogger("windlass")

LARGEST_BATCH: Final = 1_000
BATCH_BYTES: Final = 4 * 1024 * 1024
"""As many bytes of results go to the store in one call, or one result."""


ASIDE: Final = 0.25
"""Seconds until it is tried again to write what a transaction of others was in the way of."""


class Acker(Service):
    """Finishes jobs. What could not be written stays in line for the next try."""

    def __init__(
        self,
        store: Store,
        hand: Hand,
        reporter: Reporter,
        events: Events,
        ledger: Ledger,
        logbook: Logbook,
    ) -> None:
        super().__init__()
        self._store = store
        self.hand = hand
        self._reporter = reporter
        self._events = events
        self._ledger = ledger
        self._logbook = logbook
        self._waiting: list[Transition] = []
        self._took: list[float] = []
        """the seconds of those attempts, in the same order"""
        self._aside: list[Transition] = []
        """what transactions of others are in the way of, for a moment"""
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()

    def put(self, transition: Transition, seconds: float = NOT_RUN) -> None:
        """Have it written what an attempt came to."""
        if not self._waiting:
            self._some.set()
            self._none.clear()
        self._waiting.append(transition)
        self._took.append(seconds)

    def moves(self) -> list[Transition]:
        """What is still to be written; from any thread."""
        return [*list(self._waiting), *list(self._aside)]

    def note(self, job: Job, move: Transition | None, seconds: float, settled: bool) -> None:
        """Take note of an attempt of which nothing is left to write.

        Its lease was lost, if there is no move. `settled` is what a transaction has tried to write.
        """
        if settled:
            self._ledger.settle_one(job, move, seconds)
            if move is None:
                self._events.refused(job)
        else:
            self._ledger.stopped(job, seconds)
            self.forget((job.id, job.fence))
            self._events.lost(job)

    def forget(self, claim: Claim) -> None:
        """Let go of a job of which nothing is left to write."""
        self.hand.drop([claim])

    async def run(self) -> None:
        while True:
            await self._some.wait()
            batch = once_each(within_bytes(self._waiting[:LARGEST_BATCH]))
            await self._reporter.flush(batch)
            try:
                held = await self._store.finish(batch)
            except StoreUnavailable as error:
                self._settle_some(batch, error)
                if not error.busy:
                    raise
            except Exception:
                await self._finish_each(batch)
            else:
                took = self._take_first(len(batch))
                self._settle(batch, took, held)

    async def _finish_each(self, batch: list[Transition]) -> None:
        """Write the moves of a batch that the store refused, one by one.

        One bad move must not keep the others from being written. Tried again for ever, it would
        stop this worker, and after its death the next one that gets the job.
        """
        for move in batch:
            try:
                held = await self._store.finish([move])
            except StoreUnavailable:
                raise
            except Exception as error:
                await self._finish_as_dead(move, error)
            else:
                self._settle([move], self._take_first(1), held)

    async def _finish_as_dead(self, move: Transition, error: Exception) -> None:
        """Write, in place of a move that the store refused, that the job is dead."""
        log.error(
            "job %s: the store cannot take the end of this attempt (%s), so the job is dead",
            move.id,
            move.state,
            exc_info=error,
        )
        dead = dead_instead(move, error)
        try:
            held = await self._store.finish([dead])
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("job %s: nor can it take that; its lease will end", move.id)
            self._take_first(1)
            self.forget((move.id, move.fence))
            self._settle([], [], frozenset())
        else:
            self._settle([dead], self._take_first(1), held)

    def _take_first(self, number: int) -> list[float]:
        """Take the first moves out of the line; how long their attempts took."""
        took = self._took[:number]
        del self._waiting[:number], self._took[:number]
        return took

    async def drain(self, timeout: float) -> None:
        """Wait until everything is written; what is not by then, its lease recovers."""
        try:
            await asyncio.wait_for(self._none.wait(), timeout)
        except TimeoutError:
            log.error(
                "%d outcome(s) could not be written before the exit; their leases will expire "
                "and the jobs run again",
                len(self.moves()),
            )

    def _settle_some(self, batch: list[Transition], error: StoreUnavailable) -> None:
        """Be done with what was written; the others go behind those that have not been tried."""
        written: list[Transition] = []
        took: list[float] = []
        left = self._waiting[len(batch) :], self._took[len(batch) :]
        later: tuple[list[Transition], list[float]] = ([], [])
        for each, seconds in zip(batch, self._took, strict=False):
            is_written = (each.id, each.fence) in error.settled
            moves, times = (written, took) if is_written else later if error.busy else left
            moves.append(each)
            times.append(seconds)
        self._waiting, self._took = left
        if later[0]:
            self._aside += later[0]
            asyncio.get_running_loop().call_later(ASIDE, self._take_up, *later)
        self._settle(written, took, error.held)

    def _take_up(self, moves: list[Transition], took: list[float]) -> None:
        """Try again what transactions of others were in the way of."""
        del self._aside[: len(moves)]
        for move, seconds in zip(moves, took, strict=True):
            self.put(move, seconds)

    def _settle(self, batch: list[Transition], took: list[float], held: frozenset[str]) -> None:
        jobs = self.hand.drop([(transition.id, transition.fence) for transition in batch])
        if batch:
            self._ledger.settle(jobs, batch, took, held)
        if len(held) < len(batch):
            self._note_lost(batch, jobs, held)
        if self._logbook.pages:
            self._logbook.settle(batch, held)
        if not self._waiting:
            self._some.clear()
            if not self._aside:
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


def dead_instead(move: Transition, error: Exception) -> Transition:
    """The move in place of one that the store cannot take: the job is dead, and says why.

    It is not tried again: another attempt would most likely end in the same way.
    """
    text = f"the store cannot take the end of this attempt ({move.state}): {error}"
    failure = failure_from(type(error).__name__, text)
    return Transition(
        move.id, move.fence, State.DEAD, error=failure, queue=move.queue, ref=move.ref
    )


def within_bytes(moves: list[Transition]) -> list[Transition]:
    """The first ones, as many as have results of `BATCH_BYTES` together; one at the least."""
    sizes = [0 if move.result is None else len(move.result) for move in moves]
    if sum(sizes) <= BATCH_BYTES:
        return moves
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if number and total > BATCH_BYTES:
            return moves[:number]
    return moves


def once_each(moves: list[Transition]) -> list[Transition]:
    """The first ones, up to where a job comes for the second time.

    A worker that slept beyond a lease may have had the job again, and end both attempts at once.
    A store answers with ids: in one call, the one that was refused would pass for taken.
    """
    if len({move.id for move in moves}) == len(moves):
        return moves
    seen: set[str] = set()
    for number, move in enumerate(moves):
        if move.id in seen:
            return moves[:number]
        seen.add(move.id)
    return moves
