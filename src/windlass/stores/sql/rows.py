"""Rows of `windlass_jobs` as values and back.

`rank` is 100 - priority, so that every index runs upwards.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ...core.model import Failure, Job, NewJob, decode_spec, encode_spec
from ...core.states import State
from ...core.unique import UNTIL_STARTED
from .fields import (
    decode_failure,
    decode_ids,
    decode_mail,
    decode_progress,
    encode_failure,
    encode_json,
    encode_mail,
    encode_progress,
)
from .operation import Row

log = logging.getLogger("windlass")

TOP_PRIORITY: Final = 100
STATES: Final = frozenset(State)

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
    "awaits",
    "mail",
    "lost",
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
    "awaits",
    "mail",
    "lost",
)
LARGEST_READ: Final = 16 * 1024
"""A spec above this is read by itself, once it is known that its job is to be given: a claim looks
at many jobs and gives as many as go into its bytes."""

LOCK_COLUMNS: Final = (
    "id",
    "queue",
    "state",
    "fence",
    "attempt",
    "keep",
    "unique_key",
    "slot",
    "special",
    "lost",
)
SPECIAL: Final = "CASE WHEN lane IS NOT NULL OR grp IS NOT NULL THEN spec END"
"""`special` is no column of a table but the spec of a job that has a lane or a group."""


class Locked(NamedTuple):
    """What an operation must know of a job to decide about it; fields as `LOCK_COLUMNS`."""

    id: str
    queue: str
    state: str
    fence: int
    attempt: int
    keep: int
    unique: str | None
    slot: int | None = None
    """of its lane: see `lanes`"""
    special: bytes | None = None
    """its spec, if it has a lane or a group"""
    lost: int = 0


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
        row[20],
        None if row[21] is None else decode_mail(row[21]),
        row[22],
    )


def to_jobs(rows: Iterable[Row]) -> Iterator[Job]:
    """The jobs of rows; one in a state that there is not is left out, for nothing fits it."""
    for row in rows:
        if row[STATE] in STATES:
            yield to_job(row)
        else:
            log.warning("job %s is damaged and left out: its state is %r", row[0], row[STATE])


def to_claimed(row: Row, queue: str, fence: int, until: int, worker: str, now: int) -> Job:
    """A job from `CLAIM_COLUMNS` as it is once claimed: the rest is what the claim writes."""
    spec = decode_spec(row[2])
    return Job(
        row[1],
        spec,
        queue,
        State.ACTIVE,
        TOP_PRIORITY - row[3],
        row[4],
        row[5],
        row[6] + 1,
        fence,
        until,
        worker,
        None if spec.unique_for == UNTIL_STARTED else row[7],
        now,
        None,
        None,
        None if row[8] is None else decode_failure(row[8]),
        row[0],
        None,
        (),
        row[9],
        row[10],
        None if row[11] is None else decode_mail(row[11]),
        row[12],
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


def to_replace(id: str, new: NewJob, state: State, place: int | None, now: int) -> Row:
    """The parameters of `replace.sql`; no place if the job stays where it is."""
    row = to_insert(new, 0, now)
    return (
        state.value,
        row[1],
        row[4],
        place,
        *row[6:9],
        None if new.spec.unique_for > 0 else new.unique,
        id,
    )


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
        job.awaits,
        None if job.mail is None else encode_mail(job.mail),
        job.lost,
    )


def to_end(
    id: str,
    state: State,
    now: int,
    expiry: int | None,
    error: Failure | None,
    result: bytes | None = None,
) -> Row:
    """The parameters of `end.sql`, in its order: before the id, whether to keep the checkpoint and
    the signals."""
    keeps = int(state is not State.COMPLETED)
    return (state.value, now, expiry, encode_failure(error), result, keeps, keeps, id)


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


def json_array(values: list[Any]) -> str:
    """A list as one parameter, for engines that take lists as JSON."""
    return encode_json(values).decode()
