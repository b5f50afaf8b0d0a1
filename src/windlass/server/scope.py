"""A store as a key with queues sees it: what lies in other queues is not there.

Roles are checked where a request comes in; which queues it may touch is checked here and nowhere
else, so that no way into the store can forget it. A key without queues gets the store itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from ..admin.facts import serves
from ..core.attempts import AttemptRecord
from ..core.lane import LanePage
from ..core.model import (
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
from ..core.rotation import EVERY
from ..core.schedule import Schedule
from ..core.states import DELETABLE, State
from ..core.stats import StatPoint, Tally
from ..core.workers import Order, Term, WorkerInfo
from ..errors import Forbidden
from ..stores.contract import CLAIM_BYTES, Store
from .caller import ANYONE, Caller
from .listing import find_in, lanes_in, stats_in
from .owners import Owners
from .pulse import Snapshot
from .storing import store_jobs


def scoped(store: Store, caller: Caller, owners: Owners) -> Store:
    """The store for one caller."""
    if caller.queues:
        return cast(Store, ScopedStore(store, caller, owners))
    return store if caller is ANYONE else cast(Store, KeyedStore(store, caller, owners))


def visible(found: Snapshot, caller: Caller) -> Snapshot:
    """What a caller may see of a look at the whole store."""
    own = caller.queues
    if not own:
        return found
    return replace(
        found,
        queues=[each for each in found.queues if each.name in own],
        oldest={name: at for name, at in found.oldest.items() if name in own},
        workers=_workers(found.workers, own),
    )


def _workers(workers: Sequence[WorkerInfo], own: frozenset[str]) -> Sequence[WorkerInfo]:
    """Those that serve one of these queues, as if they served no others."""
    return [
        replace(each, queues=tuple(name for name in each.queues if _served(name) in {*own, EVERY}))
        for each in workers
        if any(serves(each, queue) for queue in own)
    ]


def _served(text: str) -> str:
    """The queue without its weight, which follows the last colon."""
    name, colon, _ = text.rpartition(":")
    return name if colon else text


class KeyedStore:
    """The store as any caller sees it who has a key: workers of other keys are not its own."""

    __slots__ = ("_caller", "_owners", "_store")

    def __init__(self, store: Store, caller: Caller, owners: Owners) -> None:
        self._store = store
        self._caller = caller
        self._owners = owners

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def beat(self, worker: WorkerInfo, ttl: int) -> Order | None:
        return await self._owners.beat(self._caller, worker, ttl)

    async def leave(self, worker: str) -> None:
        await self._owners.leave(self._caller, worker)

    async def abandon(self, worker: str) -> int:
        return await self._owners.abandon(self._caller, worker)

    async def tally(self, worker: str, number: int, tallies: Sequence[Tally]) -> None:
        await self._owners.tally(self._caller, worker, number, tallies)


class ScopedStore(KeyedStore):
    """The queues of one caller. Whatever is not written here is forbidden to it."""

    __slots__ = ("_queues",)

    def __init__(self, store: Store, caller: Caller, owners: Owners) -> None:
        super().__init__(store, caller, owners)
        self._queues = caller.queues

    def __getattr__(self, name: str) -> Any:
        raise Forbidden(
            f"The key {self._caller.name} is bound to queues, and this is about the whole store."
        )

    @property
    def blocking(self) -> bool:
        return self._store.blocking

    async def ping(self) -> None:
        await self._store.ping()

    async def now(self) -> int:
        return await self._store.now()

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        return await store_jobs(self._store, self._caller, jobs, self._store.insert)

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        found = await self._store.get(ids)
        return {id: job for id, job in found.items() if job.queue in self._queues}

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        self._require(queues)
        return await self._store.claim(queues, limit, lease, worker, most_bytes)

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        seen = await self._seen([each.id for each in leases])
        return await self._store.renew([each for each in leases if each.id in seen], lease)

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        seen = await self._seen([each.id for each in transitions])
        return await self._store.finish([each for each in transitions if each.id in seen])

    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        seen = await self._seen([lease.id for lease, _ in reports])
        await self._store.report([each for each in reports if each[0].id in seen])

    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        seen = await self._seen([lease.id for lease, _ in states])
        return await self._store.checkpoint([each for each in states if each[0].id in seen])

    async def signal(self, id: str, name: str, value: bytes) -> bool:
        return bool(await self._seen([id])) and await self._store.signal(id, name, value)

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        self._require(queues)
        await self._store.wait(queues or sorted(self._queues), timeout)

    async def beat(self, worker: WorkerInfo, ttl: int) -> Order | None:
        self._require(name for name in map(_served, worker.queues) if name != EVERY)
        return await super().beat(replace(worker, queues=self._in_full(worker.queues)), ttl)

    async def abandon(self, worker: str) -> int:
        """Only of a worker that serves no other queues: its leases run out in all of them."""
        for each in await self._store.workers():
            if each.id == worker and not self._queues.issuperset(map(_served, each.queues)):
                return 0
        return await super().abandon(worker)

    async def note_attempts(self, records: Sequence[AttemptRecord], keep: int) -> None:
        self._require(each.queue for each in records)
        # A job that is gone is nobody's; one of another queue is not there.
        found = await self._store.get([each.id for each in records])
        others = {id for id, job in found.items() if job.queue not in self._queues}
        await self._store.note_attempts([each for each in records if each.id not in others], keep)

    async def tally(self, worker: str, number: int, tallies: Sequence[Tally]) -> None:
        self._require(each.queue for each in tallies)
        await super().tally(worker, number, tallies)

    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        """Never: a leader sees to all queues. So a worker with such a key leaves it to others."""
        return None

    async def schedules(self) -> Sequence[Schedule]:
        return [each for each in await self._store.schedules() if each.queue in self._queues]

    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        self._require(each.queue for each in schedules)
        names = {each.name for each in schedules}
        for each in await self._store.schedules():
            if each.name in names and each.queue not in self._queues:
                raise Forbidden(f"The name {each.name} is taken; call the schedule otherwise.")
        await self._store.put_schedules(schedules)

    async def pause_schedules(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        return await self._store.pause_schedules(await self._own_schedules(names), paused)

    async def drop_schedules(self, names: Sequence[str]) -> frozenset[str]:
        return await self._store.drop_schedules(await self._own_schedules(names))

    async def find(self, query: JobQuery) -> Page:
        return await find_in(self._store, self._queues, query)

    async def queues(self) -> Sequence[QueueStats]:
        return [each for each in await self._store.queues() if each.name in self._queues]

    async def oldest(self, queues: Sequence[str]) -> Mapping[str, int]:
        return await self._store.oldest([queue for queue in queues if queue in self._queues])

    async def lanes(self, limit: int, cursor: str | None = None) -> LanePage:
        return await lanes_in(self._store, self._queues, limit, cursor)

    async def workers(self) -> Sequence[WorkerInfo]:
        return _workers(await self._store.workers(), self._queues)

    async def direct(self, workers: Sequence[str], order: Order) -> frozenset[str]:
        seen = {each.id for each in await self.workers()} & {*workers}
        for each in await self._store.workers():
            if each.id in seen and not {*map(_served, each.queues)} <= self._queues:
                raise Forbidden(
                    f"The worker {each.id} serves more queues than the key {self._caller.name} "
                    "is bound to: direct it with a key for all of them."
                )
        return await self._store.direct(sorted(seen), order)

    async def attempts(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        found = await self._store.attempts(ids)
        own = {
            id: [each for each in records if each.queue in self._queues]
            for id, records in found.items()
        }
        return {id: records for id, records in own.items() if records}

    async def stats(self, queues: Sequence[str], step: int, since: int) -> Sequence[StatPoint]:
        return await stats_in(self._store, self._queues, queues, step, since)

    async def prioritize(self, ids: Sequence[str], priority: int) -> frozenset[str]:
        return await self._store.prioritize(await self._seen(ids), priority)

    async def reschedule(
        self, ids: Sequence[str], delay: int = 0, due: int | None = None
    ) -> frozenset[str]:
        return await self._store.reschedule(await self._seen(ids), delay, due)

    async def cancel(self, ids: Sequence[str]) -> frozenset[str]:
        return await self._store.cancel(await self._seen(ids))

    async def replay(self, ids: Sequence[str]) -> frozenset[str]:
        return await self._store.replay(await self._seen(ids))

    async def delete(
        self, ids: Sequence[str], states: frozenset[State] = DELETABLE, *, moved: bool = False
    ) -> frozenset[str]:
        if moved:
            raise Forbidden("A key that is bound to queues cannot move jobs to another store.")
        return await self._store.delete(await self._seen(ids), states)

    async def pause(self, queue: str) -> None:
        self._caller.require_queue(queue)
        await self._store.pause(queue)

    async def resume(self, queue: str) -> None:
        self._caller.require_queue(queue)
        await self._store.resume(queue)

    def _require(self, queues: Iterable[str]) -> None:
        for queue in queues:
            self._caller.require_queue(queue)

    async def _seen(self, ids: Sequence[str]) -> Sequence[str]:
        """Those of these jobs that the caller sees; a job never changes its queue."""
        found = await self.get(ids)
        return [id for id in ids if id in found]

    def _in_full(self, queues: Iterable[str]) -> tuple[str, ...]:
        """What a worker serves that says that it serves every queue: those that it sees."""
        full: dict[str, None] = {}
        for text in queues:
            weight = text.removeprefix(EVERY)
            every = _served(text) == EVERY
            full.update(
                dict.fromkeys(f"{name}{weight}" for name in sorted(self._queues))
                if every
                else {text: None}
            )
        return tuple(full)

    async def _own_schedules(self, names: Sequence[str]) -> Sequence[str]:
        own = {each.name for each in await self.schedules()}
        return [name for name in names if name in own]
