"""What an encrypted payload is bound to: its job, its task, and what it is to that job. Pure.

A job that takes the place of another in the store keeps the id of that one: see `unique`. So with
a codec that encrypts the id of a job with a unique key ends with a digest of the key, and it is
this end that its arguments are bound to. A schedule has one payload for all of its jobs, which is
bound to the schedule; its name is in their ids.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from ..errors import InvalidOption
from .model import NewJob

ARGUMENTS: Final = "arguments"
SCHEDULE: Final = "arguments of a schedule"
RESULT: Final = "result"
CHECKPOINT: Final = "checkpoint"
SIGNAL: Final = "signal"

_KEYED: Final = re.compile(r"-u[0-9a-f]{32}\Z")
_TICK: Final = re.compile(r"(.+)@(?:\d{4,5}-\d\d-\d\dT\d\d:\d\d:\d\d|[0-9a-f]{20})\Z", re.DOTALL)
"""The id of a job that a tick has made, or that somebody has triggered; see `Schedule`."""


class Binding(NamedTuple):
    """Where a payload belongs; whoever reads it elsewhere is refused."""

    kind: str = ""
    """what it is: arguments, result, checkpoint, or signal and its name"""
    job: str = ""
    """the id of the job, or the part of it that all jobs with this payload share"""
    task: str = ""


UNBOUND: Final = Binding()
"""That of a value which belongs to no job; no job is read by it."""


class EncryptingCodec:
    """The base of codecs whose payloads nobody can make, or put elsewhere, without a key.

    An app that writes by one reads no payload of another kind. Both methods must refuse to go
    without authentication: what `decode` gives back is trusted.
    """

    name: str
    binary: bool
    accept_unencrypted: bool = False
    """whether an app that writes by it reads other codecs too: for as long as it migrates"""

    def encode(self, value: Any, binding: Binding = UNBOUND) -> bytes:
        raise NotImplementedError

    def decode(self, data: bytes, binding: Binding = UNBOUND) -> Any:
        """The value; `CorruptRecord` for one that was not written by `encode` with this binding."""
        raise NotImplementedError

    def move(self, data: bytes, old: Binding, new: Binding) -> bytes:
        """The same payload for another place."""
        return self.encode(self.decode(data, old), new)


def of_arguments(id: str, task: str) -> Binding:
    """That of the arguments of a job."""
    keyed = _KEYED.search(id)
    return Binding(ARGUMENTS, keyed.group() if keyed else id, task)


def of_ticks(id: str, task: str) -> Binding | None:
    """That of the arguments of a job that a schedule may have made, as told by its id."""
    tick = _TICK.match(id)
    return Binding(SCHEDULE, tick.group(1), task) if tick else None


def of_schedule(name: str, task: str) -> Binding:
    return Binding(SCHEDULE, name, task)


def end_of_id(unique: str) -> str:
    """How the ids of jobs with this unique key end."""
    return "-u" + blake2b(unique.encode(), digest_size=16).hexdigest()


def with_key_in_id(job: NewJob) -> NewJob:
    """The job under an id by which a job of the same unique key can be told.

    Steps of workflows are known by their ids, and nothing takes their places but themselves. Nor
    should anything take that of a job whose id was chosen: what does cannot be read there.
    """
    if job.unique is None or job.spec.workflow:
        return job
    marked = with_key_in_new_id(job)
    if marked.id.endswith(end_of_id(job.unique)):
        return marked
    if job.conflict != "reject":
        raise InvalidOption(
            f"Job {job.id} has an id of its own, and could take the place of another job of its "
            "unique key, which with encryption only jobs without one can. Leave the id out."
        )
    return job


def with_key_in_new_id(job: NewJob) -> NewJob:
    """The same as far as the id can be changed: of a job that is not encrypted, and whose place
    one that is could take."""
    if job.unique is None or job.spec.workflow or not job.fresh:
        return job
    end = end_of_id(job.unique)
    return job if job.id.endswith(end) else replace(job, id=job.id + end)
