"""Spans of OpenTelemetry: enqueue, wait, run, and calls of the store in between.

A job carries the context of the span that it was enqueued in, so that producer and worker are
parts of one trace, in whichever processes they are. Only the API is needed; without a provider,
which is the application's to set up, nothing is done.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Final

from ..core.model import Job, NewJob, Receipt, Transition
from ..core.states import State
from ..errors import MissingExtra
from .events import Events, Observer

try:
    from opentelemetry import context, trace
    from opentelemetry.trace import Span, SpanContext, SpanKind, Status, StatusCode, Tracer
except ImportError:
    raise MissingExtra("Tracing needs an extra: pip install 'windlass[tracing]'.") from None

from .propagation import (
    EMPTY,
    LINKS,
    PARENT,
    context_of,
    headers_of,
    recorded,
    unsampled,
)
from .roots import Roots, roots_of
from .spans import MOST_LINKS, attributes, fail, links_of, note_shared, note_wait, of_run

MOST_REMEMBERED: Final = 4_096
"""Jobs enqueued here, sampled, whose spans those that depend on them are linked to."""

LONGEST_CALL: Final = 300.0
"""Seconds after which a job that is being enqueued is not heard of any more."""

LOOK: Final = 1.0
"""Seconds between looks for a provider while there is none."""

OURS: Final = "windlass.workflow"
"""Tasks of our own have no spans: nobody has enqueued them."""

FAILED: Final = (State.RETRY, State.DEAD)
NONE: Final[Mapping[str, str]] = {}

_USUAL: Final = re.compile(
    r"ParentBased\{root:(?:AlwaysOnSampler|AlwaysOffSampler|TraceIdRatioBased\{[^}]*\}),"
    r"remoteParentSampled:\w+,remoteParentNotSampled:AlwaysOffSampler,"
    r"localParentSampled:\w+,localParentNotSampled:AlwaysOffSampler\}"
)
"""How a sampler describes itself that leaves out what was left out where the trace began; and
where the trace begins here, looks at nothing but its id. So do the usual ones of the SDK."""

_running: ContextVar[Span | None] = ContextVar("windlass_span", default=None)
_sending: ContextVar[Span | None] = ContextVar("windlass_sending", default=None)


class Tracing(Observer):
    """Give one to `app.observe`, in producers and in workers.

    `provider` is the application's; without one it is the global provider.
    """

    def __init__(self, provider: trace.TracerProvider | None = None) -> None:
        self._given = provider
        self._tracer: Tracer | None = None
        self._next_look = 0.0
        self._obeys = False
        """a trace that is not recorded elsewhere is not recorded here"""
        self._begins = True
        """some trace may begin here"""
        self._roots: Roots | None = None
        """with a sampler that looks at nothing but the id of a trace"""
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Span, float]] = {}
        """of jobs that are being enqueued, by their header, and since when"""
        self._remembered: dict[str, str] = {}
        self._ended: dict[tuple[str, int], SpanContext] = {}
        """of attempts that are about to be written"""

    def enqueuing(self, job: NewJob) -> Mapping[str, str] | None:
        tracer = self._tracer or self._found()
        if tracer is None:
            return None
        given = job.spec.headers or {}
        # A server may have put the trace of a request there.
        parent = context_of(given) if PARENT in given else context.get_current()
        around = trace.get_current_span(parent).get_span_context()
        if self._obeys and around.is_valid and not around.trace_flags.sampled:
            return headers_of(around, parent)
        if self._roots is not None and not around.is_valid:
            dropped = self._roots.dropped("enqueue", SpanKind.PRODUCER)
            if dropped is not None:
                return headers_of(dropped.get_span_context(), parent)
        span = tracer.start_span(
            f"enqueue {job.queue}",
            parent,
            SpanKind.PRODUCER,
            attributes("enqueue", "send", job.id, job.queue, job.spec.task, job.spec.workflow),
        )
        headers = headers_of(span.get_span_context(), parent)
        if span.is_recording():
            headers.update(self._opened(job, span, headers[PARENT]))
        return headers

    def enqueued(self, job: NewJob, receipt: Receipt) -> None:
        span = self._closed(job)
        if span is not None:
            if receipt.duplicate:
                span.set_attribute("windlass.duplicate", True)
                span.set_attribute("messaging.message.id", receipt.id)
            span.end()

    def rejected(self, job: NewJob, error: BaseException) -> None:
        span = self._closed(job)
        if span is not None:
            fail(span, error)
            span.end()

    def claimed(self, jobs: Sequence[Job], seconds: float) -> None:
        tracer = self._tracer or self._found()
        if tracer is None:
            return
        about = [span for job in jobs if (span := recorded(job.spec.headers)) is not None]
        if about:
            note_shared(tracer, "claim", "receive", about, len(jobs), seconds)

    def started(self, job: Job, waited: float) -> None:
        tracer = self._tracer or self._found()
        if tracer is None:
            return
        headers = job.spec.headers or NONE
        if self._obeys and (within := unsampled(headers)) is not None:
            context.attach(within)
            return
        if job.spec.task.startswith(OURS) or not (headers or self._begins):
            return
        parent = context_of(headers) if headers else EMPTY
        if self._roots is not None and PARENT not in headers:
            dropped = self._roots.dropped("run", SpanKind.CONSUMER)
            if dropped is not None:
                context.attach(trace.set_span_in_context(dropped, parent))
                return
        # A sampler that looks at nothing but the trace needs to know nothing else.
        about = None if self._obeys else of_run(job)
        links = links_of(job, headers) if headers or job.error is not None else ()
        span = tracer.start_span(f"run {job.queue}", parent, SpanKind.CONSUMER, about, links)
        if span.is_recording():
            if about is None:
                span.set_attributes(of_run(job))
            note_wait(tracer, job, parent, waited)
            _running.set(span)
        context.attach(trace.set_span_in_context(span, parent))

    def ended(
        self, job: Job, move: Transition | None, seconds: float, error: BaseException | None
    ) -> None:
        span = _running.get()
        if span is None:
            return
        _running.set(None)
        if move is None:
            span.set_status(Status(StatusCode.ERROR, "the lease was lost"))
        else:
            span.set_attribute("windlass.state", move.state.value)
            if move.state in FAILED and error is not None:
                fail(span, error)
            self._ended[job.id, job.fence] = span.get_span_context()
            if len(self._ended) > MOST_REMEMBERED:
                del self._ended[next(iter(self._ended))]
        span.end()

    def finished(self, moves: Sequence[Transition], seconds: float) -> None:
        if self._tracer is None or not self._ended:
            return
        found = [self._ended.pop((move.id, move.fence), None) for move in moves]
        about = [span for span in found if span is not None]
        if about:
            note_shared(self._tracer, "finish", "settle", about, len(moves), seconds)

    def called(self, call: str, seconds: float, error: BaseException | None) -> None:
        tracer = self._tracer
        if tracer is None:
            return
        # Who enqueues first is under way with those of others, later on: they have their own.
        around = (_sending.get() if call == "insert" else None) or trace.get_current_span()
        if not around.is_recording():
            return
        now = time.time_ns()
        span = tracer.start_span(
            f"store {call}",
            trace.set_span_in_context(around),
            SpanKind.CLIENT,
            {"messaging.system": "windlass", "windlass.store.call": call},
            start_time=now - int(seconds * 1e9),
        )
        if error is not None:
            fail(span, error)
        span.end(now)

    def _found(self) -> Tracer | None:
        """The tracer of the provider, once there is one."""
        now = time.monotonic()
        if now < self._next_look:
            return None
        self._next_look = now + LOOK
        provider = self._given or trace.get_tracer_provider()
        if isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
            return None
        told = _description(provider)
        self._obeys = _USUAL.fullmatch(told) is not None
        self._begins = not (self._obeys and "root:AlwaysOffSampler" in told)
        tracer = provider.get_tracer("windlass")
        self._roots = roots_of(tracer) if self._obeys and self._begins else None
        self._tracer = tracer
        return self._tracer

    def _opened(self, job: NewJob, span: Span, header: str) -> Mapping[str, str]:
        """Remember a span until its job is stored; the header with those that it is linked to."""
        if job.id.startswith(f"{job.spec.workflow}:"):
            # A callback: it is enqueued when the workflow has ended.
            span.end()
            return {}
        now = time.monotonic()
        with self._lock:
            known = [self._remembered.get(id) for id in job.spec.parents[:MOST_LINKS]]
            self._remembered[job.id] = header
            if len(self._remembered) > MOST_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            self._open[header] = (span, now)
            oldest = next(iter(self._open))
            late = self._open[oldest]
            if now - late[1] > LONGEST_CALL:
                del self._open[oldest]
                late[0].end()
        _sending.set(span)
        links = ",".join(filter(None, known))
        return {LINKS: links} if links else {}

    def _closed(self, job: NewJob) -> Span | None:
        header = (job.spec.headers or {}).get(PARENT, "")
        with self._lock:
            found = self._open.pop(header, None)
        return None if found is None else found[0]


def trace_app(events: Events) -> None:
    """Have an app traced that is not yet."""
    if not any(isinstance(getattr(each, "__self__", None), Tracing) for each in events.started):
        events.observe(Tracing())


def _description(provider: Any) -> str:
    """What its sampler says of itself; nothing if it is not one of the SDK's."""
    sampler = getattr(provider, "sampler", None)
    return "" if sampler is None else str(sampler.get_description())
