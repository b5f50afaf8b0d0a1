"""What goes on while handlers do as they please: leases, presence, progress."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from windlass import Context, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Progress
from windlass.core.states import State
from windlass.errors import InvalidOption, StoreUnavailable
from windlass.stores.contract import Store
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until, work
from windlass.worker import aside, presence
from windlass.worker.reporter import INTERVAL
from windlass.worker.worker import Worker

SHORT = WorkerSettings(lease=1.2, rescue_interval=0.1, concurrency=4)


async def test_a_handler_that_blocks_the_loop_keeps_its_lease_and_that_of_others(
    url: str,
) -> None:
    app = Windlass(url)
    runs: list[str] = []

    @app.task
    async def blocking() -> None:
        runs.append("blocking")
        await until(lambda: "patient" in runs)
        # Two leases long, and nobody else gets a turn on this event loop.
        time.sleep(2 * SHORT.lease)

    @app.task
    async def patient() -> None:
        runs.append("patient")
        await asyncio.sleep(0.1)

    jobs = [await blocking.aenqueue(), await patient.aenqueue()]
    worker = await app.worker(SHORT)
    await worker.start()
    for job in jobs:
        await job.aresult(timeout=20)
    await worker.stop()
    assert sorted(runs) == ["blocking", "patient"]
    assert [(await job.aget()).attempt for job in jobs] == [1, 1]
    await app.aclose()


@pytest.mark.parametrize("error", [StoreUnavailable("down"), OSError("too many open files")])
async def test_a_heartbeat_that_cannot_begin_is_started_again(
    app: Windlass, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(aside, "PAUSE", 0.01)
    store = await app.client.store()
    tries = 0

    @asynccontextmanager
    async def connect() -> AsyncIterator[Store]:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise error
        async with app.client.private_store() as private:
            yield private

    worker = Worker(app.registry, app.codecs, store, WorkerSettings(), connect=connect)
    await worker.start()
    await until(lambda: tries == 3)
    await worker.stop()


async def test_a_worker_is_on_the_list_while_it_lives(app: Windlass) -> None:
    store = await app.client.store()
    worker = await app.worker(WorkerSettings(queues=("mail", "default"), concurrency=7))
    assert list(await store.workers()) == []
    await worker.start()
    async with asyncio.timeout(20):
        while not (found := list(await store.workers())):
            await asyncio.sleep(0.01)
    [info] = found
    assert (info.id, info.queues, info.concurrency) == (worker.id, ("mail", "default"), 7)
    assert info.pid > 0 and info.host and info.started_at <= info.seen_at
    await worker.stop()
    assert list(await store.workers()) == []


async def test_a_worker_tells_how_many_jobs_it_runs(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "BEAT", 0.02)
    go_on = asyncio.Event()

    @app.task
    async def hold() -> None:
        await go_on.wait()

    async def told(active: int) -> None:
        async with asyncio.timeout(20):
            while [info.active for info in await store.workers()] != [active]:
                await asyncio.sleep(0.01)

    store = await app.client.store()
    await app.aenqueue_many([hold.call() for _ in range(3)])
    worker = await app.worker(WorkerSettings(concurrency=2))
    await worker.start()
    await told(2)
    go_on.set()
    await told(0)
    await worker.stop()


async def test_a_worker_tells_how_many_jobs_it_has_completed_and_how_many_attempts_failed(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presence, "BEAT", 0.02)

    @app.task(max_retries=1, backoff=0)
    async def work(n: int) -> None:
        if n == 0:
            raise ValueError

    store = await app.client.store()
    await app.aenqueue_many([work.call(n) for n in range(4)])
    worker = await app.worker()
    await worker.start()
    async with asyncio.timeout(20):
        while [(each.completed, each.failed) for each in await store.workers()] != [(3, 2)]:
            await asyncio.sleep(0.01)
    await worker.stop()


async def test_the_last_progress_before_the_end_is_kept(app: Windlass) -> None:
    @app.task(context=True)
    async def climb(ctx: Context) -> None:
        for percent in range(0, 101, 10):
            ctx.progress(percent, f"at {percent}")

    job = await climb.aenqueue()
    await work(app)
    found = await job.aget()
    assert (found.state, found.progress) == (State.COMPLETED, Progress(100, "at 100"))


async def test_progress_can_be_seen_while_a_job_runs_in_a_thread(app: Windlass) -> None:
    go_on = threading.Event()

    @app.task(context=True)
    def climb(ctx: Context) -> None:
        ctx.progress(40, "still at it")
        go_on.wait(20)

    job = await climb.aenqueue()
    worker = await app.worker()
    await worker.start()
    async with asyncio.timeout(20):
        while (found := await job.aget()).progress is None:
            await asyncio.sleep(0.01)
    assert (found.state, found.progress) == (State.ACTIVE, Progress(40, "still at it"))
    go_on.set()
    await worker.stop()


async def test_however_often_a_job_reports_little_is_written(app: Windlass) -> None:
    """Nor does it matter how many other jobs end meanwhile."""
    said = 0
    ended: list[int] = []

    @app.task(context=True)
    async def talk(ctx: Context) -> None:
        nonlocal said
        while len(ended) < 100:
            said += 1
            ctx.progress(0, f"word {said}")
            await asyncio.sleep(0)
        ctx.progress(100, "the last word")

    @app.task
    async def brief(n: int) -> None:
        ended.append(n)

    store = FaultyStore(await app.client.store())
    worker = Worker(app.registry, app.codecs, store, WorkerSettings(concurrency=3))
    await worker.start()
    job = await talk.aenqueue()
    began = time.monotonic()
    for n in range(100):
        await (await brief.aenqueue(n)).aresult(timeout=20)
    await job.aresult(timeout=20)
    seconds = time.monotonic() - began
    await worker.stop()
    assert said > 100 and store.calls["finish"] > 50
    assert store.calls["report"] <= seconds / INTERVAL + 2
    assert (await job.aget()).progress == Progress(100, "the last word")


async def test_a_report_that_could_not_be_written_is_written_later(app: Windlass) -> None:
    @app.task(context=True)
    async def climb(ctx: Context) -> None:
        ctx.progress(100, "at the top")

    store = FaultyStore(await app.client.store())
    store.fail["report"] = 2
    job = await climb.aenqueue()
    worker = Worker(app.registry, app.codecs, store, WorkerSettings())
    await worker.start()
    await job.aresult(timeout=20)
    await worker.stop()
    assert (await job.aget()).progress == Progress(100, "at the top")


@pytest.mark.parametrize("percent", [float("nan"), "half"])
async def test_a_percentage_that_is_no_number_is_refused(app: Windlass, percent: float) -> None:
    caught: list[str] = []

    @app.task(context=True)
    async def climb(ctx: Context) -> None:
        try:
            ctx.progress(percent)
        except InvalidOption as error:
            caught.append(str(error))

    await climb.aenqueue()
    await work(app)
    assert caught == [f"progress is a number from 0 to 100; got {percent!r}."]


@pytest.mark.parametrize(
    ("percent", "kept"), [(-1, 0), (100.00000000000001, 100), (7e99, 100), (float("inf"), 100)]
)
async def test_a_percentage_beyond_the_ends_is_taken_for_the_end(
    app: Windlass, percent: float, kept: float
) -> None:
    @app.task(context=True)
    async def climb(ctx: Context) -> None:
        ctx.progress(percent)

    job = await climb.aenqueue()
    await work(app)
    found = await job.aget()
    assert (found.state, found.progress) == (State.COMPLETED, Progress(kept))


def test_progress_outside_of_a_worker_goes_nowhere() -> None:
    app = Windlass("memory://")

    @app.task(context=True)
    def climb(ctx: Context) -> str:
        ctx.progress(50)
        return "done"

    assert climb() == "done"
