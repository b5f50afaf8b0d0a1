"""The store on Redis and Valkey: routes each operation to its shards and puts answers together.

On a single server and behind Sentinel there is one shard and nothing to put together. What an
operation does is in `lua/`, how one shard is asked in `shard`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.apikey import ApiKey
from ...core.attempts import AttemptRecord
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
from ...core.stats import StatPoint, Tally
from ...core.workers import Order, Term, WorkerInfo
from ..contract import CLAIM_BYTES
from . import keyring, registry
from .checkpoints import checkpoint
from .claiming import Ways, claim
from .heads import oldest
from .journal import keep_journal, read_journal, trim_journal
from .lanes import lanes
from .listing import find
from .lookout import has_all
from .record import CODES
from .replies import stats
from .rigging import Rigging
from .signals import signal
from .tallies import points, tally
from .together import together
from .upkeep import abandon, prune, rescue

COUNTING: Final = 2.0
"""Seconds for the counts of all queues of a shard, which may take several calls."""


class RedisStore(Rigging):
    """Jobs in Redis or Valkey."""

    # -- the way of a job ----------------------------------------------------------------

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        return await self._inserter.insert(jobs)

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        # What no other shard has may be in one that is silent, so that must be waited for.
        answers = await self._lookout.all(
            lambda number: self._shards[number].get(ids), lambda answers: has_all(answers, ids)
        )
        found = {id: job for answer in answers.values() for id, job in answer.items()}
        return {id: found[id] for id in ids if id in found}

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        await self._partitions.refresh()
        floor = self._fences.floor
        ways = Ways(self._shards, self._spread, self._names, self._lookout)
        jobs = await claim(ways, queues, limit, lease, worker, floor, most_bytes)
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
        return await signal(self._shards, self._lookout, id, name, value)

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        await self._waiting.wait(queues, timeout)

    # -- upkeep --------------------------------------------------------------------------

    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        await self._outbox.redrive()
        floor = self._fences.floor
        jobs = await rescue(self._shards, self._lookout, limit, lease, worker, floor)
        self._fences.note(jobs)
        return jobs

    async def abandon(self, worker: str) -> int:
        done = await abandon(self._shards, self._lookout, worker)
        await registry.dismiss(self._shards[0], worker)
        return done

    async def unblock(self, limit: int) -> int:
        return await self._unblocking.unblock(limit)

    async def prune(self, limit: int) -> int:
        return await prune(self._shards, self._names, self._lookout, limit)

    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        return await self._first(lambda shard: registry.elect(shard, role, holder, ttl))

    async def resign(self, role: str, holder: str) -> None:
        await self._ask(lambda shard: registry.resign(shard, role, holder))

    async def beat(self, worker: WorkerInfo, ttl: int) -> Order | None:
        return await registry.beat(self._shards[0], worker, ttl)

    async def leave(self, worker: str) -> None:
        await registry.leave(self._shards[0], worker)

    async def note_attempts(self, records: Sequence[AttemptRecord], keep: int) -> None:
        await self._attempts.note(records, keep)

    async def tally(self, worker: str, number: int, tallies: Sequence[Tally]) -> None:
        await tally(self._shards[0], worker, number, tallies)

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

    # -- keys of the API -----------------------------------------------------------------

    async def put_keys(self, keys: Sequence[ApiKey]) -> None:
        await keyring.put_keys(self._shards[0], keys)

    async def keys(self) -> Sequence[ApiKey]:
        return await keyring.keys(self._shards[0])

    async def drop_keys(self, ids: Sequence[str]) -> frozenset[str]:
        return await keyring.drop_keys(self._shards[0], ids)

    async def had_keys(self) -> bool:
        return await keyring.had_keys(self._shards[0])

    async def end_logins(self, logins: Mapping[str, int]) -> None:
        await keyring.end_logins(self._shards[0], logins)

    async def ended_logins(self) -> Mapping[str, int]:
        return await keyring.ended_logins(self._shards[0])

    # -- journal and move ----------------------------------------------------------------

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
        return await find(self._shards, self._lookout, query)

    async def queues(self) -> Sequence[QueueStats]:
        return stats((await self._ask(lambda shard: shard.counts(), COUNTING)).values())

    async def oldest(self, queues: Sequence[str]) -> Mapping[str, int]:
        await self._partitions.refresh()
        return await oldest(self._shards, self._spread, self._lookout, queues)

    async def lanes(self, limit: int, cursor: str | None = None) -> LanePage:
        await self._partitions.refresh()
        return await lanes(self._shards, self._spread, self._lookout, limit, cursor)

    async def workers(self) -> Sequence[WorkerInfo]:
        return await registry.workers(self._shards[0])

    async def leaders(self) -> Mapping[str, Term]:
        return registry.latest(await self._ask(registry.leaders))

    async def direct(self, workers: Sequence[str], order: Order) -> frozenset[str]:
        return await registry.direct(self._shards[0], workers, order)

    async def attempts(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        return await self._attempts.of(ids)

    async def stats(self, queues: Sequence[str], step: int, since: int) -> Sequence[StatPoint]:
        return await points(self._shards[0], queues, step, since)

    async def prioritize(self, ids: Sequence[str], priority: int) -> frozenset[str]:
        return await self._changes.change("prioritize", ids, priority)

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
        return await self._changes.delete(ids, codes, moved)

    async def pause(self, queue: str) -> None:
        await self._pause(queue, paused=True)

    async def resume(self, queue: str) -> None:
        await self._pause(queue, paused=False)

    async def _pause(self, queue: str, *, paused: bool) -> None:
        # In every shard: the queue may get parts in others.
        await together([shard.pause(queue, paused=paused) for shard in self._shards])
