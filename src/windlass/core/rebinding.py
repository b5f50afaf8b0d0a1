"""Payloads that are encrypted, bound anew where a job gets another id or another task.

All others are left as they are.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from ..errors import CorruptRecord
from .binding import (
    Binding,
    EncryptingCodec,
    of_arguments,
    of_schedule,
    of_ticks,
    with_key_in_id,
)
from .codec import Codecs
from .model import NewJob, Spec
from .schedule import Schedule

ENCRYPTED: Final = "+aesgcm"
"""How the content types of `Encrypted` end."""


def rebound(codecs: Codecs, old: NewJob, new: NewJob) -> NewJob:
    """A job that was made of another, by a codec that is the one of this process."""
    if not encrypts(codecs, new.spec):
        return new
    new = with_key_in_id(new)
    was = of_arguments(old.id, old.spec.task)
    return replace(new, spec=_moved(codecs, new.spec, was, of_arguments(new.id, new.spec.task)))


def renamed(codecs: Codecs, spec: Spec, old: str, new: str) -> Spec:
    """The spec of a job under another id; `CorruptRecord` if that cannot be made here."""
    if spec.content_type.endswith(ENCRYPTED) or encrypts(codecs, spec):
        codecs.get(spec.content_type)
        now = of_arguments(new, spec.task)
        try:
            return _moved(codecs, spec, of_arguments(old, spec.task), now)
        except CorruptRecord:
            was = of_ticks(old, spec.task)
            if was is None:
                raise
        return _moved(codecs, spec, was, now)
    return spec


def scheduled(codecs: Codecs, schedule: Schedule, job: NewJob) -> Schedule:
    """A schedule whose jobs are like this one."""
    spec = schedule.spec
    if not encrypts(codecs, spec):
        return schedule
    was, now = of_arguments(job.id, spec.task), of_schedule(schedule.name, spec.task)
    return replace(schedule, spec=_moved(codecs, spec, was, now))


def encrypts(codecs: Codecs, spec: Spec) -> bool:
    """Whether a job is written by a codec of this process that encrypts."""
    try:
        return isinstance(codecs.get(spec.content_type), EncryptingCodec)
    except CorruptRecord:
        return False


def _moved(codecs: Codecs, spec: Spec, old: Binding, new: Binding) -> Spec:
    codec = codecs.get(spec.content_type)
    if old == new or not isinstance(codec, EncryptingCodec):
        return spec
    return replace(spec, payload=codec.move(spec.payload, old, new))
