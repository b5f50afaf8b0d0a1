"""What a server tells Prometheus: of the store, and of what it has done itself."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tests.server.serving import Served, served
from windlass import Limit, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import NewJob, Spec
from windlass.core.stats import FINE, WHOLE, summed
from windlass.core.workers import WorkerInfo
from windlass.errors import StoreUnavailable
from windlass.observe.catalogue import METRICS, PREFIX
from windlass.observe.events import Events
from windlass.observe.ledger import OTHER, Ledger
from windlass.server.meter import MOST_QUEUES, MOST_WORKERS, Meter
from windlass.server.work import Failing
from windlass.stores.memory import MemoryStore
from windlass.stores.observed import observed
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until, work

from .conftest import Notes

GENEROUS = 5.0
"""Seconds for a scrape that takes some milliseconds: a machine may be busy."""


@pytest.fixture
async def server(app: Windlass) -> AsyncIterator[Served]:
    async with served(app) as running:
        yield running


async def samples(server: Served) -> list[Sample]:
    answer = await server.get("/metrics")
    assert answer.status == 200
    families = text_string_to_metric_families(answer.body.decode())
    return [sample for family in families for sample in family.samples]


async def value(server: Served, name: str, **labels: str) -> float | None:
    found = [
        each.value
        for each in await samples(server)
        if each.name == PREFIX + name and labels.items() <= each.labels.items()
    ]
    return sum(found) if found else None


async def test_it_tells_of_workers_and_of_what_waits_for_a_limit(
    app: Windlass, server: Served
) -> None:
    @app.task(queue="mail", limit=Limit(concurrency=1))
    async def send() -> None: ...

    await app.aenqueue_many([send.call() for _ in range(4)])
    store = await app.client.store()
    for name, queues in (("a", ("mail:3", "other")), ("b", ("*",)), ("c", ("other",))):
        await store.beat(WorkerInfo(name, "host", 1, queues, 10, 0, active=3), 60_000)
    assert await value(server, "queue_workers", queue="mail") == 2
    assert await value(server, "limit_waiting", queue="mail") == 3
    assert await value(server, "workers") == 3
    assert await value(server, "worker_active", worker="c") == 3


async def test_it_counts_what_it_enqueues(app: Windlass, server: Served) -> None:
    @app.task(name="greet")
    async def greet() -> None: ...

    for _ in range(3):
        await server.enqueue("greet")
    await greet.using(unique="k").aenqueue()
    await greet.using(unique="k").aenqueue()
    assert await value(server, "jobs_enqueued_total", queue="default", task="greet") == 4


async def test_it_counts_what_workers_in_other_languages_have_done(
    app: Windlass, server: Served
) -> None:
    store, desk = server.site.store, server.site.workers.work
    await store.insert([NewJob(f"job-{n}", Spec("elsewhere", b"")) for n in range(4)])
    jobs = await store.claim({"default": 4}, 4, 60_000, "a worker")
    await desk.ack(store, [(jobs[0].lease, None), (jobs[1].lease, None)])
    await desk.ack(store, [(jobs[0].lease, None)])
    await desk.nack(store, [Failing(jobs[2].lease, "ValueError", "no", fatal=True)])
    await desk.release(store, [jobs[3].lease])
    counted = {
        name: await value(server, f"jobs_{name}_total")
        for name in ("completed", "failed", "dead", "retried", "fence_refused")
    }
    assert counted == {"completed": 2, "failed": 1, "dead": 1, "retried": 0, "fence_refused": 0}
    assert await value(server, "job_run_seconds_count") == 3


async def test_the_store_is_told_what_a_server_has_counted(app: Windlass) -> None:
    async with served(app) as server:
        store, desk = server.site.store, server.site.workers.work
        await store.insert([NewJob("job", Spec("elsewhere", b""))])
        [job] = await store.claim({"default": 1}, 1, 60_000, "a worker")
        await desk.ack(store, [(job.lease, None)])
    assert summed(await store.stats([WHOLE], FINE, 0))["completed"] == 1


async def test_a_server_that_does_upkeep_tells_of_it(app: Windlass) -> None:
    store = await app.client.store()
    await store.insert([NewJob("job", Spec("elsewhere", b"", max_retries=0))])
    await store.claim({"default": 1}, 1, 1, "a worker that dies")
    async with served(app, upkeep=True) as server:
        await until(lambda: bool(server.site.ledger.rows))
        assert await value(server, "leader", role="upkeep") == 1
        assert await value(server, "jobs_rescued_total") == 1
        assert await value(server, "jobs_dead_total") == 1


async def test_a_key_with_queues_is_told_of_these_alone(app: Windlass, server: Served) -> None:
    @app.task(name="greet")
    async def greet() -> None: ...

    for queue in ("mine", "theirs"):
        await greet.using(queue=queue).aenqueue()
    key = await server.add_key("read", queues=["mine"])
    text = (await server.get("/metrics", key=key)).body.decode()
    assert 'windlass_jobs_enqueued_total{queue="mine",task="greet"} 1.0' in text
    assert "theirs" not in text


async def test_what_is_told_is_in_the_catalogue_and_the_other_way_round(
    app: Windlass, server: Served
) -> None:
    @app.task(name="greet", limit=Limit(concurrency=1))
    async def greet() -> None: ...

    await server.enqueue("greet")
    await server.enqueue("greet")
    store = await app.client.store()
    await store.beat(WorkerInfo("a", "host", 1, ("*",), 10, 0), 60_000)
    answer = await server.get("/metrics")
    told = {}
    for family in text_string_to_metric_families(answer.body.decode()):
        labels = {name for each in family.samples for name in each.labels} - {"le"}
        end = "_total" if family.type == "counter" else ""
        told[family.name.removeprefix(PREFIX) + end] = (family.type, labels)
    expected = {
        metric.name: (metric.kind, set(metric.labels))
        for metric in METRICS.values()
        if metric.told_by != "worker"
    }
    # Without a job that was run there is no row of them; the workers' own test has one.
    assert {name: told[name][0] for name in told} == {name: expected[name][0] for name in expected}
    assert all(labels in (set(), expected[name][1]) for name, (_, labels) in told.items())


async def test_many_queues_are_scraped_in_no_time() -> None:
    store, meter = MemoryStore(), Meter(Ledger())
    await store.insert(
        [
            NewJob(f"job-{queue}-{n}", Spec(f"task-{queue}", b""), f"queue-{queue}")
            for queue in range(200)
            for n in range(5)
        ]
    )
    began = time.perf_counter()
    text = await meter.scrape(store, frozenset())
    assert time.perf_counter() - began < GENEROUS
    assert text.count(b"windlass_queue_age_seconds{") == 200


async def test_of_very_many_queues_the_busiest_are_told_and_the_others_together() -> None:
    store, meter = MemoryStore(), Meter(Ledger())
    await store.insert(
        [
            NewJob(f"job-{queue}-{n}", Spec("task", b""), f"queue-{queue:04}")
            for queue in range(3_000)
            for n in range(2 if queue >= 2_990 else 1)
        ]
    )
    await store.pause("queue-2000")
    for number in range(MOST_WORKERS + 10):
        worker = WorkerInfo(f"w-{number}", "host", 1, ("*",), 1, 0, active=number < 3)
        await store.beat(worker, 60_000)
    text = (await meter.scrape(store, frozenset())).decode()
    assert len(text) < 200_000
    found = [
        (sample.name.removeprefix(PREFIX), *sample.labels.values(), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    jobs = {each[1]: each for each in found if each[0] == "jobs"}
    assert len(jobs) == len([each for each in found if each[0] == "jobs"]) == MOST_QUEUES + 1
    assert {f"queue-{number}" for number in range(2_990, 3_000)} <= jobs.keys()
    assert jobs["queue-2999"] == ("jobs", "queue-2999", "pending", 2)
    assert jobs[OTHER] == ("jobs", OTHER, "pending", 3_000 - 10 - (MOST_QUEUES - 10))
    assert ("queue_paused", OTHER, 1) in found
    assert ("queue_workers", OTHER, MOST_WORKERS + 10) in found
    active: list[Any] = [each[-1] for each in found if each[0] == "worker_active"]
    assert (len(active), sum(map(int, active))) == (MOST_WORKERS + 1, 3)


async def test_those_who_scrape_at_the_same_time_share_a_look_at_the_store() -> None:
    store, events, notes = MemoryStore(), Events(), Notes()
    events.observe(notes)
    watched, meter = observed(store, events), Meter(Ledger())
    await asyncio.gather(*(meter.scrape(watched, frozenset()) for _ in range(5)))
    await meter.scrape(watched, frozenset({"mine"}))
    calls = [call for call, _, _ in notes["called"]]
    assert calls.count("queues") == calls.count("workers") == calls.count("lanes") == 2


async def test_a_store_that_failed_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windlass.server.meter.FRESH", 0.0)
    store, meter = FaultyStore(MemoryStore()), Meter(Ledger())
    store.down = True
    with pytest.raises(StoreUnavailable):
        await meter.scrape(store, frozenset())
    store.down = False
    assert b"windlass_workers 0.0" in await meter.scrape(store, frozenset())


async def test_a_worker_in_the_same_process_is_counted_once(app: Windlass, server: Served) -> None:
    @app.task(name="greet")
    async def greet() -> None: ...

    await greet.aenqueue()
    await work(app, WorkerSettings())
    assert await value(server, "jobs_completed_total", task="greet") == 1
    counts = summed(await (await app.client.store()).stats([WHOLE], FINE, 0))
    assert counts["completed"] == 1
