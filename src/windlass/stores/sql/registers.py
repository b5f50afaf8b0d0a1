"""What the store keeps besides jobs: leaders and workers, schedules, keys, and what was counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.apikey import ApiKey
from ...core.attempts import AttemptRecord
from ...core.schedule import Schedule
from ...core.stats import StatPoint, Tally
from ...core.workers import Order, Term, WorkerInfo
from . import attempts, crew, keyring, stats, timetable, upkeep
from .database import Database


class Registers:
    """The part of the contract that no job has to do with."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._write, self._read = database.write, database.read

    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        return await self._write(lambda now: upkeep.elect(role, holder, ttl, now))

    async def resign(self, role: str, holder: str) -> None:
        await self._write(lambda _: upkeep.resign(role, holder))

    async def beat(self, worker: WorkerInfo, ttl: int) -> Order | None:
        return await self._write(lambda now: crew.beat(worker, ttl, now))

    async def leave(self, worker: str) -> None:
        await self._write(lambda _: crew.leave(worker))

    async def workers(self) -> Sequence[WorkerInfo]:
        return await self._read(crew.listed)

    async def leaders(self) -> Mapping[str, Term]:
        return await self._read(lambda _: upkeep.leaders())

    async def direct(self, workers: Sequence[str], order: Order) -> frozenset[str]:
        return await self._write(lambda now: crew.direct(workers, order, now))

    async def note_attempts(self, records: Sequence[AttemptRecord], keep: int) -> None:
        await self._write(lambda now: attempts.note(records, now + keep))

    async def attempts(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        return await self._read(lambda now: attempts.kept(ids, now))

    async def tally(self, worker: str, number: int, tallies: Sequence[Tally]) -> None:
        await self._write(lambda now: stats.add(worker, number, tallies, now))

    async def stats(self, queues: Sequence[str], step: int, since: int) -> Sequence[StatPoint]:
        return await self._read(lambda now: stats.points(queues, step, since, now))

    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        await self._write(lambda now: timetable.put(schedules, now))

    async def schedules(self) -> Sequence[Schedule]:
        return await self._read(lambda _: timetable.listed())

    async def pause_schedules(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        return await self._write(lambda now: timetable.pause(names, paused, now))

    async def drop_schedules(self, names: Sequence[str]) -> frozenset[str]:
        return await self._write(lambda _: timetable.drop(names))

    async def put_keys(self, keys: Sequence[ApiKey]) -> None:
        await self._write(lambda _: keyring.put(keys))

    async def keys(self) -> Sequence[ApiKey]:
        return await self._read(lambda _: keyring.listed())

    async def drop_keys(self, ids: Sequence[str]) -> frozenset[str]:
        return await self._write(lambda _: keyring.drop(ids))

    async def had_keys(self) -> bool:
        return await self._read(lambda _: keyring.had_any())

    async def end_logins(self, logins: Mapping[str, int]) -> None:
        await self._write(lambda now: keyring.end_logins(logins, now))

    async def ended_logins(self) -> Mapping[str, int]:
        return await self._read(keyring.ended_logins)
