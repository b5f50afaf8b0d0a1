"""The schedules of a store: looked at and changed, wherever the store came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import msgspec

from ..core.codec import Codecs
from ..core.cron import Missed
from ..core.ids import new_id
from ..core.model import NewJob
from ..core.rebinding import scheduled
from ..core.schedule import Overlap, Schedule, schedule_of
from ..errors import InvalidOption, UnknownSchedule
from ..stores.contract import Store
from ..task import Registry


class ScheduleInfo(msgspec.Struct, frozen=True):
    """A schedule as people look at it. Moments are milliseconds, as everywhere."""

    name: str
    text: str
    timezone: str
    task: str
    queue: str
    priority: int
    missed: Missed
    overlap: Overlap
    paused: bool
    declared: bool
    """whether the code of this app has it"""
    last_at: int | None
    """the last tick that was seen to"""
    next_at: int | None
    """none while it is paused, or broken"""
    job: str | None
    """the job of the last tick that made one"""
    fault: str | None
    """why it cannot tick"""


class Changes(TypedDict, total=False):
    """What can be changed about a schedule."""

    text: str
    job: NewJob
    timezone: str
    missed: Missed
    overlap: Overlap


class Scheduling:
    """The schedules of one store; `registry` has those that code declares."""

    def __init__(self, store: Store, registry: Registry, codecs: Codecs) -> None:
        self._store = store
        self._registry = registry
        self._codecs = codecs

    async def add(self, schedule: Schedule) -> None:
        if any(each.name == schedule.name for each in await self._store.schedules()):
            raise InvalidOption(
                f"There is a schedule {schedule.name} already; change it, or remove it first."
            )
        await self._store.put_schedules([schedule])

    async def change(self, name: str, changes: Changes) -> None:
        old = await self.found(name)
        job = NewJob(new_id(), old.spec, old.queue, old.priority, fresh=True)
        new = schedule_of(
            name,
            changes.get("text", old.text),
            changes.get("job", job),
            changes.get("timezone", old.zone),
            changes.get("missed", old.missed),
            changes.get("overlap", old.overlap),
        )
        if "job" in changes:
            new = scheduled(self._codecs, new, changes["job"])
        await self._store.put_schedules([new])

    async def pause(self, names: Sequence[str], paused: bool) -> None:
        _refuse_unknown(names, await self._store.pause_schedules(names, paused))

    async def remove(self, names: Sequence[str]) -> None:
        _refuse_unknown(names, await self._store.drop_schedules(names))

    async def trigger(self, name: str) -> str:
        """Enqueue the job of a schedule; its id."""
        schedule = await self.found(name)
        return (await self._store.insert([schedule.extra_job()]))[0].id

    async def get(self, name: str) -> ScheduleInfo:
        return self.info(await self.found(name), await self._store.now())

    async def list(self) -> Sequence[ScheduleInfo]:
        now = await self._store.now()
        return [self.info(schedule, now) for schedule in await self._store.schedules()]

    async def found(self, name: str) -> Schedule:
        """The schedule of a name as the store has it, or `UnknownSchedule`."""
        for schedule in await self._store.schedules():
            if schedule.name == name:
                return schedule
        raise _unknown([name])

    def info(self, schedule: Schedule, now: int) -> ScheduleInfo:
        next_at, fault = None, None
        try:
            next_at = None if schedule.paused else schedule.timetable.after(now)
        except InvalidOption as error:
            fault = str(error)
        return ScheduleInfo(
            name=schedule.name,
            text=schedule.text,
            timezone=schedule.zone,
            task=schedule.spec.task,
            queue=schedule.queue,
            priority=schedule.priority,
            missed=schedule.missed,
            overlap=schedule.overlap,
            paused=schedule.paused,
            declared=schedule.name in self._registry.schedules,
            # Before the first tick it is the moment at which the schedule was made.
            last_at=schedule.last if schedule.job else None,
            next_at=next_at,
            job=schedule.job or None,
            fault=fault,
        )


def _refuse_unknown(names: Sequence[str], known: frozenset[str]) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        raise _unknown(missing)


def _unknown(names: Sequence[str]) -> UnknownSchedule:
    return UnknownSchedule(f"There is no schedule {', '.join(names)} in the store.")
