"""Spans: producer and worker are one trace, whatever lies between them."""

import asyncio
import logging

import pytest
from opentelemetry import baggage, context, trace
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, ParentBased
from opentelemetry.trace import SpanKind, StatusCode

from windlass import Snooze, Windlass, chain
from windlass.config import WorkerSettings
from windlass.errors import UnknownJob
from windlass.middleware import Middleware, NewJob, changed
from windlass.observe.logs import JobFilter
from windlass.observe.tracing import Tracing, trace_app
from windlass.testing.work import work

from .spans import Spans, about, id_of, links_of, parent_of, trace_of

COUNT = "messaging.batch.message_count"


@pytest.fixture
def spans(app: Windlass) -> Spans:
    return Spans().of(app)


async def test_enqueue_wait_and_run_are_one_trace(app: Windlass, spans: Spans) -> None:
    @app.task
    async def greet(name: str) -> None:
        with spans.tracer.start_as_current_span("inner"):
            await asyncio.sleep(0)

    with spans.tracer.start_as_current_span("request"):
        job = await greet.aenqueue("Ada")
    await work(app)
    request, enqueue = spans.one("request"), spans.one("enqueue default")
    wait, run, inner = spans.one("wait default"), spans.one("run default"), spans.one("inner")
    assert {trace_of(span) for span in (request, enqueue, wait, run, inner)} == {trace_of(request)}
    assert parent_of(enqueue) == id_of(request)
    assert parent_of(run) == parent_of(wait) == id_of(enqueue)
    assert parent_of(inner) == id_of(run)
    assert (enqueue.kind, run.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert about(enqueue) == {
        "messaging.system": "windlass",
        "messaging.operation.name": "enqueue",
        "messaging.operation.type": "send",
        "messaging.destination.name": "default",
        "messaging.message.id": job.id,
        "windlass.task": "greet",
    }
    assert (
        about(run).items()
        >= {
            "messaging.operation.type": "process",
            "messaging.message.id": job.id,
            "windlass.attempt": 1,
            "windlass.state": "completed",
        }.items()
    )
    assert run.status.status_code is StatusCode.UNSET


async def test_a_span_begun_in_a_thread_is_a_child_of_the_run(app: Windlass, spans: Spans) -> None:
    @app.task
    def count() -> None:
        spans.tracer.start_span("inner").end()

    await count.aenqueue()
    await work(app)
    assert parent_of(spans.one("inner")) == id_of(spans.one("run default"))


async def test_blocking_code_has_the_call_of_the_store_within_its_span(
    app: Windlass, spans: Spans
) -> None:
    @app.task
    def count() -> None: ...

    await asyncio.to_thread(count.enqueue)
    insert = spans.one("store insert")
    assert parent_of(insert) == id_of(spans.one("enqueue default"))
    assert about(insert)["windlass.store.call"] == "insert"


async def test_calls_of_the_store_by_a_handler_are_children_of_the_run(
    app: Windlass, spans: Spans
) -> None:
    @app.task
    async def look() -> None:
        await (await app.client.store()).queues()

    await look.aenqueue()
    await work(app)
    assert parent_of(spans.one("store queues")) == id_of(spans.one("run default"))


async def test_what_a_worker_asks_for_many_jobs_is_a_span_that_is_linked_to_them(
    app: Windlass, spans: Spans
) -> None:
    @app.task
    async def any() -> None: ...

    for _ in range(3):
        await any.aenqueue()
    await work(app)
    for call, kind, of in (
        ("claim", "receive", "enqueue default"),
        ("finish", "settle", "run default"),
    ):
        # Most often one of each; a slow machine may take them in parts.
        shared = spans.named(f"store {call}")
        linked = [id for span in shared for id in (parent_of(span), *links_of(span))]
        assert {*linked} == {id_of(span) for span in spans.named(of)}
        assert len(linked) == sum(int(str(about(s)[COUNT])) for s in shared) == 3
        assert {about(span)["messaging.operation.type"] for span in shared} == {kind}
        assert {span.kind for span in shared} == {SpanKind.CLIENT}


async def test_a_call_for_jobs_that_are_not_recorded_has_no_span(app: Windlass) -> None:
    spans = Spans().of(app)

    @app.task
    async def any() -> None: ...

    with Spans(ALWAYS_OFF).tracer.start_as_current_span("request"):
        await any.aenqueue()
    await work(app)
    assert not spans.all


async def test_a_failed_attempt_has_its_error_and_the_next_one_is_linked_to_it(
    app: Windlass, spans: Spans
) -> None:
    @app.task(max_retries=1, backoff=0)
    async def fail() -> None:
        raise ValueError("again")

    await fail.aenqueue()
    await work(app)
    first, second = spans.named("run default")
    assert trace_of(first) == trace_of(second)
    assert (links_of(first), links_of(second)) == ([], [id_of(first)])
    assert [about(span)["windlass.state"] for span in (first, second)] == ["retry", "dead"]
    for span in (first, second):
        assert span.status.status_code is StatusCode.ERROR
        assert span.status.description == "ValueError: again"
        assert about(span)["error.type"] == "ValueError"
        (event,) = span.events
        assert event.name == "exception"
        assert "again" in str((event.attributes or {})["exception.message"])


async def test_a_snoozed_attempt_is_no_error(app: Windlass, spans: Spans) -> None:
    @app.task
    async def later() -> None:
        raise Snooze(3600)

    await later.aenqueue()
    await work(app)
    run = spans.one("run default")
    assert about(run)["windlass.state"] == "scheduled"
    assert run.status.status_code is StatusCode.UNSET and not run.events


async def test_the_jobs_of_a_workflow_are_linked_to_those_they_depend_on(
    app: Windlass, spans: Spans
) -> None:
    @app.task
    async def one() -> int:
        return 1

    @app.task(name="two")
    async def increment(number: int) -> int:
        return number + 1

    @app.task
    async def told(number: int) -> None: ...

    flow = chain(one.step(), increment.step())
    workflow = await app.aenqueue_workflow(flow, on_success=told.step())
    await work(app)
    runs = {about(span)["windlass.task"]: span for span in spans.named("run default")}
    sent = {about(span)["windlass.task"]: span for span in spans.named("enqueue default")}
    assert runs.keys() == sent.keys() == {"one", "two", "told"}
    assert links_of(runs["two"]) == [id_of(sent["one"])]
    assert about(runs["two"])["messaging.message.conversation_id"] == workflow.id
    assert parent_of(runs["told"]) == id_of(sent["told"])


async def test_a_job_that_depends_on_another_is_linked_to_it(app: Windlass, spans: Spans) -> None:
    @app.task
    async def any() -> None: ...

    first = await any.aenqueue()
    await any.using(depends_on=[first]).aenqueue()
    await work(app)
    sent, _ = spans.named("enqueue default")
    _, second = spans.named("run default")
    assert links_of(second) == [id_of(sent)]


async def test_a_refused_job_ends_its_span_with_the_error(app: Windlass, spans: Spans) -> None:
    @app.task
    async def orphan() -> None: ...

    with pytest.raises(UnknownJob):
        await orphan.using(depends_on=["nobody"]).aenqueue()
    with pytest.raises(UnknownJob):
        await asyncio.to_thread(orphan.using(depends_on=["nobody"]).enqueue)
    for span in spans.named("enqueue default"):
        assert span.status.status_code is StatusCode.ERROR
        assert about(span)["error.type"] == "UnknownJob"
    assert len(spans.named("enqueue default")) == 2


async def test_a_duplicate_says_whose_job_it_is(app: Windlass, spans: Spans) -> None:
    @app.task
    async def once() -> None: ...

    first = await once.using(unique="k").aenqueue()
    await once.using(unique="k").aenqueue()
    _, second = spans.named("enqueue default")
    assert about(second)["windlass.duplicate"] is True
    assert about(second)["messaging.message.id"] == first.id


async def test_baggage_goes_along(app: Windlass, spans: Spans) -> None:
    found = []

    @app.task
    async def look() -> None:
        found.append(baggage.get_baggage("tenant"))

    token = context.attach(baggage.set_baggage("tenant", "acme"))
    await look.aenqueue()
    context.detach(token)
    await work(app)
    assert found == ["acme"]


async def test_lines_of_a_handler_have_the_trace(app: Windlass, spans: Spans) -> None:
    records: list[logging.LogRecord] = []

    @app.task
    async def talk() -> None:
        record = logging.makeLogRecord({})
        JobFilter().filter(record)
        records.append(record)

    await talk.aenqueue()
    await work(app)
    trace_id: str = vars(records[0])["trace_id"]
    assert int(trace_id, 16) == trace_of(spans.one("run default"))


@pytest.mark.parametrize("sampler", [ParentBased(ALWAYS_OFF), ALWAYS_OFF])
async def test_what_is_not_sampled_is_carried_on_and_not_recorded(
    app: Windlass, sampler: ParentBased
) -> None:
    spans = Spans(sampler).of(app)
    seen = []

    @app.task
    def look() -> None:
        inner = spans.tracer.start_span("inner").get_span_context()
        around = trace.get_current_span().get_span_context()
        seen.append((inner.trace_id, around.trace_id, around.trace_flags.sampled))

    with spans.tracer.start_as_current_span("request") as request:
        await look.aenqueue()
    await work(app)
    trace_id = request.get_span_context().trace_id
    assert seen == [(trace_id, trace_id, False)]
    assert not spans.all


async def test_a_sampler_that_records_all_records_what_others_did_not(app: Windlass) -> None:
    spans = Spans(ALWAYS_ON).of(app)

    @app.task
    async def any() -> None: ...

    with Spans(ALWAYS_OFF).tracer.start_as_current_span("request"):
        await any.aenqueue()
    await work(app)
    assert trace_of(spans.one("run default")) == trace_of(spans.one("enqueue default"))


async def test_without_a_provider_nothing_is_added_to_a_job(app: Windlass) -> None:
    # As the global one is until somebody sets up another; examples of the documentation do.
    app.observe(Tracing(trace.ProxyTracerProvider()))

    @app.task
    async def any() -> None: ...

    job = await any.aenqueue()
    await work(app)
    assert (await job.aget()).spec.headers is None


async def test_what_a_header_says_may_be_anything(app: Windlass, spans: Spans) -> None:
    class Garbled(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            headers = {"traceparent": "00-zz-1-xx", "windlass-links": ",00-1-2,x"}
            return changed(job, headers=headers)

    app.add_middleware(Garbled())

    @app.task
    async def any() -> None: ...

    job = await any.aenqueue()
    await work(app)
    assert (await job.aget()).state == "completed"
    assert parent_of(spans.one("run default")) == id_of(spans.one("enqueue default"))


async def test_a_setting_switches_it_on_once(app: Windlass) -> None:
    trace_app(app.registry.events)
    await app.worker(WorkerSettings(tracing=True))
    assert len(app.registry.events.started) == 1


@pytest.mark.parametrize("flags", ["00", "02", "08"])
async def test_what_is_not_sampled_is_told_by_one_bit(app: Windlass, flags: str) -> None:
    spans = Spans().of(app)
    text = f"00-{'a' * 32}-{'b' * 16}-{flags}"
    seen = []

    class Carried(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, headers={"traceparent": text})

    app.add_middleware(Carried())

    @app.task
    async def look() -> None:
        seen.append(trace.get_current_span().get_span_context())

    await look.aenqueue()
    await work(app)
    assert [span.trace_id for span in seen] == [int("a" * 32, 16)]
    assert not spans.all


async def test_no_trace_begins_where_none_may(app: Windlass) -> None:
    @app.task
    async def any() -> None: ...

    await any.aenqueue()
    spans = Spans(ParentBased(ALWAYS_OFF)).of(app)
    await work(app)
    assert not spans.all
