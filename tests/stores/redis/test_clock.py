"""The server's clock decides: what a client takes for the time changes nothing."""

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.servers.redis import tell
from tests.servers.server import Server
from tests.stores.redis.watch import counted, fresh
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.ids import new_id
from windlass.core.states import State
from windlass.stores.redis.listener import PULSE
from windlass.testing.jobs import claim, finish, job_of, put
from windlass.testing.work import until

HOUR = 3600


@pytest.fixture(params=[HOUR, -HOUR], ids=["an hour ahead", "an hour behind"])
def wrong(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """This process's clock is wrong; the answer is the right time."""
    right, right_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: right() + request.param)
    monkeypatch.setattr(time, "time_ns", lambda: right_ns() + request.param * 10**9)
    return right


async def test_a_job_gets_the_time_of_the_server(
    wrong: Callable[[], float], redis_server: Server
) -> None:
    async with fresh(redis_server.url) as store:
        await put(store, "job")
        [claimed] = await claim(store)
        assert await finish(store, claimed, State.COMPLETED)
        job = await job_of(store, "job")
        for moment in (job.created_at, job.started_at, job.finished_at):
            assert moment is not None
            assert abs(moment / 1000 - wrong()) < 60


async def test_a_delayed_job_runs_at_its_time(
    wrong: Callable[[], float], redis_server: Server
) -> None:
    async with fresh(redis_server.url) as store:
        await put(store, "job", delay=400)
        due = (await job_of(store, "job")).due
        assert await claim(store) == []
        began = time.monotonic()
        while not (jobs := await claim(store)):
            await store.wait(["default"], 20)
        assert time.monotonic() - began < 10
        assert jobs[0].started_at is not None
        assert due <= jobs[0].started_at


async def test_a_wait_ends_when_the_job_is_due_and_asks_no_more_than_it_must(
    wrong: Callable[[], float], redis_server: Server
) -> None:
    async with fresh(redis_server.url) as store:
        await store.wait(["default"], 0)
        await put(store, "job", delay=600)
        began = time.monotonic()
        with counted(redis_server.port) as calls:
            await store.wait(["default"], 20)
            if time.monotonic() - began < 0.5:
                # It heard of the very job that was just put; that is allowed, once.
                await store.wait(["default"], 20)
        took = time.monotonic() - began
        assert 0.5 < took < 10
        assert calls["evalsha"] <= 2
        assert calls["ping"] <= 2 + took / PULSE


async def test_a_lease_runs_out_by_the_clock_of_the_server(
    wrong: Callable[[], float], redis_server: Server
) -> None:
    async with fresh(redis_server.url) as store:
        await put(store, "short", "long")
        await claim(store, 1, lease=1)
        await claim(store, 1, lease=60_000)
        await asyncio.sleep(0.02)
        assert [job.id for job in await store.rescue(10, 60_000, "r")] == ["short"]


async def test_a_worker_neither_spins_nor_oversleeps(
    wrong: Callable[[], float], redis_server: Server
) -> None:
    app = Windlass(f"{redis_server.url}?namespace={new_id()}")
    started: list[float] = []

    @app.task(max_retries=1, backoff=0.5)
    async def note() -> None:
        started.append(time.monotonic())
        if len(started) == 1:
            raise ValueError("once more")

    worker = await app.worker(WorkerSettings())
    await worker.start()
    enqueued = time.monotonic()
    with counted(redis_server.port) as calls:
        handle = await note.using(delay=0.5).aenqueue()
        await until(lambda: len(started) == 2)
    await handle.aresult(timeout=20)
    first, second = started
    assert 0.49 < first - enqueued < 5
    assert 0.2 < second - first < 5
    assert calls["evalsha"] < 40
    await worker.stop()
    await app.aclose()


async def test_two_clients_of_different_clocks_agree(
    redis_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fresh(redis_server.url, namespace="agree") as store:
        await put(store, "right", delay=300)
        right = time.time
        monkeypatch.setattr(time, "time", lambda: right() + HOUR)
        await put(store, "wrong", delay=300)
        jobs = await store.get(["right", "wrong"])
        assert abs(jobs["right"].due - jobs["wrong"].due) < 5_000
        seconds, _ = tell(redis_server.port, "TIME")
        assert abs(jobs["wrong"].created_at / 1000 - seconds) < 60
