"""Jobs that come in and outcomes, as the scripts that insert, restore and finish take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import Struct
from typing import Any, Final, NamedTuple

import msgspec

from ...core.model import DAY_MS, Conflict, Job, NewJob, Spec, Transition, encode_spec
from ...core.states import State
from .io import Word
from .mail import pack_mail
from .record import (
    CODES,
    HAS_CHECKPOINT,
    HAS_DONE,
    HAS_DUE,
    HAS_ERROR,
    HAS_KEEP,
    HAS_LARGE,
    HAS_MAIL,
    HAS_PROGRESS,
    HAS_RESULT,
    HAS_RUN,
    HAS_TRAITS,
    HAS_UNIQUE,
    LARGEST_INLINE,
    PENDING,
    encode,
    pack_error,
    pack_id,
    pack_key,
    pack_move,
    pack_number,
    pack_queue,
    pack_run,
    unpack_id,
)
from .traits import has_turns, pack_traits, with_traits

_BEGIN: Final = Struct(">BBBBIH")
_LENGTH: Final = Struct(">H")
_SIZE: Final = Struct(">I")

CONFLICTS: Final[Mapping[Conflict, int]] = {"reject": 0, "replace": 1, "last": 2}
"""What a new job asks for if its unique key is held, as `lua/shared/clash.lua` has it."""

OTHER_SIDES: Final = HAS_PROGRESS | HAS_CHECKPOINT | HAS_MAIL | HAS_TRAITS
"""What a job keeps beside its record, by its second byte of flags."""

NOBODY: Final[Mapping[int, Any]] = {}


@lru_cache(10_000)
def _beginning(queue: str, priority: int, keep: int) -> bytes:
    """All of a plain job's record before its spec: the same for most jobs."""
    name = pack_queue(queue)
    flags, rest = (0, b"") if keep == DAY_MS else (HAS_KEEP, pack_number(keep))
    return _BEGIN.pack(PENDING, flags, priority, 0, 0, len(name)) + name + rest


def pack_plain(job: NewJob) -> bytes | None:
    """The record of a job that makes use of nothing special, for `insert_plain.lua`."""
    if job.delay or job.due is not None or job.unique is not None or job.spec.parents:
        return None
    if has_turns(job.spec):
        return None
    spec = encode_spec(job.spec)
    if len(spec) > LARGEST_INLINE:
        return None
    return _beginning(job.queue, job.priority, job.spec.keep) + spec


class Packed(NamedTuple):
    """A job that comes in: the record without what the store adds, and what is kept beside it.

    Of a new one, for `insert.lua`, the record has no created and no place, and beside it there
    may be a large spec. Of one that is restored it has all but a place, and beside it is what
    `pack_restored` put there.
    """

    record: bytes
    large: bytes | None = None


def pack_new(job: NewJob, more: int = 0) -> Packed:
    spec = encode_spec(job.spec)
    queue = pack_queue(job.queue)
    flags, extra, large = 0, b"", None
    if job.due is not None or job.delay:
        flags |= HAS_DUE
        # Below zero it is a delay, from the time at which the store gets it.
        extra += pack_number(-job.delay if job.due is None else max(job.due, 0))
    if job.spec.keep != DAY_MS:
        flags |= HAS_KEEP
        extra += pack_number(job.spec.keep)
    traits = pack_traits(job.spec, job.unique)
    if job.unique is not None and job.spec.unique_for <= 0:
        key = job.unique.encode()
        flags |= HAS_UNIQUE
        extra += _LENGTH.pack(len(key)) + key
    if traits:
        more |= HAS_TRAITS
    conflict = 0 if job.unique is None else CONFLICTS[job.conflict]
    if len(spec) > LARGEST_INLINE:
        flags |= HAS_LARGE
        spec, large = _head(job.spec), spec
    begin = _BEGIN.pack(PENDING, flags, job.priority, more, conflict, len(queue))
    return Packed(with_traits(begin + queue + extra + spec, traits), large)


def _head(spec: Spec) -> bytes:
    """A large spec without its payload, if that makes it small."""
    head = encode_spec(msgspec.structs.replace(spec, payload=b""))
    return head if len(head) <= LARGEST_INLINE else b""


def pack_restored(job: Job, more: int = 0) -> Packed:
    """A job as another store had it, for `restore.lua`."""
    spec = encode_spec(job.spec)
    queue = pack_queue(job.queue)
    parts: list[tuple[bool, int, bytes]] = [
        (job.due != job.created_at, HAS_DUE, pack_number(job.due)),
        (job.spec.keep != DAY_MS, HAS_KEEP, pack_number(job.spec.keep)),
        (job.unique is not None, HAS_UNIQUE, _sized(_LENGTH, (job.unique or "").encode())),
        (True, 0, spec if len(spec) <= LARGEST_INLINE else _head(job.spec)),
        (job.worker is not None, HAS_RUN, pack_run(job)),
        (job.finished_at is not None, HAS_DONE, pack_number(job.finished_at or 0)),
    ]
    sides: list[tuple[bytes | None, int]] = [
        (spec if len(spec) > LARGEST_INLINE else None, HAS_LARGE),
        (job.result, HAS_RESULT),
        (None if job.error is None else pack_error(job.error, job.lost), HAS_ERROR),
    ]
    flags = sum(flag for there, flag, _ in parts if there)
    flags += sum(flag for side, flag in sides if side is not None)
    beside = b"".join(_sized(_SIZE, side) for side, _ in sides if side is not None)
    if job.progress is not None:
        more |= HAS_PROGRESS
        beside += _sized(_SIZE, encode(job.progress))
    if job.checkpoint is not None:
        more |= HAS_CHECKPOINT
        beside += _sized(_SIZE, job.checkpoint)
    mail = pack_mail(job.awaits, job.mail)
    if mail is not None:
        more |= HAS_MAIL
        beside += _sized(_SIZE, mail)
    # A key that it holds for a time is no longer its own affair.
    traits = pack_traits(job.spec, job.unique if job.spec.unique_for < 0 else None)
    if traits:
        more |= HAS_TRAITS
        beside += _sized(_SIZE, traits)
    state = job.state
    if job.waits_for:
        # Not for the script: for who finds it held back.
        beside += b"".join(_sized(_LENGTH, pack_id(parent)) for parent in job.waits_for)
    elif state is State.BLOCKED:
        # For a slot of its lane, which it is to enter here.
        state = State.PENDING
    begin = _BEGIN.pack(CODES[state], flags, job.priority, more, job.attempt, len(queue))
    fields = b"".join(field for there, _, field in parts if there)
    return Packed(pack_key(job.created_at, 0) + begin + queue + fields, beside)


def read_waits(packed: Packed) -> tuple[str, ...]:
    """Those that a blocked job waited for in another store."""
    flags, more = packed.record[17], packed.record[19]
    beside, at = packed.large or b"", 0
    for _ in range(
        (flags & (HAS_LARGE | HAS_RESULT | HAS_ERROR)).bit_count()
        + (more & OTHER_SIDES).bit_count()
    ):
        at += _SIZE.size + _SIZE.unpack_from(beside, at)[0]
    found: list[str] = []
    while at < len(beside):
        start = at + _LENGTH.size
        at = start + _LENGTH.unpack_from(beside, at)[0]
        found.append(unpack_id(beside[start:at]))
    return tuple(found)


def _sized(length: Struct, value: bytes) -> bytes:
    return length.pack(len(value)) + value


class Follower(NamedTuple):
    """What becomes of a new job if this job holds its key and runs: it is to wait for that."""

    holder: bytes
    packed: Packed


def insert_words(
    ids: Sequence[bytes],
    packed: Sequence[Packed],
    ask_names: bool,
    followers: Mapping[int, Follower] = NOBODY,
) -> list[Word]:
    words: list[Word] = [len(ids), int(len(set(ids)) == len(ids)), int(ask_names)]
    for raw, each in zip(ids, packed, strict=True):
        words += (raw, each.record)
    words += [each.large for each in packed if each.large is not None]
    words.append(len(followers))
    for n, (holder, follower) in followers.items():
        words += (n, holder, follower.record, follower.large or b"")
    return words


def restore_words(
    ids: Sequence[bytes], packed: Sequence[Packed], fence: int, ask_names: bool
) -> list[Word]:
    words: list[Word] = [len(ids), int(ask_names), fence]
    for raw, each in zip(ids, packed, strict=True):
        words += (raw, each.record, each.large or b"")
    return words


def is_plain(transition: Transition) -> bool:
    """Completed, and no more: the way of nearly every job."""
    return (
        transition.state is State.COMPLETED
        and transition.error is None
        and transition.result != b""
        and not transition.refund
    )


def finish_words(transitions: Sequence[Transition]) -> tuple[list[Transition], list[Word]]:
    """Transitions in the order in which `finish.lua` takes them, and its arguments."""
    plain: list[Transition] = []
    others: list[Transition] = []
    for each in transitions:
        (plain if is_plain(each) else others).append(each)
    words: list[Word] = [len(plain)]
    for each in plain:
        words += (pack_id(each.id), pack_number(each.fence), each.result or b"")
    words.append(len(others))
    for each in others:
        words += (
            pack_id(each.id),
            pack_number(each.fence),
            pack_move(each),
            each.result or b"",
            b"" if each.error is None else encode(each.error),
            b"" if each.awaits is None else each.awaits.encode(),
        )
    return plain + others, words
