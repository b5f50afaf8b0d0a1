"""Traces that begin at a job: whether one is recorded is asked before a span is made.

A span of the SDK that nobody records takes a third of the time of a job that does nothing, and most
are of that kind where a sampler keeps a part of the traces. So it is asked first, with an id.
"""

from __future__ import annotations

import threading
from typing import Any

from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags

from .propagation import EMPTY


class Dropped(NonRecordingSpan):
    """Begins a trace that is not recorded; most often nobody looks at it."""

    def __init__(self, trace_id: int, ids: Any) -> None:
        self._trace_id = trace_id
        self._ids = ids
        self._known: SpanContext | None = None

    def get_span_context(self) -> SpanContext:
        if self._known is None:
            flags = TraceFlags(TraceFlags.DEFAULT)
            self._known = SpanContext(self._trace_id, self._ids.generate_span_id(), False, flags)
        return self._known


class Roots:
    """Stands for the generator of ids of a tracer: what was asked for must be the id that is used.

    For samplers that look at nothing but the id of a trace, and tracers that make one span at a
    time in a thread, as those of the SDK are.
    """

    def __init__(self, tracer: Any) -> None:
        self._sampler = tracer.sampler
        self._ids = tracer.id_generator
        self._chosen = threading.local()

    def dropped(self, name: str, kind: SpanKind) -> Dropped | None:
        """A trace that begins and is not recorded; None if it is, by the thread's next span."""
        trace_id = self._ids.generate_trace_id()
        asked = self._sampler.should_sample(EMPTY, trace_id, name, kind, None, ())
        if not asked.decision.is_recording():
            return Dropped(trace_id, self._ids)
        self._chosen.id = trace_id
        return None

    def generate_trace_id(self) -> int:
        found: int = self._chosen.__dict__.pop("id", 0) or self._ids.generate_trace_id()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ids, name)


def roots_of(tracer: Any) -> Roots | None:
    """The roots of a tracer, from now on; None if it is not one of the SDK's."""
    known = getattr(tracer, "id_generator", None)
    if known is None or not hasattr(tracer, "sampler"):
        return None
    if isinstance(known, Roots):
        return known
    tracer.id_generator = roots = Roots(tracer)
    return roots
