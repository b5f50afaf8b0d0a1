"""A job that a call cancels is told and counted, once, by whoever called."""

import asyncio

from tests.server.serving import served
from windlass import Windlass, connect
from windlass.admin.change import CANCEL, change_jobs
from windlass.config import WorkerSettings
from windlass.core.stats import FINE, WHOLE, summed
from windlass.observe.prometheus import Metrics
from windlass.testing.work import until, work

from .conftest import Notes


def counted(metrics: Metrics, name: str, task: str) -> int:
    return sum(getattr(row, name) for key, row in metrics.figures().rows.items() if key[1] == task)


async def test_it_is_told_once_as_it_was_before(app: Windlass, notes: Notes) -> None:
    @app.task(queue="mail", keep=0)
    async def send() -> None: ...

    first, second = await send.aenqueue(), await send.aenqueue()
    await first.acancel()
    store = await app.client.store()
    answer = await change_jobs(store, CANCEL, [first.id, second.id, "nobody"])
    assert answer.changed == [second.id]
    assert await store.cancel([second.id]) == frozenset()
    told = [(job.id, job.queue, job.task, str(job.state)) for job in notes["cancelled"]]
    assert told == [(id, "mail", send.name, "pending") for id in (first.id, second.id)]


async def test_blocking_code_is_heard_too(app: Windlass, notes: Notes) -> None:
    @app.task
    def nothing() -> None: ...

    job = await asyncio.to_thread(nothing.enqueue)
    await asyncio.to_thread(job.cancel)
    assert [each.id for each in notes["cancelled"]] == [job.id]


async def test_a_running_job_that_a_cancel_stops_was_started_and_counts_once(
    app: Windlass,
) -> None:
    metrics, running = Metrics(), asyncio.Event()
    app.observe(metrics)

    @app.task
    async def endless() -> None:
        running.set()
        await asyncio.sleep(3600)

    @app.task
    async def caller(id: str) -> None:
        await app.job(id).acancel()

    worker = await app.worker(WorkerSettings(lease=0.4))
    await worker.start()
    for _ in range(2):
        job = await endless.aenqueue()
        async with asyncio.timeout(20):
            await running.wait()
        running.clear()
        await (await caller.aenqueue(job.id)).aresult(timeout=20)
        await until(lambda: not worker.busy)
    await worker.stop()
    found = {
        name: counted(metrics, name, endless.name)
        for name in ("started", "cancelled", "completed", "failed", "fence_refused")
    }
    nothing_else = {"completed": 0, "failed": 0, "fence_refused": 0}
    assert found == {"started": 2, "cancelled": 2} | nothing_else


async def test_one_that_is_cancelled_through_a_server_counts_there_alone(app: Windlass) -> None:
    @app.task(name="greet")
    async def greet() -> None: ...

    notes = Notes()
    async with served(app) as server:
        ids = [(await greet.using(delay=60).aenqueue()).id for _ in range(3)]
        for id in ids[:2]:
            assert (await server.post(f"/api/v1/jobs/{id}/cancel", {})).status == 200
        async with connect(server.url) as connection:
            connection.observe(notes)
            await connection.job(ids[2]).acancel()
        assert counted(server.site.meter.metrics, "cancelled", "greet") == 3
    assert {call for call, *_ in notes["called"]} >= {"cancel"} and not notes["cancelled"]
    assert summed(await (await app.client.store()).stats([WHOLE], FINE, 0))["cancelled"] == 3


async def test_one_that_has_expired_counts_once(app: Windlass) -> None:
    metrics = Metrics()
    app.observe(metrics)

    @app.task
    async def late() -> None: ...

    await late.using(expires_in=0.001).aenqueue()
    await asyncio.sleep(0.01)
    await work(app)
    assert counted(metrics, "cancelled", late.name) == 1
