"""A worker in a burst: it runs until its queues are empty, and no longer."""

import asyncio
import logging
from pathlib import Path

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Limit, Windlass
from windlass.config import WorkerSettings
from windlass.core.states import State
from windlass.testing.work import counts
from windlass.worker.burst import is_timed

PATIENCE = 30


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each engine: idle is what a store says it is."""
    return url_of(request, tmp_path)


async def burst(app: Windlass, settings: WorkerSettings | None = None) -> None:
    worker = await app.worker(settings)
    await asyncio.wait_for(worker.run(burst=True), PATIENCE)
    assert worker.emptied


async def test_it_runs_what_is_there_and_what_comes_of_that(app: Windlass) -> None:
    ran: list[int] = []

    @app.task(queue="chain")
    async def chain(number: int) -> None:
        ran.append(number)
        if number:
            await chain.aenqueue(number - 1)

    await app.aenqueue_many([chain.call(5) for _ in range(20)])
    await burst(app)
    assert len(ran) == 120
    assert await counts(await app.client.store()) == {State.COMPLETED: 120}


async def test_without_jobs_it_ends_at_once(app: Windlass) -> None:
    app.task(name="none")(lambda: None)
    await burst(app)


async def test_what_is_for_later_and_what_is_paused_stays_and_is_counted(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    @app.task(backoff=3600)
    async def flaky(fails: bool) -> None:
        if fails:
            raise ValueError

    await flaky.aenqueue(True)
    await flaky.aenqueue(False)
    await flaky.using(delay=3600).aenqueue(False)
    await flaky.using(queue="held").aenqueue(False)
    await flaky.using(queue="elsewhere").aenqueue(False)
    store = await app.client.store()
    await store.pause("held")
    with caplog.at_level(logging.INFO, "windlass"):
        await burst(app, WorkerSettings(queues=("default", "held")))
    (line,) = [each for each in caplog.messages if "the queues are empty" in each]
    assert line == (
        "the queues are empty: 2 attempt(s) were run here; left are 2 job(s) that wait for their "
        "time or for others and 1 in paused queues"
    )
    assert (await counts(store))[State.PENDING] == 2


async def test_it_waits_for_what_others_run(app: Windlass) -> None:
    entered, go = asyncio.Event(), asyncio.Event()

    @app.task
    async def first() -> None:
        entered.set()
        await go.wait()
        await second.aenqueue()

    @app.task
    async def second() -> None: ...

    await first.aenqueue()
    other = await app.worker()
    await other.start()
    await entered.wait()
    bursting = asyncio.create_task(burst(app))
    job = await second.aenqueue()
    await job.aresult(timeout=PATIENCE)
    assert not bursting.done()
    go.set()
    await bursting
    assert (await counts(await app.client.store())) == {State.COMPLETED: 3}
    await other.stop()


async def test_jobs_that_wait_for_a_rate_are_run(app: Windlass) -> None:
    @app.task(limit=Limit(rate="20/s"))
    async def slowly() -> None: ...

    await app.aenqueue_many([slowly.call() for _ in range(30)])
    await burst(app)
    assert await counts(await app.client.store()) == {State.COMPLETED: 30}


def test_only_time_lets_such_lanes_go_on() -> None:
    lane = Limit(rate="20/s").lane("")
    assert is_timed(lane)
    assert not is_timed(Limit(concurrency=2).lane(""))
