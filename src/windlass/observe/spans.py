"""What spans say of a job, by the conventions of OpenTelemetry for messaging."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)

from ..core.model import Job
from .propagation import EMPTY, LINKS, span_context

MOST_LINKS: Final = 32
MOST_SHARED: Final = 128
"""So many links does the SDK keep of a span, if it is not told otherwise."""


def links_of(job: Job, headers: Mapping[str, str]) -> Sequence[Link]:
    """To the attempt before, and to the jobs that it depends on."""
    found = []
    if job.error is not None and job.error.trace:
        before = span_context(job.error.trace)
        if before is not None:
            found.append(Link(before, {"windlass.link": "attempt before"}))
    for text in headers.get(LINKS, "").split(",")[:MOST_LINKS]:
        parent = span_context(text)
        if parent is not None:
            found.append(Link(parent, {"windlass.link": "depends on"}))
    return found


def note_wait(tracer: Tracer, job: Job, parent: Context, waited: float) -> None:
    """A span from when the job was due until it was claimed, both by the store's clock."""
    end = (job.started_at or 0) * 1_000_000
    about = attributes("wait", "receive", job.id, job.queue, job.spec.task, job.spec.workflow)
    start = end - int(waited * 1e9)
    span = tracer.start_span(
        f"wait {job.queue}", parent, SpanKind.INTERNAL, about, start_time=start
    )
    span.end(end)


def note_shared(
    tracer: Tracer, call: str, kind: str, about: Sequence[SpanContext], number: int, seconds: float
) -> None:
    """A span of a call of the store for `number` jobs, of which those in `about` are recorded.

    It is in the trace of the first of these, and linked to the others.
    """
    now = time.time_ns()
    first, *others = about[:MOST_SHARED]
    tracer.start_span(
        f"store {call}",
        set_span_in_context(NonRecordingSpan(first), EMPTY),
        SpanKind.CLIENT,
        {
            "messaging.system": "windlass",
            "messaging.operation.name": call,
            "messaging.operation.type": kind,
            "messaging.batch.message_count": number,
            "windlass.store.call": call,
        },
        [Link(other, {"windlass.link": "same call"}) for other in others],
        start_time=now - int(seconds * 1e9),
    ).end(now)


def of_run(job: Job) -> dict[str, str | int]:
    about = attributes("run", "process", job.id, job.queue, job.spec.task, job.spec.workflow)
    return about | {"windlass.attempt": job.attempt, "windlass.fence": job.fence}


def fail(span: Span, error: BaseException) -> None:
    kind = type(error).__name__
    span.set_attribute("error.type", kind)
    span.record_exception(error)
    span.set_status(Status(StatusCode.ERROR, f"{kind}: {error}"[:500]))


def attributes(
    name: str, kind: str, id: str, queue: str, task: str, workflow: str
) -> dict[str, str | int]:
    """By the conventions for messaging."""
    found: dict[str, str | int] = {
        "messaging.system": "windlass",
        "messaging.operation.name": name,
        "messaging.operation.type": kind,
        "messaging.destination.name": queue,
        "messaging.message.id": id,
        "windlass.task": task,
    }
    if workflow:
        found["messaging.message.conversation_id"] = workflow
    return found
