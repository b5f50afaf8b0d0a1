"""What a log line can say of the attempt that it comes from.

Nothing here touches a logger: put the filter on a handler of your own, and its format can use the
fields. On a handler, and not on a logger, whose filters do not see the lines of other loggers.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any, Final

from ..core.context import current, current_batch
from ..core.model import Job

FIELDS: Final = ("job_id", "task", "queue", "attempt", "fence", "trace_id")
"""What the filter gives to a record; outside of a job each is an empty text."""

JOBS: Final = "windlass.jobs"
"""The logger of single jobs: their starts, ends and failures."""

TRACEPARENT: Final = "traceparent"
TRACE_DIGITS: Final = 32


class JobFilter(logging.Filter):
    """Lets every record through, with the fields of the attempt that is running.

    What the record has by itself, from `extra`, stays.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        known, attributes = attempt_fields(), record.__dict__
        for name in FIELDS:
            if name not in attributes:
                attributes[name] = known.get(name, "")
        return True


def attempt_fields() -> Mapping[str, Any]:
    """The running attempt by the names of `FIELDS`; none if this is no handler's code.

    A handler of batches runs for many jobs: their task and queue, and how many there are.
    """
    context = current.get(None)
    if context is not None:
        return job_fields(context.job)
    batch = current_batch.get(())
    if batch:
        job = batch[0].job
        return {"task": job.task, "queue": job.queue, "batch": len(batch)}
    return {}


def job_fields(job: Job) -> dict[str, Any]:
    """A job in hand by the names of `FIELDS`."""
    known: dict[str, Any] = {
        "job_id": job.id,
        "task": job.task,
        "queue": job.queue,
        "attempt": job.attempt,
        "fence": job.fence,
    }
    if trace := _trace_id(job):
        known["trace_id"] = trace
    return known


def present_span() -> str:
    """The present span as W3C traceparent, if there is one and it is recorded."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return ""
    span = api.get_current_span().get_span_context()
    if not (span.is_valid and span.trace_flags & api.TraceFlags.SAMPLED):
        return ""
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"


def _trace_id(job: Job) -> str:
    """The trace of the present span, if there is tracing, or that which the job came with."""
    api = sys.modules.get("opentelemetry.trace")
    if api is not None:
        number: int = api.get_current_span().get_span_context().trace_id
        if number:
            return f"{number:032x}"
    parts = (job.spec.headers or {}).get(TRACEPARENT, "").split("-")
    return parts[1] if len(parts) > 1 and len(parts[1]) == TRACE_DIGITS else ""
