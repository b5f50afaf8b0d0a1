"""The store on Redis and Valkey: routes each operation to its shards and puts answers together.

On a single server and behind Sentinel there is one shard and nothing to put together. What an
operation does is in `lua/`, how one shard is asked in `shard`.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

from ...core.clock import Clock
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
from ...core.workers import Term, WorkerInfo
from . import registry
from .changes import Changes
from .checkpoints import checkpoint
from .claiming import Ways, claim
from .errands import Errands
from .fences import Fences
from .finishing import Finisher
from .inserting import Inserter
from .journal import keep_journal, read_journal, trim_journal
from .keys import SHARDS, Keys, tags
from .listing import find
from .lookout import LIMIT, Lookout
from .names import Names
from .opening import Partitions, check_version, warn_of_losses
from .outbox import redrive
from .parents import Parents
from .places import Places
from .record import CODES
from .replies import stats
from .schedules import Schedules, Ticks
from .shard import Shard
from .signals import signal
from .spread import Spread
from .together import together
from .transport import Transport
from .unblocking import Unblocking
from .upkeep import prune, rescue
from .url import Settings
from .waiting import Waiting
from .wake import Wakeups

T = TypeVar("T")

COUNTING: Final = 2.0
"""Seconds for the counts of all queues of a shard, which may take several calls."""


class RedisStore:
    """Jobs in Redis or Valkey."""

    def __init__(self, settings: Settings, transport: Transport, clock: Clock | None) -> None:
        several = SHARDS if settings.topology == "cluster" else 1
        self._transport = transport
        self._channel = f"{settings.namespace}:{settings.db}:wake"
        self._fences = Fences(several)
        self._shards = [
            Shard(
                Places(n, several),
                transport,
                Keys(settings.namespace, tag),
                self._channel,
                clock,
            )
            for n, tag in enumerate(tags(several))
        ]
        self._spread = Spread(several, settings.partitions)
        self._errands = Errands(blocking=self.blocking)
        self._lookout = Lookout(several, self._errands, blocking=self.blocking)
        self._partitions = Partitions(self._shards[0], self._spread, self._errands)
        self._parents = Parents(self._shards, self._spread)
        self._names = Names(self._shards, self._spread, self._parents)
        self._unblocking = Unblocking(self._shards, self._names, self._lookout, self._errands)
        self._inserter = Inserter(
            self._shards, self._spread, self._names, self._parents, self._unblocking
        )
        self._finisher = Finisher(
            self._shards, self._names, self._lookout, self._errands, self._unblocking
        )
        self._changes = Changes(self._shards, self._names, self._parents, self._unblocking)
        self._schedules = Schedules(self._shards[0])
        self._ticks = Ticks(
            self._shards, self._spread, self._names, self._parents, self._unblocking
        )
        self._wakeups = Wakeups(lambda heard: transport.listen(self._channel, heard))
        self._waiting = Waiting(
            self._shards, self._spread, self._partitions, self._lookout, self._wakeups
        )

    @property
    def blocking(self) -> bool:
        return self._transport.blocking

    # -- life of the store ---------------------------------------------------------------

    async def open(self) -> None:
        await self._transport.open()
        await check_version(self._shards[0])
        await self._partitions.open()
        if not self.blocking:
            await warn_of_losses(self._transport)

    async def close(self) -> None:
        if not self.blocking:
            await self._wakeups.stop()
            await self._errands.stop()
        await self._transport.close()

    async def migrate(self) -> Sequence[str]:
        await check_version(self._shards[0])
        return ()

    async def ping(self) -> None:
        await self._transport.everywhere("PING")

    async def now(self) -> int:
        return await self._shards[0].time()

    # -- the way of a job ----------------------------------------------------------------

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        return await self._inserter.insert(jobs)

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        answers = await self._ask(lambda shard: shard.get(ids))
        found = {id: job for answer in answers.values() for id, job in answer.items()}
        late = [shard for shard in self._shards if shard.number not in answers]
        if late and not found.keys() >= set(ids):
            # What no other shard has may be in one of these, so they must be waited for.
            for answer in await together([shard.get(ids) for shard in late]):
                found |= answer
        return {id: found[id] for id in ids if id in found}

    async def claim(
        self, queues: Mapping[str, int], limit: int, lease: int, worker: str
    ) -> Sequence[Job]:
        await self._partitions.refresh()
        floor = self._fences.floor
        ways = Ways(self._shards, self._spread, self._names, self._lookout)
        jobs = await claim(ways, queues, limit, lease, worker, floor)
        self._fences.note(jobs)
        return jobs

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        answers = await self._ask(lambda shard: shard.renew(leases, lease))
        if len(answers) < len(self._shards):
            # A lease that could not be asked for is not lost, and nobody knows where it is.
            return frozenset(each.id for each in leases)
        return frozenset().union(*answers.values())

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        return await self._finisher.finish(transitions) if transitions else frozenset()

    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        if reports:
            await self._ask(lambda shard: shard.report(reports))

    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        return await checkpoint(self._shards, self._lookout, states)

    async def signal(self, id: str, name: str, value: bytes) -> bool:
        return await signal(self._shards, id, name, value)

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        await self._waiting.wait(queues, timeout)

    # -- upkeep --------------------------------------------------------------------------

    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        await redrive(self._shards, self._names, self._parents, self._ticks, self._lookout)
        floor = self._fences.floor
        jobs = await rescue(self._shards, self._lookout, limit, lease, worker, floor)
        self._fences.note(jobs)
        return jobs

    async def unblock(self, limit: int) -> int:
        return await self._unblocking.unblock(limit)

    async def prune(self, limit: int) -> int:
        return await prune(self._shards, self._names, self._lookout, limit)

    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        return await registry.elect(self._shards[0], role, holder, ttl)

    async def resign(self, role: str, holder: str) -> None:
        await registry.resign(self._shards[0], role, holder)

    async def beat(self, worker: WorkerInfo, ttl: int) -> None:
        await registry.beat(self._shards[0], worker, ttl)

    async def leave(self, worker: str) -> None:
        await registry.leave(self._shards[0], worker)

    # -- schedules -----------------------------------------------------------------------

    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        await self._schedules.put(schedules)

    async def schedules(self) -> Sequence[Schedule]:
        return await self._schedules.all()

    async def pause_schedules(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        return await self._schedules.pause(names, paused)

    async def drop_schedules(self, names: Sequence[str]) -> frozenset[str]:
        return await self._schedules.drop(names)

    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        return await self._ticks.tick(schedule, tick)

    # -- journal -------------------------------------------------------------------------

    async def keep_journal(self, on: bool) -> None:
        await keep_journal(self._shards, on)

    async def read_journal(self, limit: int) -> Sequence[Entry]:
        return await read_journal(self._shards, self._lookout, limit)

    async def trim_journal(self, entries: Sequence[Entry]) -> None:
        await trim_journal(self._shards, entries)

    async def restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        refuse_active(jobs)
        self._fences.note(jobs)
        return await self._inserter.restore(jobs)

    # -- people --------------------------------------------------------------------------

    async def find(self, query: JobQuery) -> Page:
        return await find(self._shards, query)

    async def queues(self) -> Sequence[QueueStats]:
        return stats((await self._ask(lambda shard: shard.counts(), COUNTING)).values())

    async def workers(self) -> Sequence[WorkerInfo]:
        return await registry.workers(self._shards[0])

    async def reschedule(
        self, ids: Sequence[str], delay: int = 0, due: int | None = None
    ) -> frozenset[str]:
        moment = "" if due is None else due
        return await self._changes.change("reschedule", ids, delay, moment)

    async def cancel(self, ids: Sequence[str]) -> frozenset[str]:
        return await self._changes.change("cancel", ids)

    async def replay(self, ids: Sequence[str]) -> frozenset[str]:
        return await self._changes.replay(ids)

    async def delete(
        self,
        ids: Sequence[str],
        states: frozenset[State] = DELETABLE,
        *,
        moved: bool = False,
    ) -> frozenset[str]:
        codes = "".join(str(CODES[state]) for state in states & DELETABLE)
        return await self._changes.change("delete", ids, codes, int(moved))

    async def pause(self, queue: str) -> None:
        await self._pause(queue, paused=True)

    async def resume(self, queue: str) -> None:
        await self._pause(queue, paused=False)

    async def _pause(self, queue: str, *, paused: bool) -> None:
        # In every shard: the queue may get parts in others.
        await together([shard.pause(queue, paused=paused) for shard in self._shards])

    async def _ask(
        self, question: Callable[[Shard], Coroutine[Any, Any, T]], limit: float = LIMIT
    ) -> dict[int, T]:
        """What all shards answer but those that are down."""
        numbers = range(len(self._shards))
        return await self._lookout.ask(
            numbers, lambda number: question(self._shards[number]), limit
        )
