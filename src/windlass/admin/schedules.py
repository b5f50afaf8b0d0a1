"""The schedules of a store as an app offers them, to async code and to blocking code alike."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypedDict, TypeVar, Unpack

import msgspec
from msgspec.structs import replace

from ..core.cron import Missed
from ..core.ids import new_id
from ..core.model import NewJob
from ..core.schedule import Overlap, Schedule, schedule_of
from ..errors import InvalidOption, UnknownSchedule
from ..handle import JobHandle
from ..stores.contract import Store
from ..task import Call, Registry, Wire

T = TypeVar("T")
Act = Callable[[Store], Coroutine[Any, Any, T]]


class ScheduleOptions(TypedDict, total=False):
    """What a schedule can be given besides its times and its job."""

    timezone: str
    missed: Missed
    overlap: Overlap


class ScheduleChanges(ScheduleOptions, total=False):
    """What can be changed about a schedule."""

    text: str
    call: Call[Any]


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


class Schedules:
    """Which jobs are enqueued when, in the store of an app."""

    def __init__(self, wire: Wire, registry: Registry) -> None:
        self._wire = wire
        self._registry = registry

    def add(
        self, name: str, text: str, call: Call[Any], **options: Unpack[ScheduleOptions]
    ) -> None:
        """Have a job, made by `task.call(…)`, enqueued again and again from now on."""
        self._block(_adding(schedule_of(name, text, call.job, **options)), "add(…)")

    async def aadd(
        self, name: str, text: str, call: Call[Any], **options: Unpack[ScheduleOptions]
    ) -> None:
        await self._act(_adding(schedule_of(name, text, call.job, **options)))

    def change(self, name: str, **changes: Unpack[ScheduleChanges]) -> None:
        """Change what is given. One that code declares is put back by the next worker start."""
        self._block(_changing(name, changes), "change(…)")

    async def achange(self, name: str, **changes: Unpack[ScheduleChanges]) -> None:
        await self._act(_changing(name, changes))

    def pause(self, *names: str) -> None:
        """Let schedules make no jobs until they are resumed, whatever code says."""
        self._block(_pausing(names, True), "pause(…)")

    async def apause(self, *names: str) -> None:
        await self._act(_pausing(names, True))

    def resume(self, *names: str) -> None:
        self._block(_pausing(names, False), "resume(…)")

    async def aresume(self, *names: str) -> None:
        await self._act(_pausing(names, False))

    def remove(self, *names: str) -> None:
        """Remove schedules; the jobs that they made stay."""
        self._block(_removing(names), "remove(…)")

    async def aremove(self, *names: str) -> None:
        await self._act(_removing(names))

    def trigger(self, name: str) -> JobHandle[Any]:
        """Enqueue the job of a schedule now, besides its ticks and whatever it overlaps with."""
        return self._handle(self._block(_triggering(name), "trigger(…)"))

    async def atrigger(self, name: str) -> JobHandle[Any]:
        return self._handle(await self._act(_triggering(name)))

    def get(self, name: str) -> ScheduleInfo:
        return self._block(lambda store: self._get(store, name), "get(…)")

    async def aget(self, name: str) -> ScheduleInfo:
        return await self._act(lambda store: self._get(store, name))

    def list(self) -> Sequence[ScheduleInfo]:
        """Every schedule, by name."""
        return self._block(self._list, "list()")

    async def alist(self) -> Sequence[ScheduleInfo]:
        return await self._act(self._list)

    async def _get(self, store: Store, name: str) -> ScheduleInfo:
        return self._info(await _found(store, name), await store.now())

    async def _list(self, store: Store) -> Sequence[ScheduleInfo]:
        now = await store.now()
        return [self._info(schedule, now) for schedule in await store.schedules()]

    def _info(self, schedule: Schedule, now: int) -> ScheduleInfo:
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

    def _handle(self, id: str) -> JobHandle[Any]:
        return JobHandle(self._wire.client, self._wire.codecs, id, lambda value, _: value)

    def _block(self, act: Act[T], call: str) -> T:
        call, instead = f"app.schedules.{call}", f"app.schedules.a{call}"
        return self._wire.client.block(act, call, instead)

    async def _act(self, act: Act[T]) -> T:
        return await act(await self._wire.client.store())


def _adding(schedule: Schedule) -> Act[None]:
    async def act(store: Store) -> None:
        if any(each.name == schedule.name for each in await store.schedules()):
            raise InvalidOption(
                f"There is a schedule {schedule.name} already; change it, or remove it first."
            )
        await store.put_schedules([schedule])

    return act


def _changing(name: str, changes: ScheduleChanges) -> Act[None]:
    async def act(store: Store) -> None:
        old = await _found(store, name)
        job = NewJob(new_id(), old.spec, old.queue, old.priority, fresh=True)
        new = schedule_of(
            name,
            changes.get("text", old.text),
            changes["call"].job if "call" in changes else job,
            changes.get("timezone", old.zone),
            changes.get("missed", old.missed),
            changes.get("overlap", old.overlap),
        )
        await store.put_schedules([new])

    return act


def _pausing(names: Sequence[str], paused: bool) -> Act[None]:
    async def act(store: Store) -> None:
        _refuse_unknown(names, await store.pause_schedules(names, paused))

    return act


def _removing(names: Sequence[str]) -> Act[None]:
    async def act(store: Store) -> None:
        _refuse_unknown(names, await store.drop_schedules(names))

    return act


def _triggering(name: str) -> Act[str]:
    async def act(store: Store) -> str:
        schedule = await _found(store, name)
        job = replace(schedule.new_job(0), id=new_id())
        return (await store.insert([job]))[0].id

    return act


async def _found(store: Store, name: str) -> Schedule:
    for schedule in await store.schedules():
        if schedule.name == name:
            return schedule
    raise _unknown([name])


def _refuse_unknown(names: Sequence[str], known: frozenset[str]) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        raise _unknown(missing)


def _unknown(names: Sequence[str]) -> UnknownSchedule:
    return UnknownSchedule(f"There is no schedule {', '.join(names)} in the store.")
