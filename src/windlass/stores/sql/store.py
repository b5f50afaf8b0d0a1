"""The contract over any SQL engine: each method is one operation in one transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Final

from ...core.lane import LanePage
from ...core.model import (
    Entry,
    Job,
    JobQuery,
    Lease,
    NewJob,
    Page,
    Progress,
    QueueStats,
    Receipt,
    Transition,
)
from ...core.moved import refuse_active
from ...core.schedule import Schedule
from ...core.states import DELETABLE, State
from ..contract import CLAIM_BYTES
from . import (
    admin,
    births,
    claim,
    dependents,
    find,
    finish,
    insert,
    journal,
    ranks,
    signals,
    stats,
    survey,
    timetable,
    upkeep,
)
from .database import Database
from .dependents import STEP, Ended, ids_of
from .dialect import Dialect
from .loans import Loans
from .operation import Operation, Plan, T
from .promotion import Promotion, Step
from .registers import Registers
from .rest import Rest

MOST_ROUNDS: Final = 20
"""So many batches of what is no job one call of `prune` drops, each in a transaction of its own:
there may be far more of it than of jobs."""


class SqlStore(Registers, ABC):
    """What SQL stores have in common; an engine adds how to wait, and what it does better."""

    dialect: Dialect
    """for connections that are not the store's own"""
    loans: Loans
    """the store's own connections, for handlers"""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._promotion = Promotion()
        self._rest = Rest(lambda: self.unblock(STEP), blocking=database.blocking)

    @property
    def blocking(self) -> bool:
        return self._database.blocking

    async def open(self) -> None:
        await self._database.open()

    async def close(self) -> None:
        await self._rest.close()
        await self.loans.close()
        await self._database.close()

    async def migrate(self) -> Sequence[str]:
        return await self._database.migrate()

    async def ping(self) -> None:
        await self.queues()

    async def now(self) -> int:
        return await self._read(_moment)

    @abstractmethod
    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        """As in the contract."""

    @abstractmethod
    def _wake(self) -> None:
        """Tell waiters of this process that queues may have work."""

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        receipts = await self._write(self.inserting(jobs))
        self._wake()
        return receipts

    def inserting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        """The operation behind `insert`, to be run in a transaction of whoever asks."""
        return lambda now: insert.insert(jobs, now)

    def _accepting(self, jobs: Sequence[NewJob]) -> Plan[Sequence[Receipt]]:
        """The same, for a transaction of our own."""
        return self.inserting(jobs)

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        return await self._read(lambda _: admin.get(ids))

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        step = self._promotion.begin(queues, limit)
        jobs = await self._claim_once(queues, limit, lease, worker, most_bytes, step)
        step.end(jobs)
        return jobs

    async def _claim_once(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int,
        step: Step,
    ) -> Sequence[Job]:
        return await self._write(
            lambda now: claim.claim(queues, limit, lease, worker, most_bytes, step, now)
        )

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        return await self._write(lambda now: upkeep.renew(leases, lease, now))

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        return await self._ended(await self._write(lambda now: finish.finish(transitions, now)))

    def finishing(self, transitions: Sequence[Transition]) -> Plan[frozenset[str]]:
        """The operation behind `finish`, to be run in a transaction of whoever asks."""
        return lambda now: ids_of(finish.finish(transitions, now))

    async def _ended(self, ended: Ended) -> frozenset[str]:
        """What follows a step that ended jobs: others may go on now."""
        self._wake()
        if ended.owing:
            await self._rest.begin()
        return ended.ids

    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        await self._write(lambda _: upkeep.report(reports))

    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        return await self._write(lambda _: upkeep.checkpoint(states))

    async def signal(self, id: str, name: str, value: bytes) -> bool:
        plan = self._moving([id], lambda now: signals.signal(id, name, value, now))
        told = await self._write(plan)
        self._wake()
        return told

    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        return await self._write(lambda now: upkeep.rescue(limit, lease, worker, now))

    async def abandon(self, worker: str) -> int:
        return await self._write(lambda now: upkeep.abandon(worker, now))

    async def unblock(self, limit: int) -> int:
        looked = await self._write(lambda now: dependents.unblock(limit, now))
        if looked:
            self._wake()
        return looked

    async def prune(self, limit: int) -> int:
        pruned = await self._write(lambda now: upkeep.prune(limit, now))
        for _ in range(MOST_ROUNDS):
            if await self._write(lambda now: stats.prune(limit, now)) < limit:
                break
        return pruned

    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        receipt = await self._write(
            lambda now: timetable.tick(schedule, tick, now, self._accepting)
        )
        self._wake()
        return receipt

    async def keep_journal(self, on: bool) -> None:
        await self._write(lambda _: journal.keep(on))

    async def read_journal(self, limit: int) -> Sequence[Entry]:
        return await self._read(lambda _: journal.read(limit))

    async def trim_journal(self, entries: Sequence[Entry]) -> None:
        await self._write(lambda _: journal.trim(entries))

    async def restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        refuse_active(jobs)
        restored = await self._write(lambda now: births.restore(jobs, now, self.restoring))
        self._wake()
        if restored.owing:
            await self._rest.begin()
        return restored.receipts

    def restoring(self, jobs: Sequence[Job]) -> Plan[Sequence[Receipt]]:
        """The operation behind `restore`, which sees to dependents."""
        return lambda _: insert.restore(jobs)

    async def find(self, query: JobQuery) -> Page:
        return await self._read(lambda _: find.find(query))

    async def queues(self) -> Sequence[QueueStats]:
        return await self._read(lambda _: admin.queues())

    async def oldest(self, queues: Sequence[str]) -> Mapping[str, int]:
        return await self._read(lambda _: survey.oldest(queues))

    async def lanes(self, limit: int, cursor: str | None = None) -> LanePage:
        return await self._read(lambda _: survey.lanes(limit, cursor))

    async def risks(self) -> Sequence[str]:
        return await self._read(lambda _: survey.risks())

    async def prioritize(self, ids: Sequence[str], priority: int) -> frozenset[str]:
        changed = await self._write(self._moving(ids, lambda _: ranks.prioritize(ids, priority)))
        self._wake()
        return changed

    async def reschedule(
        self, ids: Sequence[str], delay: int = 0, due: int | None = None
    ) -> frozenset[str]:
        moved = await self._write(
            self._moving(
                ids, lambda now: admin.reschedule(ids, now + delay if due is None else due, now)
            )
        )
        self._wake()
        return moved

    async def cancel(self, ids: Sequence[str]) -> frozenset[str]:
        plan = self._moving(ids, lambda now: admin.cancel(ids, now))
        return await self._ended(await self._write(plan))

    async def replay(self, ids: Sequence[str]) -> frozenset[str]:
        replayed = await self._write(lambda now: admin.replay(ids, now))
        self._wake()
        return replayed

    async def delete(
        self,
        ids: Sequence[str],
        states: frozenset[State] = DELETABLE,
        *,
        moved: bool = False,
    ) -> frozenset[str]:
        states &= DELETABLE
        plan = self._moving(ids, lambda now: admin.delete(ids, states, now, moved=moved))
        return await self._ended(await self._write(plan))

    def _moving(self, ids: Sequence[str], plan: Plan[T]) -> Plan[T]:
        """An operation that moves jobs which may be in lanes, with what an engine does first."""
        return plan

    async def pause(self, queue: str) -> None:
        await self._write(lambda _: admin.pause(queue))

    async def resume(self, queue: str) -> None:
        await self._write(lambda _: admin.resume(queue))
        self._wake()


def _moment(now: int) -> Operation[int]:
    yield from ()
    return now
