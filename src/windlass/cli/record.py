"""A job as plain data: the one form that `jobs --json` and `job --json` print.

The names are a promise to other programs: add some, never rename one.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..admin.moment import iso
from ..core.codec import JSON, Codecs, decode_call, decode_result
from ..core.model import Failure, Job
from ..core.signal import came
from ..errors import UnencodableValue


def record(job: Job) -> dict[str, Any]:
    """All but the arguments and the result; durations are in seconds."""
    spec = job.spec
    return {
        "id": job.id,
        "task": spec.task,
        "queue": job.queue,
        "state": job.state.value,
        "priority": job.priority,
        "attempt": job.attempt,
        "max_retries": spec.max_retries,
        "timeout": None if spec.timeout is None else spec.timeout / 1000,
        "keep": spec.keep / 1000,
        "unique": job.unique,
        "labels": spec.labels or {},
        "created_at": iso(job.created_at),
        "due_at": iso(job.due),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
        "lease_until": iso(job.lease_until),
        "worker": job.worker,
        "fence": job.fence,
        "content_type": spec.content_type,
        "error": failure(job.error),
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


def failure(error: Failure | None) -> dict[str, str] | None:
    if error is None:
        return None
    return {"kind": error.kind, "message": error.message, "traceback": error.traceback}


def full_record(job: Job, codecs: Codecs) -> dict[str, Any]:
    """With the arguments and the result; `unreadable` says why one could not be decoded."""
    args, kwargs, result, unreadable = None, None, None, None
    try:
        codec = codecs.get(job.spec.content_type)
        args, kwargs = decode_call(codec, job.spec.payload)
        if job.result is not None:
            result = decode_result(codec, job.result)
    except Exception as error:
        # A codec of the user's own can fail in any way; the rest is still worth showing.
        unreadable = str(error) or type(error).__name__
    return record(job) | {
        "args": args if args is None else [as_json(value) for value in args],
        "kwargs": kwargs if kwargs is None else {k: as_json(v) for k, v in kwargs.items()},
        "result": as_json(result),
        "unreadable": unreadable,
    }


def as_json(value: Any) -> msgspec.Raw:
    """A value as JSON, or its Python form as text where JSON has none."""
    try:
        return msgspec.Raw(JSON.encode(value))
    except UnencodableValue:
        return msgspec.Raw(JSON.encode(repr(value)))
