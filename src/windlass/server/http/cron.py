"""Schedules: which jobs are enqueued when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any, Final, cast

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ...admin.eyes import Eyes
from ...admin.moment import iso
from ...admin.scheduling import Changes, ScheduleInfo, Scheduling
from ...core.cron import Missed, timetable
from ...core.model import UNREADABLE, Job, NewJob
from ...core.name import checked_name
from ...core.rebinding import scheduled
from ...core.schedule import Overlap, Schedule, schedule_of
from ...core.states import State
from ...members import get_all
from ..offer import JobRequest, Text
from .call import Call, Reply
from .enqueuing import Stored

TICKS_SHOWN: Final = 5

LARGEST: Final = 4_096
"""Bytes of arguments that are shown in a list."""


class ScheduleView(msgspec.Struct, frozen=True):
    """A schedule as it is now."""

    name: str
    text: str
    timezone: str
    task: str
    queue: str
    priority: int
    missed: str
    overlap: str
    paused: bool
    declared: bool
    """whether the code of the app has it"""
    last_at: str | None
    next_at: str | None
    job: str | None
    """the job of the last tick that made one"""
    fault: str | None
    """why it cannot tick"""
    words: str | None
    """the text as people would say it"""
    coming: Sequence[str | None]
    """its next ticks, also while it is paused"""
    last: LastRun | None
    """what became of that job; null if it is not there any more"""
    args: Sequence[Any] | None
    kwargs: Mapping[str, Any] | None
    """what its jobs are given; null if that cannot be read, and in a list if it is large"""


class LastRun(msgspec.Struct, frozen=True):
    """The job of a tick."""

    id: str
    state: State
    created_at: str | None
    started_at: str | None
    finished_at: str | None
    lag: float
    """seconds by which it was enqueued later than its tick"""


class ScheduleList(msgspec.Struct, frozen=True):
    """Every schedule, by name."""

    schedules: Sequence[ScheduleView]


class ScheduleRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to enqueue which job."""

    text: Text
    """five fields of cron, as in 0 9 * * mon-fri"""
    job: JobRequest
    timezone: Text = "UTC"
    missed: Missed = "skip"
    overlap: Overlap = "allow"


async def list_schedules(call: Call[None, None]) -> ScheduleList:
    """List the schedules, with their last and next ticks."""
    return ScheduleList(await _views(call, await call.store.schedules(), LARGEST))


async def get_schedule(call: Call[None, None]) -> ScheduleView:
    """Show one schedule."""
    return await _shown(call)


async def put_schedule(call: Call[None, ScheduleRequest]) -> ScheduleView:
    """Add a schedule, or change it; one that code declares is put back by the next worker."""
    asked, name = call.body, name_in(call)
    job = _job(call, asked.job)
    schedule = schedule_of(name, asked.text, job, asked.timezone, asked.missed, asked.overlap)
    schedule = scheduled(call.site.app.codecs, schedule, job)
    await call.store.put_schedules([schedule])
    call.audit(name=name)
    return await _shown(call)


def _job(call: Call[Any, Any], asked: JobRequest) -> NewJob:
    job = call.site.offers.job(asked)
    call.caller.require_queue(job.queue)
    return job


class ScheduleChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be different about a schedule; what is left out stays as it is."""

    text: Text | UnsetType = UNSET
    job: JobRequest | UnsetType = UNSET
    timezone: Text | UnsetType = UNSET
    missed: Missed | UnsetType = UNSET
    overlap: Overlap | UnsetType = UNSET


async def change_schedule(call: Call[None, ScheduleChanges]) -> ScheduleView:
    """Change a part of a schedule; one that code declares is put back by the next worker."""
    name, given = name_in(call), msgspec.structs.asdict(call.body)
    changes = {field: value for field, value in given.items() if value is not UNSET}
    if call.body.job is not UNSET:
        changes["job"] = _job(call, call.body.job)
    await _scheduling(call).change(name, cast(Changes, changes))
    call.audit(name=name)
    return await _shown(call)


async def delete_schedule(call: Call[None, None]) -> None:
    """Remove a schedule; the jobs that it made stay."""
    name = name_in(call)
    await _scheduling(call).remove([name])
    call.audit(name=name)


async def pause_schedule(call: Call[None, None]) -> ScheduleView:
    """Let a schedule make no jobs until it is resumed."""
    return await _pause(call, True)


async def resume_schedule(call: Call[None, None]) -> ScheduleView:
    """Let a schedule go on, from now."""
    return await _pause(call, False)


async def trigger_schedule(call: Call[None, None]) -> Stored:
    """Enqueue the job of a schedule now, besides its ticks."""
    name = name_in(call)
    id = await _scheduling(call).trigger(name)
    call.audit(name=name, id=id)
    return Reply(Stored(id, False), 201)  # type: ignore[return-value]


async def _pause(call: Call[Any, Any], paused: bool) -> ScheduleView:
    name = name_in(call)
    await _scheduling(call).pause([name], paused)
    call.audit(name=name)
    return await _shown(call)


async def _shown(call: Call[Any, Any]) -> ScheduleView:
    (view,) = await _views(call, [await _scheduling(call).found(name_in(call))])
    return view


def name_in(call: Call[Any, Any]) -> str:
    """The schedule that the address names."""
    return checked_name(call.path["name"], "name of a schedule")


def _scheduling(call: Call[Any, Any]) -> Scheduling:
    return Scheduling(call.store, call.site.app.registry, call.site.app.codecs)


async def _views(
    call: Call[Any, Any], schedules: Sequence[Schedule], largest: float = inf
) -> list[ScheduleView]:
    """Schedules as they are shown; of arguments that take more than `largest` bytes nothing."""
    scheduling, eyes = _scheduling(call), call.site.eyes
    now = await call.store.now()
    jobs = await get_all(call.store, [each.job for each in schedules if each.job])
    return [
        _view(_lighter(each, largest), scheduling.info(each, now), jobs.get(each.job), eyes, now)
        for each in schedules
    ]


def _lighter(schedule: Schedule, largest: float) -> Schedule:
    if len(schedule.spec.payload) <= largest:
        return schedule
    return replace(schedule, spec=replace(schedule.spec, payload=b"", content_type=UNREADABLE))


def _view(
    schedule: Schedule, info: ScheduleInfo, job: Job | None, eyes: Eyes, now: int
) -> ScheduleView:
    fields = msgspec.structs.asdict(info)
    fields |= {"last_at": iso(info.last_at), "next_at": iso(info.next_at)}
    args, kwargs = eyes.shown(schedule.new_job(0))
    words, coming = None, list[str | None]()
    if info.fault is None:
        words = schedule.timetable.words
        coming = [iso(tick) for tick in schedule.timetable.coming(now, TICKS_SHOWN)]
    last = None if job is None else _last(job, schedule.last)
    return ScheduleView(**fields, words=words, coming=coming, last=last, args=args, kwargs=kwargs)


def _last(job: Job, tick: int) -> LastRun:
    return LastRun(
        job.id,
        job.state,
        iso(job.created_at),
        iso(job.started_at),
        iso(job.finished_at),
        max(job.created_at - tick, 0) / 1000,
    )


class TimetableQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A schedule that somebody thinks of."""

    text: str = "* * * * *"
    timezone: str = "UTC"


class TimetableView(msgspec.Struct, frozen=True):
    """When it would tick."""

    text: str
    timezone: str
    words: str
    coming: Sequence[str | None]


async def explain_timetable(call: Call[TimetableQuery, None]) -> TimetableView:
    """Tell when a schedule of this text would tick."""
    made = timetable(call.query.text, call.query.timezone)
    coming = [iso(tick) for tick in made.coming(await call.store.now(), TICKS_SHOWN)]
    return TimetableView(made.text, made.zone, made.words, coming)
