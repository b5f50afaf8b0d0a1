"""Rows of `windlass_jobs` as values and back.

`rank` is 100 - priority, so that every index runs upwards.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from ...core.model import (
    Failure,
    Job,
    NewJob,
    Progress,
    WorkerInfo,
    decode_spec,
    encode_spec,
)
from ...core.states import State
from .operation import Row

TOP_PRIORITY: Final = 100

COLUMNS: Final = (
    "id",
    "spec",
    "queue",
    "state",
    "rank",
    "created_at",
    "due",
    "attempt",
    "fence",
    "lease_until",
    "worker",
    "unique_key",
    "started_at",
    "finished_at",
    "result",
    "error",
    "number",
    "progress",
    "waits_for",
    "checkpoint",
    "place",
)
"""`waits_for` is no column of a table but what the edges say, as a JSON array."""

CLAIM_COLUMNS: Final = (
    "number",
    "id",
    "spec",
    "rank",
    "created_at",
    "due",
    "attempt",
    "unique_key",
    "error",
    "checkpoint",
)
LOCK_COLUMNS: Final = ("id", "queue", "state", "fence", "attempt", "keep", "unique_key")


class Locked(NamedTuple):
    """What an operation must know of a job to decide about it; fields as `LOCK_COLUMNS`."""

    id: str
    queue: str
    state: str
    fence: int
    attempt: int
    keep: int
    unique: str | None


class Blocked(NamedTuple):
    """A blocked job, with what it takes to let it go on."""

    job: Locked
    due: int
    place: int


def to_blocked(row: Row) -> Blocked:
    """From `LOCK_COLUMNS`, due and place."""
    return Blocked(Locked._make(row[:-2]), row[-2], row[-1])


def to_job(row: Row) -> Job:
    """A whole job from `COLUMNS`."""
    return Job(
        row[0],
        decode_spec(row[1]),
        row[2],
        State(row[3]),
        TOP_PRIORITY - row[4],
        row[5],
        row[6],
        row[7],
        row[8],
        row[9],
        row[10],
        row[11],
        row[12],
        row[13],
        row[14],
        decode_failure(row[15]),
        row[16],
        decode_progress(row[17]),
        () if row[18] is None else decode_ids(row[18]),
        row[19],
    )


def to_claimed(row: Row, queue: str, fence: int, until: int, worker: str, now: int) -> Job:
    """A job from `CLAIM_COLUMNS` as it is once claimed: the rest is what the claim writes."""
    return Job(
        row[1],
        decode_spec(row[2]),
        queue,
        State.ACTIVE,
        TOP_PRIORITY - row[3],
        row[4],
        row[5],
        row[6] + 1,
        fence,
        until,
        worker,
        row[7],
        now,
        None,
        None,
        None if row[8] is None else decode_failure(row[8]),
        row[0],
        None,
        (),
        row[9],
    )


def to_insert(job: NewJob, place: int, now: int) -> Row:
    """The parameters of `insert.sql`, in its order."""
    spec = job.spec
    due = now + job.delay if job.due is None else job.due
    return (
        job.id,
        encode_spec(spec),
        job.queue,
        SCHEDULED if due > now else PENDING,
        TOP_PRIORITY - job.priority,
        place,
        now,
        due,
        spec.keep,
        job.unique,
    )


def held_back(row: Row) -> Row:
    """The same for a job that has to wait for others."""
    return (*row[:STATE], BLOCKED, *row[STATE + 1 :])


def to_restore(job: Job, place: int, expires_at: int | None) -> Row:
    """The parameters of `restore.sql`, in its order, which begins as that of `insert.sql`."""
    return (
        job.id,
        encode_spec(job.spec),
        job.queue,
        job.state.value,
        TOP_PRIORITY - job.priority,
        place,
        job.created_at,
        job.due,
        job.spec.keep,
        job.unique,
        job.attempt,
        job.fence,
        job.worker,
        job.started_at,
        job.finished_at,
        expires_at,
        job.result,
        encode_failure(job.error),
        None if job.progress is None else encode_progress(job.progress),
        job.checkpoint,
    )


def to_end(
    id: str,
    state: State,
    now: int,
    expiry: int | None,
    error: Failure | None,
    result: bytes | None = None,
) -> Row:
    """The parameters of `end.sql`, in its order; the last but one says to keep the checkpoint."""
    keeps = int(state is not State.COMPLETED)
    return (state.value, now, expiry, encode_failure(error), result, keeps, id)


def expires_at(state: State, keep: int, now: int) -> int | None:
    """When a job that finishes now may be pruned; `now` itself means that it is not kept."""
    return None if state is State.DEAD else now + keep


QUEUE: Final = 2
STATE: Final = 3
PLACE: Final = 5
"""Where `to_insert` and `to_restore` have them."""

# Plain texts: a member of an enum takes drivers longer to bind.
SCHEDULED: Final = State.SCHEDULED.value
PENDING: Final = State.PENDING.value
BLOCKED: Final = State.BLOCKED.value


_encode_json = msgspec.json.Encoder().encode
_decode_failure = msgspec.json.Decoder(Failure).decode
_decode_progress = msgspec.json.Decoder(Progress).decode
_decode_worker = msgspec.json.Decoder(WorkerInfo).decode
_decode_ids = msgspec.json.Decoder(tuple[str, ...]).decode


def encode_failure(failure: Failure | None) -> str | None:
    return None if failure is None else _encode_json(failure).decode()


def decode_failure(text: str | None) -> Failure | None:
    if text is None:
        return None
    try:
        return _decode_failure(text)
    except msgspec.DecodeError:
        return Failure("Unreadable", text)


def encode_progress(progress: Progress) -> str:
    return _encode_json(progress).decode()


def decode_progress(text: str | None) -> Progress | None:
    if text is None:
        return None
    try:
        return _decode_progress(text)
    except msgspec.DecodeError:
        return Progress(0, f"(unreadable) {text}")


def encode_worker(worker: WorkerInfo) -> str:
    return _encode_json(worker).decode()


def decode_worker(id: str, text: str, seen_at: int) -> WorkerInfo:
    try:
        worker = _decode_worker(text)
    except msgspec.DecodeError:
        worker = WorkerInfo(id, "(unreadable)", 0, (), 0, seen_at)
    return msgspec.structs.replace(worker, seen_at=seen_at)


def decode_ids(text: str) -> tuple[str, ...]:
    try:
        return _decode_ids(text)
    except msgspec.DecodeError:
        return ()


def json_array(values: list[Any]) -> str:
    """A list as one parameter, for engines that take lists as JSON."""
    return _encode_json(values).decode()
