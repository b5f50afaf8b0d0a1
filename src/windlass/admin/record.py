"""A job as plain data: the one form that the HTTP API answers and `--json` prints.

The names are a promise to other programs: add some, never rename one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..core.codec import JSON, Codecs, decode_call
from ..core.likeness import error_fingerprint
from ..core.model import Failure, Job, Progress
from ..core.result import result_of
from ..core.signal import came
from ..core.states import State
from ..core.unique import shown_unique
from ..errors import UnencodableValue
from .moment import iso


class ErrorRecord(msgspec.Struct, frozen=True):
    """Why an attempt failed."""

    kind: str
    message: str
    traceback: str


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All of a job but the arguments and the result. Durations are in seconds."""

    id: str
    task: str
    queue: str
    state: State
    priority: int
    attempt: int
    max_retries: int
    lost: int
    """how many workers were lost in a row while they ran it; not counted as attempts"""
    timeout: float | None
    keep: float
    unique: str | None
    labels: Mapping[str, str]
    created_at: str | None
    due_at: str | None
    started_at: str | None
    finished_at: str | None
    lease_until: str | None
    worker: str | None
    fence: int
    content_type: str
    error: ErrorRecord | None
    fingerprint: str | None
    """the same for errors that are alike"""
    progress: Progress | None
    workflow: str | None
    depends_on: Sequence[str]
    waits_for: Sequence[str]
    orphaned: str
    awaits: str | None
    signals: Sequence[str]
    group: str | None
    lane: str | None


class FullRecord(JobRecord, frozen=True, kw_only=True):
    """A job with its arguments and its result; `unreadable` says why these could not be decoded."""

    headers: Mapping[str, str]
    args: Sequence[Any] | None
    kwargs: Mapping[str, Any] | None
    result: Any
    unreadable: str | None


def record(job: Job) -> JobRecord:
    return JobRecord(**_fields(job))


def full_record(job: Job, codecs: Codecs) -> FullRecord:
    args, kwargs, result, unreadable = None, None, None, None
    try:
        codec = codecs.get(job.spec.content_type)
        args, kwargs = decode_call(codec, job.spec.payload, job.id, job.task)
        result = result_of(codecs, job)
    except Exception as error:
        # A codec of the user's own can fail in any way; the rest is still worth showing.
        unreadable = str(error) or type(error).__name__
    return FullRecord(
        **_fields(job),
        headers=job.spec.headers or {},
        args=args if args is None else [as_json(value) for value in args],
        kwargs=kwargs if kwargs is None else {k: as_json(v) for k, v in kwargs.items()},
        result=as_json(result),
        unreadable=unreadable,
    )


def _fields(job: Job) -> dict[str, Any]:
    spec, error = job.spec, job.error
    return {
        "id": job.id,
        "task": spec.task,
        "queue": job.queue,
        "state": job.state,
        "priority": job.priority,
        "attempt": job.attempt,
        "max_retries": spec.max_retries,
        "lost": job.lost,
        "timeout": None if spec.timeout is None else spec.timeout / 1000,
        "keep": spec.keep / 1000,
        "unique": shown_unique(job.unique),
        "labels": spec.labels or {},
        "created_at": iso(job.created_at),
        "due_at": iso(job.due),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
        "lease_until": iso(job.lease_until),
        "worker": job.worker,
        "fence": job.fence,
        "content_type": spec.content_type,
        "error": error_record(error),
        "fingerprint": None if error is None else error_fingerprint(spec.task, error),
        "progress": job.progress,
        "workflow": spec.workflow or None,
        "depends_on": spec.parents,
        "waits_for": job.waits_for,
        "orphaned": "run" if spec.runs_anyway else "cancel",
        "awaits": job.awaits,
        "signals": came(job),
        "group": spec.group or None,
        "lane": None if spec.lane is None else spec.lane.name,
    }


def error_record(error: Failure | None) -> ErrorRecord | None:
    if error is None:
        return None
    return ErrorRecord(error.kind, error.message, error.traceback)


def as_json(value: Any) -> msgspec.Raw:
    """A value as JSON, or its Python form as text where JSON has none."""
    try:
        return msgspec.Raw(JSON.encode(value))
    except UnencodableValue:
        return msgspec.Raw(JSON.encode(repr(value)))
