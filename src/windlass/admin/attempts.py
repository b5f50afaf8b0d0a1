"""The attempts of a job as plain data: the one form that the HTTP API answers and `--json` prints.

The names are a promise to other programs: add some, never rename one.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..core.attempts import AttemptRecord
from ..core.states import State
from ..stores.contract import Store
from .moment import iso
from .record import ErrorRecord, error_record


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


async def attempts_of(store: Store, id: str) -> Sequence[AttemptRecord]:
    """What was kept of the attempts of a job, oldest first."""
    return (await store.attempts([id])).get(id, ())


def attempt_log(record: AttemptRecord) -> AttemptLog:
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
