"""The real SDK, with an exporter in this process."""

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Sampler

from windlass import Windlass
from windlass.observe.tracing import Tracing


class Spans:
    """What was recorded by one provider."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider(sampler=sampler)
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = self.provider.get_tracer("test")

    def of(self, app: Windlass) -> "Spans":
        app.observe(Tracing(self.provider))
        return self

    @property
    def all(self) -> Sequence[ReadableSpan]:
        return self._exporter.get_finished_spans()

    def named(self, name: str) -> list[ReadableSpan]:
        """Those of a name, in the order of their beginning."""
        found = [span for span in self.all if span.name == name]
        return sorted(found, key=lambda span: span.start_time or 0)

    def one(self, name: str) -> ReadableSpan:
        (found,) = self.named(name)
        return found


def trace_of(span: ReadableSpan) -> int:
    return span.context.trace_id if span.context is not None else 0


def parent_of(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def id_of(span: ReadableSpan) -> int:
    return span.context.span_id if span.context is not None else 0


def about(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


def links_of(span: ReadableSpan) -> list[int]:
    return [link.context.span_id for link in span.links]
