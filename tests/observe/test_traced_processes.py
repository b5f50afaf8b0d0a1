"""One trace over several processes, joined through a store: producer, worker, child, server."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan

from tests.cli.program import PATIENCE, Program
from tests.server.grpc.client import served as served_grpc
from tests.server.serving import served
from windlass import Windlass
from windlass.observe.tracing import Tracing

from .spans import Spans, id_of, parent_of, trace_of

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"

TRACED = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from windlass import Retry, Windlass, current_context


class ToFile(SpanExporter):
    def export(self, spans):
        with open("spans.jsonl", "a") as file:
            for span in spans:
                file.write(span.to_json(indent=None) + "\\n")
        return SpanExportResult.SUCCESS


provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(ToFile()))
trace.set_tracer_provider(provider)
app = Windlass()


@app.task(process=True, max_retries=1, backoff=0)
def compute() -> None:
    with trace.get_tracer("shop").start_as_current_span("inner"):
        if current_context().attempt == 1:
            raise ValueError("once more")
"""


async def test_a_worker_and_its_child_go_on_with_the_trace_of_the_producer(tmp_path: Path) -> None:
    program = Program(tmp_path)
    (tmp_path / "traced.py").write_text(TRACED, "utf-8")
    app = Windlass(program.url)
    spans = Spans().of(app)
    job = await app.task(name="compute", max_retries=1)(lambda: None).aenqueue()
    with program.started("worker", "traced:app", "--tracing") as worker:
        await job.aresult(timeout=PATIENCE)
        worker.terminate()
        worker.communicate(timeout=PATIENCE)
    await app.aclose()
    found = [json.loads(line) for line in (tmp_path / "spans.jsonl").read_text().splitlines()]
    sent = spans.one("enqueue default")
    assert {span["context"]["trace_id"] for span in found} == {f"0x{trace_of(sent):032x}"}
    first, second = by_name(found, "run default")
    assert first["parent_id"] == second["parent_id"] == f"0x{id_of(sent):016x}"
    assert [link["context"]["span_id"] for link in second["links"]] == [first["context"]["span_id"]]
    inner = by_name(found, "inner")
    assert [span["parent_id"] for span in inner] == [
        span["context"]["span_id"] for span in (first, second)
    ]
    assert len(by_name(found, "wait default")) == 2


def by_name(spans: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    found = [span for span in spans if span["name"] == name]
    return sorted(found, key=lambda span: str(span["start_time"]))


@pytest.fixture
async def app() -> AsyncIterator[Windlass]:
    app = Windlass("memory://")
    yield app
    await app.aclose()


def joined(span: ReadableSpan) -> bool:
    return trace_of(span) == int(TRACE, 16) and parent_of(span) == int(SPAN, 16)


async def test_a_request_over_http_brings_its_trace_along(app: Windlass) -> None:
    spans = Spans()
    app.observe(Tracing(spans.provider))
    parent = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
    async with served(app, has_tasks=False, tracing=True) as api:
        answer = await api.post("jobs", {"task": "any"}, headers=parent)
        assert answer.status == 201
        other = await api.post("jobs", {"task": "any"})
    headers = (await app.job(answer.json["id"]).aget()).spec.headers or {}
    first, second = spans.named("enqueue default")
    assert joined(first) and headers["traceparent"] == f"00-{TRACE}-{id_of(first):016x}-01"
    assert other.status == 201 and second.parent is None


async def test_a_call_over_grpc_brings_its_trace_along(app: Windlass) -> None:
    spans = Spans()
    app.observe(Tracing(spans.provider))
    async with served_grpc(app, has_tasks=False, tracing=True) as api:
        client = api.client
        client._metadata.append(("traceparent", f"00-{TRACE}-{SPAN}-01"))
        await client.enqueue("any")
    assert joined(spans.one("enqueue default"))
