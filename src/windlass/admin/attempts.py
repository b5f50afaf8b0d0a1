"""The attempts of a job as plain data: the one form that the HTTP API answers and `--json` prints.

The names are a promise to other programs: add some, never rename one.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..core.attempts import AttemptRecord, LogLine
from ..core.likeness import error_fingerprint
from ..core.model import Job
from ..core.states import State
from ..stores.contract import Store
from .moment import iso
from .record import ErrorRecord, error_record


class LineFacts(msgspec.Struct, frozen=True):
    """One line that a handler logged."""

    at: str | None
    level: str
    logger: str
    text: str


class AttemptFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt: who ran it, what it came to and what it logged."""

    attempt: int
    fence: int
    worker: str
    started_at: str | None
    ended_at: str | None
    """None while it runs"""
    state: State | None
    """what the job became by it; None if that is not known"""
    error: ErrorRecord | None
    fingerprint: str | None
    """the same for errors that are alike"""
    lines: Sequence[LineFacts]
    dropped: int
    """how many lines were left out"""


async def attempts_of(store: Store, job: Job) -> Sequence[AttemptRecord]:
    """What was kept of the attempts of a job, oldest first."""
    return (await store.attempts([job.id])).get(job.id, ())


def attempt_facts(task: str, record: AttemptRecord) -> AttemptFacts:
    error = record.error
    return AttemptFacts(
        attempt=record.attempt,
        fence=record.fence,
        worker=record.worker,
        started_at=iso(record.started_at),
        ended_at=iso(record.ended_at),
        state=record.state,
        error=error_record(error),
        fingerprint=None if error is None else error_fingerprint(task, error),
        lines=[_line(each) for each in record.lines],
        dropped=record.dropped,
    )


def _line(line: LogLine) -> LineFacts:
    return LineFacts(iso(line.at), line.level, line.logger, line.text)
