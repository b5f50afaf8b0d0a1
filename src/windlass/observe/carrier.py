"""The present span, on its way to another process; nothing where there is no tracing."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping


def carried() -> Mapping[str, str] | None:
    """What a child has to know of the span that its handler runs in."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    from .propagation import headers_of

    span = trace.get_current_span().get_span_context()
    return headers_of(span) if span.is_valid else None


def take_over(carrier: Mapping[str, str]) -> None:
    """Over there: let this be the present span, for the rest of the task or thread."""
    from opentelemetry import context

    from .propagation import context_of

    context.attach(context_of(carrier))


def join(headers: Iterable[tuple[str | bytes, str | bytes]]) -> None:
    """Let what a request asks for be a part of the trace that it came with, if any."""
    found = {_text(name): _text(value) for name, value in headers}
    if "traceparent" in found:
        take_over(found)


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")
