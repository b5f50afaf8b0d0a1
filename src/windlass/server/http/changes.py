"""Changes to single jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, cast

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from ...admin.change import CANCEL, Change, change_jobs, delete, prioritize, replaying, reschedule
from ...admin.edit import Edit as Changes
from ...admin.edit import edited, put_in_place
from ...admin.record import JobRecord, record
from ...client import get_job, signal_job
from ...core.model import Job
from ...core.name import checked_name
from ...core.options import CHECKS, Options
from ...core.states import DELETABLE, State
from ...errors import UnknownJob, WrongState
from ..offer import Priority, Seconds, Text
from ..storing import refuse_outside
from .call import Call
from .jobs import id_in


async def cancel_job(call: Call[None, None]) -> JobRecord:
    """Cancel a job that has not ended."""
    return await _changed(call, CANCEL, State.CANCELLED)


async def delete_job(call: Call[None, None]) -> None:
    """Remove a job and all trace of it; one that runs must be cancelled first."""
    await _change(call, delete(DELETABLE))


class Moment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another time for a job: so many seconds from now, or a moment."""

    delay: Seconds | UnsetType = UNSET
    at: Annotated[datetime, msgspec.Meta(tz=True)] | UnsetType = UNSET

    def change(self) -> Change:
        given = {name: value for name, value in msgspec.structs.asdict(self).items()
                 if value is not UNSET}  # fmt: skip
        options = Options().merged(given)
        return reschedule(options.delay, options.at)


async def reschedule_job(call: Call[None, Moment]) -> JobRecord:
    """Give a job that waits another time."""
    return await _changed(call, call.body.change(), State.SCHEDULED)


class NewPriority(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Another priority for a job."""

    priority: Priority


async def prioritize_job(call: Call[None, NewPriority]) -> JobRecord:
    """Give a job that waits another priority; it goes to the end of the line there."""
    priority = CHECKS["priority"](call.body.priority)
    before = await _change(call, prioritize(priority))
    after = (await call.store.get([before.id])).get(before.id)
    return record(replace(before, priority=priority) if after is None else after)


class Word(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signal for a job."""

    name: Text
    value: Any = None


async def signal_one(call: Call[None, Word]) -> None:
    """Send a job what its handler waits for."""
    name = checked_name(call.body.name, "name of a signal")
    codecs = call.site.app.codecs
    await signal_job(call.store, codecs, id_in(call), name, call.body.value)


class Edit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be different this time; what is left out stays as it was."""

    args: list[Any] | UnsetType = UNSET
    kwargs: dict[str, Any] | UnsetType = UNSET
    queue: Text | UnsetType = UNSET
    priority: Priority | UnsetType = UNSET
    max_retries: Annotated[int, msgspec.Meta(ge=0, lt=2**31)] | UnsetType = UNSET
    timeout: Seconds | UnsetType | None = UNSET


async def replay_job(call: Call[None, Edit | None]) -> JobRecord:
    """Make a dead or cancelled job run again, with changes if some are given.

    With changes it is a new job, whose id is in the answer, and the old one is deleted.
    """
    if call.body is None or call.body == Edit():
        return await _changed(call, replaying(call.site.app.codecs), State.PENDING)
    old = await get_job(call.store, id_in(call))
    if old.spec.task not in call.site.app.registry:
        call.site.offers.refuse_unknown(old.spec.task)
    given = {name: value for name, value in msgspec.structs.asdict(call.body).items()
             if value is not UNSET}  # fmt: skip
    new = edited(call.site.app.wire, call.site.app.registry, old, cast(Changes, given))
    refuse_outside(call.caller, [new])
    id = await put_in_place(call.site.store, call.site.app.wire, old, new)
    call.audit(id=old.id, new=id)
    return record(await get_job(call.store, id))


async def _change(call: Call[Any, Any], change: Change) -> Job:
    """The job as it was before it was changed."""
    id = id_in(call)
    before = await get_job(call.store, id)
    answer = await change_jobs(call.store, change, [id])
    for reason in answer.refused.values():
        there = id in await call.store.get([id])
        raise WrongState(reason) if there else UnknownJob(reason)
    call.audit(id=id)
    return before


async def _changed(call: Call[Any, Any], change: Change, becomes: State) -> JobRecord:
    before = await _change(call, change)
    after = (await call.store.get([before.id])).get(before.id)
    # One that is not kept once it has ended is gone by now.
    return record(replace(before, state=becomes) if after is None else after)
