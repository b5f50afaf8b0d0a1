"""A job as one string of bytes; `lua/shared/record.lua` reads and writes the same.

Ids that are UUIDs of version 7 are kept as their 16 bytes: half a kilobyte less for each job
that waits in three places. Any other id begins with a printable character, so that the first
byte tells which of the two it is.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from struct import Struct
from typing import Any, Final, NamedTuple

import msgspec

from ...core.model import (
    DEFAULT_QUEUE,
    Failure,
    Job,
    Progress,
    Transition,
    decode_spec,
)
from ...core.states import REPLAYABLE, State
from ...core.unique import UNTIL_STARTED
from .mail import read_mail

STATES: Final = (
    State.BLOCKED,
    State.SCHEDULED,
    State.PENDING,
    State.ACTIVE,
    State.RETRY,
    State.COMPLETED,
    State.DEAD,
    State.CANCELLED,
)
CODES: Final = {state: code for code, state in enumerate(STATES)}

HAS_DUE, HAS_KEEP, HAS_UNIQUE, HAS_RUN, HAS_DONE, HAS_LARGE = 1, 2, 4, 8, 16, 32
HAS_RESULT, HAS_ERROR = 64, 128
HAS_PROGRESS, REMOTE_ID, REMOTE_KEY, HAS_CHECKPOINT, HAS_DEPENDENTS, HELD_BACK = 1, 2, 4, 8, 16, 32
HAS_MAIL, HAS_TRAITS = 64, 128
GHOST: Final = 8
"""In the place of a state: no job, but others wait for it (see `lua/shared/waits.lua`)."""
BIAS: Final = 1 << 52
PRIORITY_STEP: Final = 1 << 44
LARGEST_INLINE: Final = 4096
"""A spec above this is kept beside the record: what is rewritten at each step stays small. In the
record is the same spec without its payload, if that is small: a listing needs no more."""

_HEAD: Final = Struct(">qQBBBBIH")
_RUN: Final = Struct(">Hqq")
_NUMBER: Final = Struct(">q")
_LENGTH: Final = Struct(">H")
_TWO: Final = Struct(">QQ")
_MOVE: Final = Struct(">BBBBqH")
HEAD_SIZE: Final = _HEAD.size
STATE_AT: Final = 16
PENDING: Final = CODES[State.PENDING]

pack_number = _NUMBER.pack

_LOST: Final = b"\xa4lost\xcd"
"""What is before the last two bytes of an error: an entry of its map, see `lua/shared/lost.lua`."""

MOST_COUNTED: Final = 0xFFFF
"""As many lost workers as a record can tell of."""

_encode = msgspec.msgpack.Encoder().encode
_decode_failure = msgspec.msgpack.Decoder(Failure).decode
_decode_progress = msgspec.msgpack.Decoder(Progress).decode


def pack_id(id: str) -> bytes:
    if len(id) == 36 and id[8:24:5] == "----" and id[14] == "7" and id[0] in "01":
        digits = id.replace("-", "")
        try:
            raw = bytes.fromhex(digits)
        except ValueError:
            return id.encode()
        # Capitals, say, would not come back as they were.
        if raw.hex() == digits:
            return raw
    return id.encode()


def unpack_id(raw: bytes) -> str:
    if raw[0] >= 0x20:
        return raw.decode()
    digits = raw.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def pack_queue(queue: str) -> bytes:
    """The default queue is the empty name: it is the queue of most jobs."""
    return b"" if queue == DEFAULT_QUEUE else queue.encode()


def unpack_queue(raw: bytes) -> str:
    # What is no text was damaged: to stop here would stop the jobs beside it as well.
    return raw.decode(errors="replace") if raw else DEFAULT_QUEUE


class Sides(NamedTuple):
    """What a job keeps beside its record."""

    lease_until: int | None = None
    large: bytes | None = None
    result: bytes | None = None
    error: bytes | None = None
    progress: bytes | None = None
    checkpoint: bytes | None = None
    mail: bytes | None = None
    waits: Sequence[bytes] | None = None


NO_SIDES: Final = Sides()


NOT_SHOWN: Final = decode_spec(b"")
"""In the place of a large spec that was not asked for, or is lost."""


UNREADABLE: Final = (struct.error, ValueError, IndexError)
"""What reading a damaged record may raise."""


def read(
    raw_id: bytes, record: bytes, sides: Sides = NO_SIDES, ref: int = 0, *, brief: bool = False
) -> Job:
    """The job in a record; of a brief one the payload is of no interest."""
    created, _, state, flags, priority, _, attempt, length = _HEAD.unpack_from(record)
    at = HEAD_SIZE + length
    queue = unpack_queue(record[HEAD_SIZE:at])
    due, unique = created, None
    fence, worker, started, finished = 0, None, None, None
    if flags & HAS_DUE:
        (due,) = _NUMBER.unpack_from(record, at)
        at += 8
    if flags & HAS_KEEP:
        at += 8
    if flags & HAS_UNIQUE:
        (length,) = _LENGTH.unpack_from(record, at)
        unique = record[at + 2 : at + 2 + length].decode(errors="replace")
        at += 2 + length
    last = len(record)
    if flags & HAS_DONE:
        last -= 8
        (finished,) = _NUMBER.unpack_from(record, last)
    if flags & HAS_RUN:
        last -= _RUN.size
        length, fence, started = _RUN.unpack_from(record, last)
        last -= length
        worker = record[last : last + length].decode(errors="replace")
    awaits, mail = read_mail(sides.mail)
    if not flags & HAS_LARGE or (brief and at < last):
        spec = decode_spec(record[at:last])
    else:
        spec = NOT_SHOWN if sides.large is None else decode_spec(sides.large)
    return Job(
        id=unpack_id(raw_id),
        spec=spec,
        queue=queue,
        state=STATES[state],
        priority=priority,
        created_at=created,
        due=due,
        attempt=attempt,
        fence=fence,
        lease_until=sides.lease_until,
        worker=worker,
        unique=unique,
        started_at=started,
        finished_at=finished,
        result=sides.result,
        error=_failure(sides.error),
        ref=ref,
        progress=_progress(sides.progress),
        waits_for=tuple(map(waited_for, sides.waits or ())),
        checkpoint=sides.checkpoint,
        awaits=awaits,
        mail=mail,
        lost=0 if STATES[state] is State.COMPLETED else _lost(sides.error),
    )


def waited_for(wait: bytes) -> str:
    """The parent in a wait (see `lua/shared/waits.lua`)."""
    (length,) = _LENGTH.unpack_from(wait)
    return unpack_id(wait[2 + length + 9 :])


def _failure(raw: bytes | None) -> Failure | None:
    if raw is None:
        return None
    try:
        return _decode_failure(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Failure("Unreadable", repr(raw))


def _lost(error: bytes | None) -> int:
    """How many workers were lost with a job, by its error."""
    if error is None or error[-8:-2] != _LOST:
        return 0
    return int.from_bytes(error[-2:], "big")


def pack_error(error: Failure, lost: int) -> bytes:
    """An error with how many workers were lost, as `lua/shared/lost.lua` puts it there."""
    raw = _encode(error)
    if lost == 0:
        return raw
    return bytes((raw[0] + 1,)) + raw[1:] + _LOST + min(lost, MOST_COUNTED).to_bytes(2, "big")


def _progress(raw: bytes | None) -> Progress | None:
    try:
        return None if raw is None else _decode_progress(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # Not worth a word of its own: the next report takes its place.
        return None


class Claimed(NamedTuple):
    """What a claim gives to each of its jobs."""

    worker: str
    fence: int
    now: int
    until: int
    ref: int


def read_claimed(raw_id: bytes, record: bytes, sides: Sides, claimed: Claimed) -> Job:
    """The job that a claim made of the one in a record."""
    created, _, _, flags, priority, more, attempt, length = _HEAD.unpack_from(record)
    worker, fence, now, until, ref = claimed
    if flags & ~HAS_KEEP or more & (HAS_CHECKPOINT | HAS_MAIL | HAS_TRAITS):
        former = read(raw_id, record, sides, ref)
        free = former.spec.unique_for == UNTIL_STARTED
        return msgspec.structs.replace(
            former,
            state=State.ACTIVE,
            attempt=attempt + 1,
            fence=fence,
            lease_until=until,
            worker=worker,
            unique=None if free else former.unique,
            started_at=now,
        )
    at = HEAD_SIZE + length
    return Job(
        unpack_id(raw_id),
        decode_spec(record[at + 8 if flags else at :]),
        unpack_queue(record[HEAD_SIZE:at]),
        State.ACTIVE,
        priority,
        created,
        created,
        attempt + 1,
        fence,
        until,
        worker,
        None,
        now,
        ref=ref,
    )


def pack_move(transition: Transition) -> bytes:
    """What follows an attempt, for `finish.lua`."""
    due = transition.due
    return _MOVE.pack(
        CODES[transition.state],
        transition.refund,
        transition.result is not None,
        due is not None,
        transition.delay if due is None else max(due, 0),
        min(transition.lost, MOST_COUNTED),
    )


def pack_run(job: Job) -> bytes:
    """The last claim of a job."""
    worker = (job.worker or "").encode()
    return worker + _RUN.pack(len(worker), job.fence, job.started_at or 0)


def queue_of(record: bytes) -> str:
    if len(record) < HEAD_SIZE:
        return DEFAULT_QUEUE  # so damaged that it does not tell
    (length,) = _LENGTH.unpack_from(record, HEAD_SIZE - 2)
    return unpack_queue(record[HEAD_SIZE : HEAD_SIZE + length])


def place_of(record: bytes) -> int:
    """The place of a job in its line."""
    return int(_HEAD.unpack_from(record)[1]) - BIAS


def encode(value: Any) -> bytes:
    """A failure, a progress or a worker as bytes."""
    return _encode(value)


def pack_key(first: int, place: int) -> bytes:
    """A time and a place, as the members of sorted sets have them."""
    return _TWO.pack(first, place + BIAS)


def line_score(priority: int, place: int) -> int:
    """Where a pending job stands in its queue's line: by priority, then by place."""
    return place - (priority - 50) * PRIORITY_STEP


def is_ghost(record: bytes) -> bool:
    return len(record) > STATE_AT and record[STATE_AT] == GHOST


def remote_key(record: bytes) -> str | None:
    """The unique key of a job that can be replayed, if another shard keeps it."""
    if is_ghost(record):
        return None
    try:
        job = read(b"-", record)
    except UNREADABLE:
        return None
    return job.unique if record[19] & REMOTE_KEY and job.state in REPLAYABLE else None
