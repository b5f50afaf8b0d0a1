"""The PostgreSQL store: the hot path in single statements, all else as on every SQL engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Final

from asyncpg.exceptions import LockNotAvailableError

from ...core.clock import Clock
from ...core.model import Job, Lease, NewJob, Receipt, Transition
from ...errors import StoreUnavailable
from ..contract import CLAIM_BYTES
from ..doubts import Doubts
from ..sql import admin, dependents
from ..sql.dependents import BATCH, ids_of
from ..sql.operation import Operation, Plan, Statement, T
from ..sql.renewal import renewed
from ..sql.store import SqlStore
from .claim import Asked, Claimed, claim, claim_from_lanes, promote
from .database import STORE, PostgresDatabase
from .dialect import dialect_of
from .finish import PATIENCE, complete, finish, finish_free, is_plain, renew
from .folding import Folding
from .insert import TELLS, insert, insert_fresh, needs_transaction, soon
from .lanes import lanes_first
from .loans import PostgresLoans
from .marks import Marks
from .notifier import Notifier
from .restore import restore
from .unheard import Unanswered
from .url import Settings
from .watch import Watch

BUSY: Final = (LockNotAvailableError,)

RENEWALS, MANY_LEASES = 5, 20
"""In so many statements leases are renewed if there are many."""

LOOK_PAUSE: Final = 0.05
"""Seconds for which claims are given from a full batch of due jobs that was made pending, or until
it is not enough: where many are due, not every claim pays for a batch."""


class PostgresStore(SqlStore):
    """Jobs in PostgreSQL, for one event loop."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._base = PostgresDatabase(settings, STORE, clock)
        super().__init__(self._base)
        self.dialect = dialect_of(self._base.queries, settings, clock)
        self.loans = PostgresLoans(settings, lambda: self._base.pooled)
        self._marks = Marks()
        self._watch = Watch(self._base, self._marks)
        self._notifier = Notifier(self._base)
        self._folding = Folding(self._base)
        self._renewed: set[tuple[str, int]] = set()
        """the leases of the last call that renewed some"""
        self._look_at = 0.0
        """when a claim looks for due jobs again"""
        self._unanswered = Unanswered(settings.timeout)
        self._doubts = Doubts()
        self._busy = Doubts()
        """claims that another transaction was in the way of"""

    async def close(self) -> None:
        await self._notifier.close()
        await self._folding.close()
        await self._watch.close()
        await super().close()

    async def ping(self) -> None:
        await self._base.run(lambda now, again: _ping())

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        await self._watch.wait(queues, timeout)

    def _wake(self) -> None:
        """Called after each change that may give work to others, or to counts."""
        self._marks.recall()
        self._watch.wake()
        self._folding.changed()

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if not jobs:
            return ()
        tells = TELLS if self._notifier.is_calm() else None
        receipts: Sequence[Receipt]
        if needs_transaction(jobs):
            receipts = await self._write(lambda now: insert(jobs, now, tells=tells))
            self._marks.recall()
        else:
            receipts = await self._base.run(
                lambda now, again: insert_fresh(jobs, now, again, tells)
            )
        if tells is None and (queues := soon(jobs)):
            self._notifier.tell(queues)
        self._watch.wake()
        self._folding.changed()
        return receipts

    def inserting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        return lambda now: insert(jobs, now)

    def restoring(self, jobs: Sequence[Job]) -> Plan[Sequence[Receipt]]:
        return lambda now: restore(jobs, now)

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        return await self._base.run(lambda now, again: admin.get(ids))

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        asked = Asked(queues, limit, lease, worker, most_bytes)
        began, fence = monotonic(), self._unanswered.fence
        try:
            jobs = await self._claim_or_promote(asked, began, fence)
        except BaseException:
            self._unanswered.lost(worker, began, fence)
            raise
        self._unanswered.heard(jobs)
        if jobs:
            self._folding.changed()
        return jobs

    async def _claim_or_promote(self, asked: Asked, began: float, fence: int) -> Sequence[Job]:
        step = partial(self._claim, asked, began, fence)
        look = monotonic() >= self._look_at
        jobs, due, laned, large = await step(look=look)
        if not (look or laned or large):
            rest = asked.less(jobs)
            if rest.queues:
                self._look_at = 0.0
                return [*jobs, *await self._claim_or_promote(rest, began, fence)]
        if due:
            more = await self._write(lambda now: promote(asked.queues, now))
            # There is a batch to be given out before it is time for the next one.
            self._look_at = monotonic() + LOOK_PAUSE if more else 0.0
            jobs, _, laned, large = await step()
        if large and not laned:
            jobs, _, laned, _ = await step(within=True)
        while laned and not (jobs := await self._write(lambda now: claim_from_lanes(asked, now))):
            # What it saw was taken by others; there may be more.
            jobs, _, laned, _ = await step(within=True)
        return jobs

    async def _claim(
        self, asked: Asked, began: float, fence: int, *, look: bool = False, within: bool = False
    ) -> Claimed:
        def once(now: int | None, again: bool) -> Operation[Claimed]:
            if again:
                self._unanswered.lost(asked.worker, began, fence)
            found = yield from self._unanswered.found(asked.worker, asked.limit, now)
            if found:
                return Claimed(found)
            return (yield from claim(asked, now, self._marks, look=look, within=within))

        return await self._base.run(once)

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        known, self._renewed = self._renewed, {(each.id, each.fence) for each in leases}
        held: frozenset[str] = frozenset()
        # Jobs that lie together in parts: a page has room for a second version of some of its rows.
        parts = RENEWALS if len(leases) >= MANY_LEASES else 1
        for part in range(parts):
            held |= await renewed(
                lambda some: self._base.run(lambda now, again: renew(some, lease, now, known)),
                leases[part::parts],
            )
        return held

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        again = self._doubts.any(transitions)
        try:
            held = await self._finish_or_part(transitions, again)
        except BaseException:
            self._doubts.add(transitions)
            raise
        self._doubts.forget(transitions)
        return held

    async def _finish_or_part(
        self, transitions: Sequence[Transition], again: bool
    ) -> frozenset[str]:
        if not self._busy.any(transitions):
            # Nothing was done: now without what others have.
            with suppress(LockNotAvailableError):
                return await self._finish(transitions, again)
        return await self._finish_free(transitions, again)

    async def _finish(self, transitions: Sequence[Transition], doubtful: bool) -> frozenset[str]:
        """`LockNotAvailableError`, and nothing done, if another transaction has one of the jobs."""
        if all([is_plain(each) for each in transitions]):
            done = await self._base.run(
                lambda now, again: complete(transitions, now, again=again or doubtful), BUSY
            )
            if not done.laned:
                self._folding.changed()
                if done.awaited:
                    await self._see_to(done.awaited)
                return done.held
        plan = partial(finish, transitions, again=doubtful, patience=PATIENCE)
        return await self._ended(await self._base.write(lambda now: plan(now=now), BUSY))

    async def _finish_free(self, transitions: Sequence[Transition], again: bool) -> frozenset[str]:
        """Leave out what another transaction has: its caller writes that later."""
        ended, busy = await self._write(lambda now: finish_free(transitions, now, again=again))
        held = await self._ended(ended)
        self._busy.forget(transitions)
        left = [each for each in transitions if each.id in busy]
        if left:
            self._busy.add(left)
            raise StoreUnavailable(
                f"Another transaction has {len(left):,} of these jobs, or their lanes: end it, and "
                "keep transactions that enqueue short.",
                settled=frozenset(
                    [(each.id, each.fence) for each in transitions if each not in left]
                ),
                held=held,
                busy=True,
            )
        return held

    async def _see_to(self, parents: Sequence[str]) -> None:
        """Begin with what jobs owe to their dependents that are completed already."""
        looked = limit = max(BATCH, len(parents))
        # What fails here stays noted. `_rest` tries again, and tells if that fails as well.
        with suppress(StoreUnavailable):
            looked = await self._write(lambda now: dependents.unblock(limit, now, parents))
        self._wake()
        if looked >= limit:
            await self._rest.begin()

    def finishing(self, transitions: Sequence[Transition]) -> Plan[frozenset[str]]:
        return lambda now: ids_of(finish(transitions, now))

    def _moving(self, ids: Sequence[str], plan: Plan[T]) -> Plan[T]:
        return lanes_first(ids, plan)

    async def prune(self, limit: int) -> int:
        await self._folding.tidy()
        return await super().prune(limit)


def _ping() -> Operation[None]:
    yield Statement("clock")
