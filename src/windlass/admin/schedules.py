"""The schedules of a store as an app offers them, to async code and to blocking code alike."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypedDict, TypeVar, Unpack, cast

from ..core.cron import Missed
from ..core.rebinding import scheduled
from ..core.schedule import Overlap, Schedule, schedule_of
from ..handle import JobHandle
from ..stores.contract import Store
from ..task import Call, Registry, Wire
from .scheduling import Changes, ScheduleInfo, Scheduling

T = TypeVar("T")
Act = Callable[[Scheduling], Coroutine[Any, Any, T]]


class ScheduleOptions(TypedDict, total=False):
    """What a schedule can be given besides its times and its job."""

    timezone: str
    missed: Missed
    overlap: Overlap


class ScheduleChanges(ScheduleOptions, total=False):
    """What can be changed about a schedule."""

    text: str
    call: Call[Any]


class Schedules:
    """Which jobs are enqueued when, in the store of an app."""

    def __init__(self, wire: Wire, registry: Registry) -> None:
        self._wire = wire
        self._registry = registry

    def add(
        self, name: str, text: str, call: Call[Any], **options: Unpack[ScheduleOptions]
    ) -> None:
        """Have a job, made by `task.call(…)`, enqueued again and again from now on."""
        schedule = self._made(name, text, call, **options)
        self._block(lambda at: at.add(schedule), "add(…)")

    async def aadd(
        self, name: str, text: str, call: Call[Any], **options: Unpack[ScheduleOptions]
    ) -> None:
        """The same for async code."""
        schedule = self._made(name, text, call, **options)
        await (await self._here()).add(schedule)

    def _made(
        self, name: str, text: str, call: Call[Any], **options: Unpack[ScheduleOptions]
    ) -> Schedule:
        schedule = schedule_of(name, text, call.job, **options)
        return scheduled(self._wire.codecs, schedule, call.job)

    def change(self, name: str, **changes: Unpack[ScheduleChanges]) -> None:
        """Change what is given. One that code declares is put back by the next worker start."""
        self._block(lambda at: at.change(name, _changes(changes)), "change(…)")

    async def achange(self, name: str, **changes: Unpack[ScheduleChanges]) -> None:
        """The same for async code."""
        await (await self._here()).change(name, _changes(changes))

    def pause(self, *names: str) -> None:
        """Let schedules make no jobs until they are resumed, whatever code says."""
        self._block(lambda at: at.pause(names, True), "pause(…)")

    async def apause(self, *names: str) -> None:
        """The same for async code."""
        await (await self._here()).pause(names, True)

    def resume(self, *names: str) -> None:
        """Let schedules that are paused make jobs again, at their next ticks."""
        self._block(lambda at: at.pause(names, False), "resume(…)")

    async def aresume(self, *names: str) -> None:
        """The same for async code."""
        await (await self._here()).pause(names, False)

    def remove(self, *names: str) -> None:
        """Remove schedules; the jobs that they made stay."""
        self._block(lambda at: at.remove(names), "remove(…)")

    async def aremove(self, *names: str) -> None:
        """The same for async code."""
        await (await self._here()).remove(names)

    def trigger(self, name: str) -> JobHandle[Any]:
        """Enqueue the job of a schedule now, besides its ticks and whatever it overlaps with."""
        return self._handle(self._block(lambda at: at.trigger(name), "trigger(…)"))

    async def atrigger(self, name: str) -> JobHandle[Any]:
        """The same for async code."""
        return self._handle(await (await self._here()).trigger(name))

    def get(self, name: str) -> ScheduleInfo:
        """One schedule; `UnknownSchedule` if there is none of this name."""
        return self._block(lambda at: at.get(name), "get(…)")

    async def aget(self, name: str) -> ScheduleInfo:
        """The same for async code."""
        return await (await self._here()).get(name)

    def list(self) -> Sequence[ScheduleInfo]:
        """Every schedule, by name."""
        return self._block(lambda at: at.list(), "list()")

    async def alist(self) -> Sequence[ScheduleInfo]:
        """The same for async code."""
        return await (await self._here()).list()

    def _handle(self, id: str) -> JobHandle[Any]:
        return JobHandle(self._wire.client, self._wire.codecs, id, lambda value, _: value)

    def _block(self, act: Act[T], call: str) -> T:
        call, instead = f"app.schedules.{call}", f"app.schedules.a{call}"
        return self._wire.client.block(lambda store: act(self._on(store)), call, instead)

    async def _here(self) -> Scheduling:
        return self._on(await self._wire.client.store())

    def _on(self, store: Store) -> Scheduling:
        return Scheduling(store, self._registry, self._wire.codecs)


def _changes(given: ScheduleChanges) -> Changes:
    changes: dict[str, Any] = dict(given)
    if "call" in changes:
        changes["job"] = changes.pop("call").job
    return cast(Changes, changes)
