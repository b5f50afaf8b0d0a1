"""Schedules: which jobs are enqueued when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from ...admin.moment import iso
from ...admin.scheduling import ScheduleInfo, Scheduling
from ...core.name import checked_name
from ...core.schedule import schedule_of
from ..offer import JobRequest, Text
from .call import Call, Reply
from .enqueuing import Stored


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


class ScheduleList(msgspec.Struct, frozen=True):
    """Every schedule, by name."""

    schedules: Sequence[ScheduleView]


class ScheduleRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When to enqueue which job."""

    text: Text
    """five fields of cron, as in 0 9 * * mon-fri"""
    job: JobRequest
    timezone: Text = "UTC"
    missed: Literal["skip", "last", "all"] = "skip"
    overlap: Literal["allow", "skip", "queue"] = "allow"


async def list_schedules(call: Call[None, None]) -> ScheduleList:
    """List the schedules, with their last and next ticks."""
    return ScheduleList([_view(info) for info in await _scheduling(call).list()])


async def get_schedule(call: Call[None, None]) -> ScheduleView:
    """Show one schedule."""
    return await _shown(call)


async def put_schedule(call: Call[None, ScheduleRequest]) -> ScheduleView:
    """Add a schedule, or change it; one that code declares is put back by the next worker."""
    asked, name = call.body, name_in(call)
    job = call.site.offers.job(asked.job)
    call.caller.require_queue(job.queue)
    schedule = schedule_of(name, asked.text, job, asked.timezone, asked.missed, asked.overlap)
    await call.store.put_schedules([schedule])
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
    return _view(await _scheduling(call).get(name_in(call)))


def name_in(call: Call[Any, Any]) -> str:
    """The schedule that the address names."""
    return checked_name(call.path["name"], "name of a schedule")


def _scheduling(call: Call[Any, Any]) -> Scheduling:
    return Scheduling(call.store, call.site.app.registry)


def _view(info: ScheduleInfo) -> ScheduleView:
    fields = msgspec.structs.asdict(info)
    fields |= {"last_at": iso(info.last_at), "next_at": iso(info.next_at)}
    return ScheduleView(**fields)
