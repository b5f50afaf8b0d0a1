"""The values that go between client, worker and stores. None of them does I/O.

A `Spec` is what was asked for and never changes; `NewJob` adds where to put it;
`Job` is what the store gives back. Times are milliseconds (see `clock`); a
duration is given by the caller, a moment is computed by the store.

None of them can be part of a cycle, which `gc=False` tells the collector: at a hundred
thousand of them a second its rounds are a real cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from .lane import Lane
from .states import State

DAY_MS: Final = 24 * 60 * 60 * 1000
DEFAULT_QUEUE: Final = "default"
DEFAULT_PRIORITY: Final = 50
DEFAULT_MAX_RETRIES: Final = 3
RECORD_VERSION: Final = 1
UNREADABLE: Final = "unreadable"
NEVER: Final = 253_402_300_799_000
"""A moment that does not come: the end of the year 9999."""

Conflict = Literal["reject", "replace", "last"]
"""What a new job does when its unique key is held: the holder stands for it; it takes the place of
a holder that waits; or that, and behind one that runs it waits and holds the key from now on."""


class Spec(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one job is to do. Stored as one opaque record.

    Fields are only ever appended, each with a default: that is what lets the
    version before read what this one writes. The defaults are part of what is stored, for
    a field may be left out that has its default: they never change.
    """

    task: str
    payload: bytes
    content_type: str = "msgpack"
    max_retries: int = DEFAULT_MAX_RETRIES
    timeout: int | None = None
    keep: int = DAY_MS
    labels: dict[str, str] | None = None
    headers: dict[str, str] | None = None
    version: int = RECORD_VERSION
    expires_in: int | None = None
    """not to be started later than so many milliseconds after it was created"""
    expires_at: int | None = None
    """nor after this moment"""
    parents: tuple[str, ...] = ()
    """the jobs that it depends on"""
    runs_anyway: bool = False
    """whether it runs also if one of these is dead, cancelled or deleted"""
    inputs: int = 0
    """the results of so many of its parents, the first ones, are its first arguments"""
    gathers: bool = False
    """they come as one list"""
    workflow: str = ""
    """the workflow that it belongs to"""
    unique_for: int = 0
    """how long it holds its unique key: see `unique`"""
    lane: Lane | None = None
    """the lane of its queue that it waits in for a slot"""
    group: str = ""
    """the group of its queue that it takes turns for"""
    weight: int = 1
    """how many turns, compared with other groups"""


_encode = msgspec.msgpack.Encoder().encode
_decode_spec = msgspec.msgpack.Decoder(Spec).decode


def encode_spec(spec: Spec) -> bytes:
    """The record that a store keeps for a spec.

    Of one that is as usual, only what it does and with what: a third less to keep.
    """
    usual = (
        spec.content_type == "msgpack"
        and spec.max_retries == DEFAULT_MAX_RETRIES
        and spec.keep == DAY_MS
        and spec.timeout is None
        and spec.labels is None
        and spec.headers is None
        and spec.version == RECORD_VERSION
        and spec.expires_in is None
        and spec.expires_at is None
        and not spec.parents
        and not spec.workflow
        and not spec.unique_for
        and spec.lane is None
        and not spec.group
    )
    return _encode((spec.task, spec.payload) if usual else spec)


def decode_spec(record: bytes) -> Spec:
    """The spec in a stored record.

    A damaged record becomes a spec of a content type that no codec reads: so one bad job
    fails by itself, with its reason, and never a claim or a listing with it.
    """
    try:
        return _decode_spec(record)
    except (msgspec.DecodeError, UnicodeDecodeError, TypeError):
        # Not even bytes, if someone wrote another type to a database that does not mind.
        payload = record if isinstance(record, bytes) else repr(record).encode()
        return Spec("(unreadable)", payload, UNREADABLE, max_retries=0)


class NewJob(msgspec.Struct, frozen=True, gc=False):
    """A request to run a task. `due` is a moment, `delay` a time from now; not both."""

    id: str
    spec: Spec
    queue: str = DEFAULT_QUEUE
    priority: int = DEFAULT_PRIORITY
    delay: int = 0
    due: int | None = None
    unique: str | None = None
    conflict: Conflict = "reject"
    """what to do if the unique key is held: see `unique`"""
    fresh: bool = False
    """the id was made for this job, so nobody else can have it: a store that keeps ids in
    several places need not ask all of them"""


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """What became of one `NewJob`: `id` is the job that stands for it from now on.

    `duplicate` says that this job was there before, found by its id or its unique key.
    """

    id: str
    duplicate: bool = False


class Failure(msgspec.Struct, frozen=True, gc=False):
    """Why an attempt failed: the exception's type, its text, and where it came from."""

    kind: str
    message: str
    traceback: str = ""
    at: int = 0
    """when the attempt began; of an unknown task, since when it has been that; 0 if not told"""
    trace: str = ""
    """the span of the attempt, as W3C traceparent, if it was recorded"""

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


class Progress(msgspec.Struct, frozen=True, gc=False):
    """How far an attempt has come, in its own words."""

    percent: float
    message: str = ""


class Lease(msgspec.Struct, frozen=True, gc=False):
    """The right to write to a job: good only while the store still has this fence for it."""

    id: str
    fence: int


class Job(msgspec.Struct, frozen=True, gc=False):
    """A job as the store has it."""

    id: str
    spec: Spec
    queue: str
    state: State
    priority: int
    created_at: int
    due: int
    attempt: int = 0
    """runs so far; a claim counts as one, a release, a snooze or a lost worker gives it back"""
    fence: int = 0
    lease_until: int | None = None
    worker: str | None = None
    unique: str | None = None
    started_at: int | None = None
    finished_at: int | None = None
    result: bytes | None = None
    error: Failure | None = None
    ref: int = 0
    """where the store has the job, as a short cut back to it; nothing to anyone else"""
    progress: Progress | None = None
    """the last report of the last attempt"""
    waits_for: tuple[str, ...] = ()
    """of a blocked job: those of its parents that have not ended, in no order"""
    checkpoint: bytes | None = None
    """what an attempt left for the next one"""
    awaits: str | None = None
    """the signal that it is parked for, or that did not come in time"""
    mail: Mapping[str, bytes] | None = None
    """the signals that came, by name; None if none did"""
    lost: int = 0
    """how many workers were lost while they ran it, since an attempt of it ended by itself; these
    attempts do not count as attempts"""

    def __repr__(self) -> str:
        return f"<Job {self.id} of {self.task}: {self.state}, attempt {self.attempt}>"

    @property
    def task(self) -> str:
        """The name of its task."""
        return self.spec.task

    @property
    def expires_at(self) -> int | None:
        """The moment after which it is cancelled instead of started, if there is one."""
        spec = self.spec
        if spec.expires_in is None:
            return spec.expires_at
        moment = self.created_at + spec.expires_in
        return moment if spec.expires_at is None else min(moment, spec.expires_at)

    @property
    def lease(self) -> Lease:
        """What its worker shows when it writes."""
        return Lease(self.id, self.fence)


class Transition(msgspec.Struct, frozen=True, gc=False):
    """The one move that follows an attempt. A store applies it only while the fence holds."""

    id: str
    fence: int
    state: State
    delay: int = 0
    due: int | None = None
    """for retry and scheduled: a moment, which wins over `delay`"""
    result: bytes | None = None
    error: Failure | None = None
    refund: bool = False
    """the attempt does not count: snoozed, released or lost"""
    queue: str = ""
    ref: int = 0
    """these two are the job's own and save the store a search; without a ref it makes one"""
    awaits: str | None = None
    """for scheduled: parked until this signal comes, or its time"""
    lost: int = 0
    """what the job's `lost` is from now on; more than 0 only of one that has an error, and 0 of one
    that is completed"""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A line of the journal: a job as it was right after an attempt, or the job, had ended.

    `at` is when that was; `key` is where the store has the line, and never another one. A job
    can end more than once, for it can be replayed: what ended is told by the job's id, its
    fence and `ran`.
    """

    key: str
    at: int
    job: Job
    ran: bool = True
    """an attempt ended; if not, the job was cancelled while it waited, and what it says of a
    worker and a start is of an attempt that had ended before"""


class JobQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs to list. `cursor` is the one that the page before gave."""

    states: tuple[State, ...] = ()
    queue: str | None = None
    task: str | None = None
    limit: int = 100
    cursor: str | None = None
    brief: bool = False
    """without what may be large: payload, result and checkpoint are left empty"""

    @property
    def filters(self) -> bool:
        """Whether some jobs of the states asked for may not match."""
        return self.queue is not None or self.task is not None

    def matches(self, job: Job) -> bool:
        return (self.queue is None or job.queue == self.queue) and (
            self.task is None or job.spec.task == self.task
        )


def brief(job: Job) -> Job:
    """A job without its payload, result and checkpoint."""
    if not (job.spec.payload or job.result or job.checkpoint):
        return job
    spec = msgspec.structs.replace(job.spec, payload=b"")
    return msgspec.structs.replace(job, spec=spec, result=None, checkpoint=None)


SMALL: Final = 256
"""The bytes of a job that has nothing large."""


def weight(job: Job) -> int:
    """The bytes of a job that `brief` would leave out."""
    return len(job.spec.payload) + len(job.result or b"") + len(job.checkpoint or b"")


def size_of(job: Job) -> int:
    """The bytes of a job, about: what is small is not counted one by one."""
    spec = job.spec
    total = SMALL + weight(job)
    for texts in (spec.labels, spec.headers):
        if texts:
            total += sum(map(_bytes, texts)) + sum(map(_bytes, texts.values()))
    if spec.parents:
        total += sum(map(_bytes, spec.parents)) + sum(map(_bytes, job.waits_for))
    if job.mail:
        total += sum(map(_bytes, job.mail)) + sum(map(len, job.mail.values()))
    if job.error is not None:
        total += _bytes(job.error.message) + _bytes(job.error.traceback)
    if job.progress is not None:
        total += _bytes(job.progress.message)
    return total


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def until_heavy(entries: Iterable[Entry], most: int) -> list[Entry]:
    """The first entries, up to the one with which their jobs come to so many bytes."""
    found: list[Entry] = []
    for entry in entries:
        found.append(entry)
        most -= size_of(entry.job)
        if most <= 0:
            break
    return found


class Page(msgspec.Struct, frozen=True):
    """One page of a listing.

    A page may be short, even empty, while `cursor` is not None: a store looks at a
    bounded number of jobs for one page, however few of them match, and ends it behind the job
    with which the jobs come to `PAGE_BYTES`: see `size_of`.
    """

    jobs: Sequence[Job]
    cursor: str | None = None


class QueueStats(msgspec.Struct, frozen=True):
    """A queue and how many jobs it has in each state (states with none left out)."""

    name: str
    counts: Mapping[State, int]
    paused: bool = False
