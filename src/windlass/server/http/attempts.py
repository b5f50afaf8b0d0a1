"""What each attempt of a job came to, and what it logged meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...admin.moment import iso
from ...admin.record import ErrorRecord, error_record
from ...client import get_job
from ...core.attempts import AttemptRecord
from ...core.states import State
from .call import Call
from .jobs import id_in


class LineView(msgspec.Struct, frozen=True):
    """A line that the handler logged."""

    at: str | None
    level: str
    logger: str
    text: str


class AttemptLog(msgspec.Struct, frozen=True):
    """One attempt."""

    attempt: int
    fence: int
    worker: str
    started_at: str | None
    ended_at: str | None
    """null while it runs, and if it was never heard of again"""
    state: State | None
    """what the job became by it"""
    error: ErrorRecord | None
    lines: Sequence[LineView]
    dropped: int
    """lines that were left out"""


class AttemptList(msgspec.Struct, frozen=True):
    """The attempts that are kept, oldest first."""

    attempts: Sequence[AttemptLog]


async def list_attempts(call: Call[None, None]) -> AttemptList:
    """List the attempts of a job, with what each came to and logged."""
    job = await get_job(call.store, id_in(call))
    found = await call.store.attempts([job.id])
    return AttemptList([_attempt_log(each) for each in found.get(job.id, ())])


def _attempt_log(record: AttemptRecord) -> AttemptLog:
    return AttemptLog(
        record.attempt,
        record.fence,
        record.worker,
        iso(record.started_at),
        iso(record.ended_at),
        record.state,
        error_record(record.error),
        [LineView(iso(line.at), line.level, line.logger, line.text) for line in record.lines],
        record.dropped,
    )
