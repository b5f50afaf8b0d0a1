"""What workers say over HTTP, and what they are answered. Times are in seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from ..offer import Seconds, Text
from ..worker_requests import LEASE_MS, LONGEST_LEASE_MS, MOST_BYTES, SHORTEST_LEASE_MS

LeaseSeconds = Annotated[
    float, msgspec.Meta(ge=SHORTEST_LEASE_MS / 1000, le=LONGEST_LEASE_MS / 1000)
]
Number = Annotated[int, msgspec.Meta(ge=0)]
LEASE: Final = LEASE_MS / 1000


class Share(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A queue, and the most jobs that it may give; 0 is as many as the fetch may have."""

    queue: Text
    most: Number = 0


class FetchRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker wants. `queues` is in order of preference."""

    worker: Text
    """the worker's own name, the same in every request of one process and never another's"""
    queues: Annotated[list[Text | Share], msgspec.Meta(min_length=1)]
    limit: Annotated[int, msgspec.Meta(ge=1)] = 1
    """the most jobs to give"""
    lease: LeaseSeconds = LEASE
    """how long the claim holds"""
    max_bytes: Number = MOST_BYTES
    """about the most bytes of payloads; one job is always given"""
    raw: bool = False
    """give payloads and checkpoints as they are stored, in base64"""


class FetchedJob(msgspec.Struct, frozen=True, kw_only=True):
    """A job for the worker that has claimed it. `id` and `fence` go along with every word on it."""

    id: str
    fence: int
    task: str
    queue: str
    priority: int
    attempt: int
    """1 for the first run"""
    max_retries: int
    timeout: float | None
    """seconds that this run may take: the worker's to see to"""
    content_type: str
    args: Sequence[Any] | UnsetType = UNSET
    kwargs: Mapping[str, Any] | UnsetType = UNSET
    payload: bytes | UnsetType = UNSET
    """instead of these two, if the server cannot read them"""
    checkpoint: Any = UNSET
    """what an attempt before this one left"""
    checkpoint_payload: bytes | UnsetType = UNSET
    """instead, if the server cannot read it"""
    headers: Mapping[str, str]
    labels: Mapping[str, str]
    workflow: str | None
    created_at: str | None
    due_at: str | None
    lease_until: str | None


class Fetched(msgspec.Struct, frozen=True):
    """The jobs that were claimed: none, if none came in time."""

    jobs: Sequence[FetchedJob]


class HeldJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The right to finish a job, for as long as it holds: both are as the job came with them."""

    id: Text
    fence: int


class ExtendRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Leases to hold for so many seconds from now."""

    jobs: list[HeldJob]
    lease: LeaseSeconds = LEASE


class DoneJob(HeldJob, frozen=True, forbid_unknown_fields=True):
    """A job that is done. Without `result` and `payload` it has none."""

    result: Any = UNSET
    payload: bytes | UnsetType = UNSET
    """instead: the result as it is stored, in the content type of the job"""


class AckRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs that are done."""

    jobs: list[DoneJob]


class FailedJob(HeldJob, frozen=True, forbid_unknown_fields=True):
    """An attempt that has failed."""

    kind: str = ""
    """what kind of error: the name of its class"""
    message: str = ""
    traceback: str = ""
    retry_after: Seconds | UnsetType = UNSET
    """when to try again, instead of when the task says"""
    fatal: bool = False
    """it would fail again: no retry"""


class NackRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Attempts that have failed."""

    jobs: list[FailedJob]


class ReleaseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs to give back."""

    jobs: list[HeldJob]
    delay: Seconds = 0.0
    """when they are due again"""
    unknown_task: bool = False
    """the worker does not know the task: the server chooses when, and for how long"""


class ReportedJob(HeldJob, frozen=True, forbid_unknown_fields=True):
    """How far an attempt has come."""

    percent: Annotated[float, msgspec.Meta(ge=0, le=100)]
    message: str = ""


class ProgressRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How far attempts have come."""

    jobs: list[ReportedJob]


class KeptJob(HeldJob, frozen=True, forbid_unknown_fields=True):
    """What an attempt leaves for the next one; `payload` is as in an ack."""

    state: Any = UNSET
    payload: bytes | UnsetType = UNSET


class CheckpointRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What attempts leave for the next ones."""

    jobs: list[KeptJob]


class Held(msgspec.Struct, frozen=True):
    """The jobs for which the word counted, and those that belong to another worker, or were
    cancelled: drop these."""

    ids: Sequence[str]
    lost: Sequence[str]


class RegisterRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A worker for the list of workers."""

    worker: Text
    queues: list[Text]
    host: str = ""
    pid: Number = 0
    concurrency: Number = 1
    """jobs that it can run at the same time"""
    active: Number = 0
    """jobs that it runs now"""
    started_at: Annotated[datetime, msgspec.Meta(tz=True)] | UnsetType = UNSET
    """when it began, by its own clock; left out, it is now"""


class Registered(msgspec.Struct, frozen=True):
    """In seconds: how soon to register again, and when the worker is forgotten otherwise."""

    beat: float
    life: float


class LeaveRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker that goes."""

    worker: Text
