"""The trace that a job belongs to, on its way through headers: W3C traceparent and tracestate.

By hand and not by the propagator that a process has configured: a producer and a worker must
understand each other, whatever either of them uses elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opentelemetry import baggage, trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

PARENT: Final = "traceparent"
STATE: Final = "tracestate"
BAGGAGE: Final = "baggage"
LINKS: Final = "windlass-links"
"""A header of ours: the spans that the jobs it depends on were enqueued in."""

UNSAMPLED: Final = frozenset("02468ace")
"""How the flags of a trace end that is not recorded: the lowest bit says it."""

PARTS: Final = 4
EMPTY: Final = Context()

(_SPAN,) = trace.set_span_in_context(trace.INVALID_SPAN, EMPTY)
"""Where a context has its span."""

_baggage: Final = W3CBaggagePropagator()


class Unsampled(NonRecordingSpan):
    """Stands for a span of a trace that nobody records; most often nobody looks at it either."""

    def __init__(self, traceparent: str) -> None:
        self._traceparent = traceparent

    def get_span_context(self) -> SpanContext:
        return span_context(self._traceparent) or trace.INVALID_SPAN_CONTEXT


def headers_of(span: SpanContext, within: Context | None = None) -> dict[str, str]:
    """What a job carries of a span, and of the baggage of a context."""
    headers = {PARENT: traceparent(span)}
    if span.trace_state:
        headers[STATE] = span.trace_state.to_header()
    if baggage.get_all(within):
        _baggage.inject(headers, within)
    return headers


def traceparent(span: SpanContext) -> str:
    return f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"


def span_context(traceparent: str, tracestate: str = "") -> SpanContext | None:
    """The span that a header names; None if it is none."""
    parts = traceparent.split("-")
    if len(parts) < PARTS:
        return None
    try:
        flags = TraceFlags(int(parts[3], 16))
        state = TraceState.from_header([tracestate]) if tracestate else None
        found = SpanContext(int(parts[1], 16), int(parts[2], 16), True, flags, state)
    except ValueError:
        return None
    return found if found.is_valid else None


def context_of(headers: Mapping[str, str]) -> Context:
    """The context in which a job with these headers is to run: never the worker's own."""
    found = span_context(headers.get(PARENT, ""), headers.get(STATE, ""))
    made = EMPTY if found is None else trace.set_span_in_context(NonRecordingSpan(found), EMPTY)
    return _baggage.extract(dict(headers), made) if BAGGAGE in headers else made


def recorded(headers: Mapping[str, str] | None) -> SpanContext | None:
    """The span that a job was enqueued in, if it is recorded."""
    parent = headers.get(PARENT) if headers else None
    return span_context(parent) if parent and parent[-1] not in UNSAMPLED else None


def unsampled(headers: Mapping[str, str]) -> Context | None:
    """The context of a job whose trace is not recorded, if there is nothing else to take over."""
    parent = headers.get(PARENT)
    if not parent or parent[-1] not in UNSAMPLED or BAGGAGE in headers:
        return None
    return Context({_SPAN: Unsampled(parent)})
