"""The PostgreSQL store: the hot path in single statements, all else as on every SQL engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from ...core.clock import Clock
from ...core.model import Job, Lease, NewJob, Receipt, Transition
from ...errors import StoreUnavailable
from ..sql import admin, dependents
from ..sql.dependents import BATCH, ids_of
from ..sql.operation import Operation, Plan, Statement
from ..sql.renewal import renewed
from ..sql.restore import restore
from ..sql.store import SqlStore
from .claim import claim, promote_and_claim
from .database import STORE, PostgresDatabase
from .dialect import dialect_of
from .finish import complete, finish, is_plain, renew
from .folding import Folding
from .insert import insert, insert_fresh, needs_transaction
from .loans import PostgresLoans
from .url import Settings
from .watch import Watch


class PostgresStore(SqlStore):
    """Jobs in PostgreSQL, for one event loop."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._base = PostgresDatabase(settings, STORE, clock)
        super().__init__(self._base)
        self.dialect = dialect_of(self._base.queries, clock)
        self.loans = PostgresLoans(settings, lambda: self._base.pooled)
        self._watch = Watch(self._base)
        self._folding = Folding(self._base)

    async def close(self) -> None:
        await self._folding.close()
        await self._watch.close()
        await super().close()

    async def ping(self) -> None:
        await self._base.run(lambda now, again: _ping())

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        await self._watch.wait(queues, timeout)

    def _wake(self) -> None:
        """Called after each change that may give work to others, or to counts."""
        self._watch.wake()
        self._folding.changed()

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if not jobs or needs_transaction(jobs):
            return await super().insert(jobs)
        receipts = await self._base.run(lambda now, again: insert_fresh(jobs, now, again))
        self._wake()
        return receipts

    def inserting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        return lambda now: insert(jobs, now)

    def restoring(self, jobs: Sequence[Job]) -> Plan[Sequence[Receipt]]:
        return lambda _: restore(jobs)

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        return await self._base.run(lambda now, again: admin.get(ids))

    async def claim(
        self, queues: Mapping[str, int], limit: int, lease: int, worker: str
    ) -> Sequence[Job]:
        jobs = await self._base.run(lambda now, again: claim(queues, limit, lease, worker, now))
        if jobs is None:
            jobs = await self._write(
                lambda now: promote_and_claim(queues, limit, lease, worker, now)
            )
        if jobs:
            self._folding.changed()
        return jobs

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        return await renewed(
            lambda some: self._base.run(lambda now, again: renew(some, lease, now)), leases
        )

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        if not all([is_plain(each) for each in transitions]):
            return await self._ended(await self._write(lambda now: finish(transitions, now)))
        done = await self._base.run(lambda now, again: complete(transitions, now, again=again))
        self._folding.changed()
        if done.awaited:
            await self._see_to(done.awaited)
        return done.held

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

    async def prune(self, limit: int) -> int:
        await self._folding.tidy()
        return await super().prune(limit)


def _ping() -> Operation[None]:
    yield Statement("clock")
