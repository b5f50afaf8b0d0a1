"""Claimed jobs as workers get them over HTTP."""

from __future__ import annotations

from typing import Any

import msgspec

from ...admin.moment import iso
from ...core.codec import JSON, Codec, Codecs, decode_call, decode_result
from ...core.model import Job
from ...core.protobuf import PROTOBUF
from ...errors import CorruptRecord, UnencodableValue
from .worker_messages import FetchedJob


def fetched_job(job: Job, codecs: Codecs, *, raw: bool) -> FetchedJob:
    """The job with its arguments as values, unless they are to be as they are stored.

    Raises for arguments that nobody can read.
    """
    spec = job.spec
    codec = None if raw else _codec(codecs, spec.content_type)
    return FetchedJob(
        id=job.id,
        fence=job.fence,
        task=spec.task,
        queue=job.queue,
        priority=job.priority,
        attempt=job.attempt,
        max_retries=spec.max_retries,
        timeout=None if spec.timeout is None else spec.timeout / 1000,
        content_type=spec.content_type,
        headers=spec.headers or {},
        labels=spec.labels or {},
        workflow=spec.workflow or None,
        created_at=iso(job.created_at),
        due_at=iso(job.due),
        lease_until=iso(job.lease_until),
        **_arguments(codec, job),
        **_checkpoint(codec, job),
    )


def _codec(codecs: Codecs, content_type: str) -> Codec | None:
    """What reads a content type here, if it can be values at all."""
    try:
        codec = codecs.get(content_type)
    except CorruptRecord:
        return None
    return None if codec is PROTOBUF else codec


def _arguments(codec: Codec | None, job: Job) -> dict[str, Any]:
    payload = job.spec.payload
    if codec is None:
        return {"payload": payload}
    args, kwargs = decode_call(codec, payload, job.id, job.task)
    try:
        return {
            "args": msgspec.Raw(JSON.encode(args)),
            "kwargs": msgspec.Raw(JSON.encode(kwargs)),
        }
    except UnencodableValue:
        # Such as nan: the worker may be able to read what it is.
        return {"payload": payload}


def _checkpoint(codec: Codec | None, job: Job) -> dict[str, Any]:
    state = job.checkpoint
    if state is None:
        return {}
    if codec is None:
        return {"checkpoint_payload": state}
    value = decode_result(codec, state, "checkpoint", job.id, job.task)
    try:
        return {"checkpoint": msgspec.Raw(JSON.encode(value))}
    except UnencodableValue:
        return {"checkpoint_payload": state}
