"""What the store keeps besides jobs: leaders and workers, schedules, keys, and what was counted."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from ...core.apikey import ApiKey
from ...core.attempts import AttemptRecord
from ...core.clock import Clock
from ...core.schedule import Schedule
from ...core.stats import StatPoint, Tally
from ...core.workers import Order, Term, WorkerInfo
from .keyring import Keyring
from .lanes import Lanes
from .ledger import Attempts, Stats
from .roster import Roster
from .step import atomic
from .timetable import Timetable


class Registers:
    """The part of the contract that no job has to do with."""

    def __init__(self, clock: Clock, lanes: Lanes) -> None:
        self._now = clock
        self._lanes = lanes
        self._lock = threading.RLock()
        self._roster = Roster()
        self._timetable = Timetable()
        self._keyring = Keyring()
        self._attempts = Attempts()
        self._stats = Stats()

    # -- leaders and workers -------------------------------------------------------------

    @atomic
    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        now = self._now()
        return self._roster.elect(role, holder, now + ttl, now)

    @atomic
    async def resign(self, role: str, holder: str) -> None:
        self._roster.resign(role, holder)

    @atomic
    async def beat(self, worker: WorkerInfo, ttl: int) -> Order | None:
        now = self._now()
        return self._roster.beat(worker, now + ttl, now)

    @atomic
    async def leave(self, worker: str) -> None:
        self._roster.leave(worker)

    @atomic
    async def workers(self) -> Sequence[WorkerInfo]:
        return self._roster.workers(self._now())

    @atomic
    async def leaders(self) -> Mapping[str, Term]:
        return self._roster.leaders()

    @atomic
    async def direct(self, workers: Sequence[str], order: Order) -> frozenset[str]:
        return self._roster.direct(workers, order, self._now())

    # -- attempts and statistics ---------------------------------------------------------

    @atomic
    async def note_attempts(self, records: Sequence[AttemptRecord], keep: int) -> None:
        self._attempts.note(records, self._now() + keep)

    @atomic
    async def attempts(self, ids: Sequence[str]) -> Mapping[str, Sequence[AttemptRecord]]:
        return self._attempts.of(ids, self._now())

    @atomic
    async def tally(self, worker: str, number: int, tallies: Sequence[Tally]) -> None:
        self._stats.add(worker, number, tallies, self._now())

    @atomic
    async def stats(self, queues: Sequence[str], step: int, since: int) -> Sequence[StatPoint]:
        return self._stats.points(queues, step, since, self._now())

    # -- schedules -----------------------------------------------------------------------

    @atomic
    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        for schedule in schedules:
            self._timetable.put(schedule, self._now())

    @atomic
    async def schedules(self) -> Sequence[Schedule]:
        return self._timetable.all()

    @atomic
    async def pause_schedules(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        return self._timetable.pause(names, paused, self._now())

    @atomic
    async def drop_schedules(self, names: Sequence[str]) -> frozenset[str]:
        return self._timetable.drop(names)

    # -- keys of the API -----------------------------------------------------------------

    @atomic
    async def put_keys(self, keys: Sequence[ApiKey]) -> None:
        self._keyring.put(keys)

    @atomic
    async def keys(self) -> Sequence[ApiKey]:
        return self._keyring.all()

    @atomic
    async def drop_keys(self, ids: Sequence[str]) -> frozenset[str]:
        return self._keyring.drop(ids)

    @atomic
    async def had_keys(self) -> bool:
        return self._keyring.had_keys

    @atomic
    async def end_logins(self, logins: Mapping[str, int]) -> None:
        self._keyring.end_logins(logins, self._now())

    @atomic
    async def ended_logins(self) -> Mapping[str, int]:
        return self._keyring.ended_logins(self._now())
