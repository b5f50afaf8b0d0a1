"""What single attempts came to and what they logged, as a store keeps it for a while.

A record is opaque to every engine. Fields are only ever appended, each with a default: that is what
lets the version before read what this one writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from .model import DAY_MS, Failure, Job, Transition
from .states import State

MOST_ATTEMPTS: Final = 50
"""So many records a store keeps of one job, the newest ones."""

KEEP_ATTEMPTS: Final = 7 * DAY_MS
"""How long they are kept, if nobody says otherwise."""


class LogLine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One line that a handler logged."""

    at: int
    level: str
    logger: str
    text: str


class AttemptRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One attempt of a job: who ran it, what it came to, what it said meanwhile."""

    id: str
    """of the job"""
    queue: str
    fence: int
    """of the claim: with the id, it tells this attempt from every other"""
    attempt: int
    worker: str
    started_at: int
    ended_at: int | None = None
    state: State | None = None
    """what the job became by it; None while it runs, or if it was never heard of again"""
    error: Failure | None = None
    lines: tuple[LogLine, ...] = ()
    dropped: int = 0
    """how many lines were left out"""


encode_attempt: Final = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(AttemptRecord).decode


def decode_attempt(record: bytes) -> AttemptRecord | None:
    """The attempt in a stored record; None if that is damaged, so that it hides no other."""
    try:
        return _decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        return None


def newest(records: Sequence[AttemptRecord]) -> Mapping[str, Sequence[AttemptRecord]]:
    """By job, those of a call that may stay: the last of each fence, at most so many, in order."""
    last = {(record.id, record.fence): record for record in records}
    by_job: dict[str, list[AttemptRecord]] = {}
    for key in sorted(last):
        by_job.setdefault(key[0], []).append(last[key])
    return {id: these[-MOST_ATTEMPTS:] for id, these in by_job.items()}


def failed_attempt(job: Job, move: Transition, now: int) -> AttemptRecord:
    """What is kept of an attempt that failed without a line, by what follows it."""
    began = job.started_at or 0
    worker, end = job.worker or "", max(now, began)
    return AttemptRecord(
        job.id, job.queue, job.fence, job.attempt, worker, began, end, move.state, move.error
    )
