"""The metrics of a worker: what they say is what happened."""

import asyncio
import gc
import weakref
from collections.abc import Mapping

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import NewJob, Receipt, Spec
from windlass.errors import StoreUnavailable, UnknownJob
from windlass.observe import ledger
from windlass.observe.catalogue import METRICS, PREFIX
from windlass.observe.exposition import text
from windlass.observe.figures import decode, encode
from windlass.observe.ledger import OTHER, SCRAPED
from windlass.observe.prometheus import Metrics, families
from windlass.testing.work import until, work
from windlass.worker.worker import Worker

Read = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def metrics(app: Windlass) -> Metrics:
    metrics = Metrics()
    app.observe(metrics)
    return metrics


def samples(metrics: Metrics) -> list[Sample]:
    """What Prometheus would read."""
    written = text(metrics.collect()).decode()
    return [each for family in text_string_to_metric_families(written) for each in family.samples]


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    found = [
        each.value
        for each in samples(metrics)
        if each.name == PREFIX + name and labels.items() <= each.labels.items()
    ]
    return sum(found) if found else None


async def test_jobs_are_counted_by_queue_and_task(app: Windlass, metrics: Metrics) -> None:
    @app.task(queue="mail", max_retries=1, backoff=0)
    async def send(number: int) -> None:
        if number < 2:
            raise ValueError(number)

    @app.task
    def quick() -> None: ...

    await app.aenqueue_many([send.call(n) for n in range(5)])
    await app.aenqueue_many([quick.call() for _ in range(3)])
    await work(app, WorkerSettings(queues=("*",)))
    of_send = {"queue": "mail", "task": send.name}
    expected = {
        "enqueued": 5,
        "started": 7,
        "completed": 3,
        "failed": 4,
        "retried": 2,
        "dead": 2,
        "cancelled": 0,
        "rescued": 0,
        "fence_refused": 0,
    }
    found = {name: value(metrics, f"jobs_{name}_total", **of_send) for name in expected}
    assert found == expected
    assert value(metrics, "jobs_completed_total", queue="default", task=quick.name) == 3
    assert value(metrics, "job_run_seconds_count", **of_send) == 7
    assert value(metrics, "job_wait_seconds_bucket", le="+Inf", **of_send) == 7


async def test_a_job_that_runs_was_started_and_takes_a_slot(
    app: Windlass, metrics: Metrics
) -> None:
    running, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def long() -> None:
        running.set()
        await go_on.wait()

    job = await long.aenqueue()
    worker = await app.worker(WorkerSettings(concurrency=7))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
    assert value(metrics, "jobs_started_total", task=long.name) == 1
    assert value(metrics, "jobs_completed_total", task=long.name) in (0, None)
    assert (value(metrics, "worker_slots"), value(metrics, "worker_slots_busy")) == (7, 1)
    go_on.set()
    await job.aresult(timeout=20)
    await until(lambda: value(metrics, "jobs_completed_total", task=long.name) == 1)
    assert value(metrics, "jobs_started_total", task=long.name) == 1
    await worker.stop()
    assert (value(metrics, "worker_slots"), value(metrics, "worker_slots_busy")) == (0, 0)


async def test_a_worker_that_has_stopped_is_let_go_and_what_it_counted_stays(
    app: Windlass, metrics: Metrics
) -> None:
    @app.task
    async def short() -> None: ...

    async def worked() -> weakref.ref[Worker]:
        job, worker = await short.aenqueue(), await app.worker()
        await worker.start()
        await job.aresult(timeout=20)
        await worker.stop()
        return weakref.ref(worker)

    known = []
    for number in range(1, 4):
        known.append(await worked())
        assert value(metrics, "jobs_completed_total", task=short.name) == number
        assert value(metrics, "jobs_started_total", task=short.name) == number
        assert value(metrics, "worker_slots") == 0
    gc.collect()
    assert [each() for each in known] == [None] * 3


async def test_what_was_started_never_goes_back(app: Windlass, metrics: Metrics) -> None:
    @app.task
    async def short(number: int) -> None:
        await asyncio.sleep(0)

    await app.aenqueue_many([short.call(n) for n in range(2_000)])
    told: list[float] = []

    def scrape() -> None:
        while not told or told[-1] < 2_000:
            told.append(value(metrics, "jobs_started_total", task=short.name) or 0)

    scraping = asyncio.create_task(asyncio.to_thread(scrape))
    await work(app)
    async with asyncio.timeout(20):
        await scraping
    assert told == sorted(told) and told[-1] == 2_000


async def test_calls_of_the_store_are_timed_and_its_faults_counted(
    app: Windlass, metrics: Metrics
) -> None:
    @app.task
    async def fine() -> None: ...

    await fine.aenqueue()
    await work(app)
    calls = {each.labels["call"] for each in samples(metrics) if each.name.endswith("calls_count")}
    assert calls <= {"insert"}
    assert (value(metrics, "store_call_seconds_count", call="insert") or 0) >= 1
    assert (value(metrics, "store_call_seconds_count", call="finish") or 0) >= 1
    assert value(metrics, "store_call_seconds_count", call="wait") is None
    assert value(metrics, "store_errors_total", call="finish") == 0
    metrics.called("finish", 1.0, StoreUnavailable("down"))
    metrics.called("finish", 1.0, UnknownJob("no such job"))
    assert value(metrics, "store_errors_total", call="finish") == 1


async def test_a_duplicate_is_not_enqueued(app: Windlass, metrics: Metrics) -> None:
    @app.task
    async def once() -> None: ...

    for _ in range(3):
        await once.using(unique="key").aenqueue()
    assert value(metrics, "jobs_enqueued_total", task=once.name) == 1


async def test_only_the_leader_leads(app: Windlass, metrics: Metrics) -> None:
    assert value(metrics, "leader", role="upkeep") == 0
    worker = await app.worker()
    await worker.start()
    await until(lambda: value(metrics, "leader", role="upkeep") == 1)
    await worker.stop()
    assert value(metrics, "leader", role="upkeep") == 0


def test_there_is_a_bound_to_the_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_ROWS", 20)
    metrics = Metrics()
    for n in range(100):
        job = NewJob(f"job-{n}", Spec(f"task-{n}", b""))
        metrics.enqueued(job, Receipt(job.id))
    labels = {each.labels["task"] for each in samples(metrics) if "enqueued" in each.name}
    assert len(labels) == 21
    assert value(metrics, "jobs_enqueued_total", task=OTHER) == 80


async def test_what_is_told_is_in_the_catalogue_and_the_other_way_round(
    app: Windlass, metrics: Metrics
) -> None:
    @app.task
    async def fine() -> None: ...

    await fine.aenqueue()
    await work(app)
    told = {}
    for family in families(metrics.figures()):
        labels = {name for each in family.samples for name in each.labels} - {"le"}
        end = "_total" if family.type == "counter" else ""
        told[family.name.removeprefix(PREFIX) + end] = (family.type, labels)
    expected = {
        metric.name: (metric.kind, set(metric.labels))
        for metric in METRICS.values()
        if metric.told_by != "server"
    }
    assert told == expected


async def test_histograms_have_the_buckets_that_prometheus_has(
    app: Windlass, metrics: Metrics
) -> None:
    @app.task
    async def fine() -> None: ...

    await fine.aenqueue()
    await work(app)
    written = text(metrics.collect()).decode()
    assert f'windlass_job_run_seconds_bucket{{le="10.0",queue="default",task="{fine.name}"}}' in (
        written
    )
    bounds = [
        each.labels["le"]
        for each in samples(metrics)
        if each.name == "windlass_cron_lag_seconds_bucket"
    ]
    assert bounds == [*(str(float(bound)) for bound in SCRAPED), "+Inf"]


async def test_another_registry_may_have_them_too(app: Windlass, metrics: Metrics) -> None:
    registry = CollectorRegistry()
    registry.register(metrics)
    assert registry.get_sample_value("windlass_leader", {"role": "upkeep"}) == 0


async def test_figures_survive_the_way_to_another_process(app: Windlass, metrics: Metrics) -> None:
    @app.task
    async def fine() -> None: ...

    await fine.aenqueue()
    await work(app)
    figures = metrics.figures()
    assert decode(encode(figures)) == figures
