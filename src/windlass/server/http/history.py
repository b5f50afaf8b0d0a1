"""Jobs that are over, searched in the database that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...admin.moment import iso
from ...admin.record import ErrorRecord, FullRecord, error_record, record
from ...admin.selection import pair_in
from ...core.states import State
from ...errors import Forbidden, InvalidOption, UnknownJob
from ...history.query import Attempt, Sort
from ..offer import Seconds
from .call import Call
from .jobs import JobPage, Limit, id_in
from .preview import previews
from .shown import shown
from .sieve import Moment


class HistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to look for; all of it has to hold."""

    state: tuple[State, ...] = ()
    """completed, dead and cancelled, if none is named"""
    task: str | None = None
    queue: str | None = None
    since: Moment | None = None
    until: Moment | None = None
    label: tuple[str, ...] = ()
    """each as name=value"""
    error: str | None = None
    """a part of the error's type or text"""
    min_duration: Seconds | None = None
    max_duration: Seconds | None = None
    sort: Sort = Sort.FINISHED
    ascending: bool = False
    limit: Limit = 100
    cursor: str | None = None
    preview: bool = False
    """with the beginning of their arguments"""


class AttemptView(msgspec.Struct, frozen=True):
    """One run of a job."""

    number: int
    fence: int
    state: State
    """what it made of the job"""
    started_at: str | None
    ended_at: str | None
    duration: float
    worker: str | None
    error: ErrorRecord | None


class PastJob(msgspec.Struct, frozen=True):
    """A job as it was when it, or its last attempt, ended."""

    job: FullRecord
    attempts: Sequence[AttemptView]


async def search_history(call: Call[HistoryParameters, None]) -> JobPage:
    """Search jobs that are over."""
    asked = call.query
    if call.caller.queues and asked.queue not in call.caller.queues:
        raise Forbidden(
            f"The key {call.caller.name} is bound to queues: name one of them by queue=…"
        )
    _refuse_zero_bytes(asked.queue, asked.task, asked.error, asked.cursor, *asked.label)
    fields: dict[str, Any] = msgspec.structs.asdict(asked)
    fields["states"] = fields.pop("state")
    fields["labels"] = dict(map(pair_in, fields.pop("label")))
    wants_preview = fields.pop("preview")
    given = {name: value for name, value in fields.items() if value is not None}
    page = await call.site.app.history.afind(**given)
    begun = previews(call.site, page.jobs) if wants_preview else {}
    return JobPage([record(job) for job in page.jobs], page.cursor, len(page.jobs), begun)


async def get_past(call: Call[None, None]) -> PastJob:
    """Show a job of the past with each of its attempts."""
    id, history = id_in(call), call.site.app.history
    job = await history.aget(id)
    if call.caller.queues and job.queue not in call.caller.queues:
        raise UnknownJob(f"There is no job {id} in history.")
    attempts = [_attempt(each) for each in await history.aattempts(id)]
    return PastJob(shown(call.site, job), attempts)


def _refuse_zero_bytes(*texts: str | None) -> None:
    """Not every engine takes them, and nothing that is kept has any."""
    for text in texts:
        if text is not None and "\0" in text:
            raise InvalidOption("There is no zero byte in what can be looked for.")


def _attempt(attempt: Attempt) -> AttemptView:
    return AttemptView(
        attempt.number,
        attempt.fence,
        attempt.state,
        iso(attempt.started_at),
        iso(attempt.ended_at),
        attempt.duration / 1000,
        attempt.worker,
        error_record(attempt.error),
    )
