"""Lines of the journal as rows of history, and rows as values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from ..core.model import UNREADABLE, Entry, Failure, Job, Spec
from ..core.outcome import UNKNOWN
from ..core.states import State
from ..stores.sql.fields import decode_failure, encode_failure
from ..stores.sql.operation import Row
from .query import Attempt

STALE: Final = 60_000
"""A line that ended so many milliseconds later is newer, whatever its fence: the job was in
another store, which gives fences of its own."""

SHOWN: Final = 2_000
"""The most characters of an error that can be searched."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Job).decode


def newest(entries: Iterable[Entry]) -> Sequence[Entry]:
    """The last line of each job, by id: one order for all who write, so that none deadlocks."""
    last: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda each: (each.job.fence, not each.ran, each.at)):
        last[entry.job.id] = entry
    return [last[id] for id in sorted(last)]


def job_row(entry: Entry) -> Row:
    """The parameters of `add_job.sql`, in its order."""
    job = entry.job
    return (
        job.id,
        job.spec.task,
        job.queue,
        job.state.value,
        job.attempt,
        job.fence,
        int(not entry.ran),
        job.created_at,
        entry.at,
        _duration(entry),
        tokens(job.spec.labels or {}),
        searchable(str(job.error)) if job.error else "",
        _encode(msgspec.structs.replace(job, ref=0)),
    )


def renewal(row: Row) -> Row:
    """The parameters of `renew_job.sql`: what is new, which job, and what it must be newer than."""
    id, _, _, _, _, fence, waited, _, ended_at, *_ = row
    return (*row[1:], id, fence, ended_at - STALE, fence, waited, waited, ended_at)


def attempt_row(entry: Entry) -> Row:
    """The parameters of `add_attempt.sql`, in its order."""
    job = entry.job
    return (
        job.id,
        job.fence,
        entry.at,
        job.attempt,
        job.state.value,
        job.started_at,
        job.worker,
        encode_failure(_error(job)),
    )


def _duration(entry: Entry) -> int:
    if not entry.ran or entry.job.started_at is None:
        return 0
    return max(entry.at - entry.job.started_at, 0)


def _error(job: Job) -> Failure | None:
    """The error of this attempt: a job keeps that of a former one."""
    own = job.state in (State.RETRY, State.DEAD)
    unknown = job.error is not None and job.error.kind == UNKNOWN
    return job.error if own or (unknown and job.state is State.SCHEDULED) else None


def to_job(row: Row) -> Job:
    """A job from the columns of `find.sql`.

    A damaged record becomes a job that says so: one bad row must not hide those beside it.
    """
    id, task, queue, state, created_at, record = row
    try:
        return _decode(record)
    except (msgspec.MsgspecError, TypeError):
        spec = Spec(task, b"", UNREADABLE, max_retries=0)
        return Job(id, spec, queue, State(state), 0, created_at, created_at)


def to_attempt(row: Row) -> Attempt:
    job, fence, ended_at, number, state, started_at, worker, error = row
    return Attempt(
        job, number, fence, State(state), started_at, ended_at, worker, decode_failure(error)
    )


def tokens(labels: Mapping[str, str]) -> str:
    """Labels as words of equal length, sorted: a pattern can ask for any of them, exactly."""
    return "".join(f" {token}" for token in sorted(map(_token, labels.items())))


def pattern(labels: Mapping[str, str]) -> str:
    """What `tokens` of a job are like that has at least these labels."""
    return "".join(f"% {token}" for token in sorted(map(_token, labels.items()))) + "%"


def _token(label: tuple[str, str]) -> str:
    return hashlib.sha256(msgspec.json.encode(label)).hexdigest()[:20]


def searchable(text: str) -> str:
    """Text in which small and capital letters are the same, on every engine."""
    return text[:SHOWN].casefold()
