"""Traces that begin at a job, with a sampler that keeps a part of them."""

from opentelemetry import trace
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

from windlass import Windlass
from windlass.testing.work import work

from .spans import Spans, parent_of, trace_of

NUMBER = 400
FEWEST, MOST = 120, 280
"""Of so many, each with a chance of a half: to be outside of these is as good as impossible."""


async def test_jobs_without_a_trace_are_recorded_as_the_sampler_says(app: Windlass) -> None:
    sampler = TraceIdRatioBased(0.5)
    spans = Spans(ParentBased(sampler))
    seen: dict[int, tuple[bool, int]] = {}

    @app.task
    async def look() -> None:
        around = trace.get_current_span().get_span_context()
        assert trace.get_current_span().get_span_context() == around
        with spans.tracer.start_as_current_span("inner") as inner:
            seen[around.trace_id] = (
                around.trace_flags.sampled,
                inner.get_span_context().trace_id,
            )

    await app.aenqueue_many([look.call() for _ in range(NUMBER)])
    spans.of(app)
    await work(app)
    runs = spans.named("run default")
    assert FEWEST < len(runs) < MOST
    assert len(seen) == NUMBER, "each began a trace of its own"
    assert all(inner == outer for outer, (_, inner) in seen.items())
    recorded = {trace_of(span) for span in runs}
    assert recorded == {id for id, (sampled, _) in seen.items() if sampled}
    assert recorded == {id for id in seen if id & sampler.TRACE_ID_LIMIT < sampler.bound}
    assert all(parent_of(span) is None for span in runs)
    assert {trace_of(span) for span in spans.named("inner")} == recorded


async def test_enqueued_jobs_are_recorded_from_end_to_end_or_not_at_all(app: Windlass) -> None:
    spans = Spans(ParentBased(TraceIdRatioBased(0.5))).of(app)

    @app.task
    async def any() -> None: ...

    for _ in range(NUMBER):
        await any.aenqueue()
    await work(app)
    enqueued = {trace_of(span) for span in spans.named("enqueue default")}
    assert FEWEST < len(enqueued) < MOST
    assert enqueued == {trace_of(span) for span in spans.named("run default")}


async def test_two_apps_with_one_provider_are_recorded_both(app: Windlass) -> None:
    spans, another = Spans(ParentBased(TraceIdRatioBased(1.0))).of(app), Windlass("memory://")
    spans.of(another)
    for each in (app, another):
        await each.task(name="any")(nothing).aenqueue()
        await work(each)
    await another.aclose()
    assert len({trace_of(span) for span in spans.named("run default")}) == 2


async def nothing() -> None: ...
