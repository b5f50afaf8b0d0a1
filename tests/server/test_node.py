"""The example worker in Node over HTTP: it works, fails, stops, is killed, and is frozen."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.app.engines import sqlite_in
from tests.server.conftest import Serve
from tests.server.grpc.node import EXAMPLE, NodeWorker
from tests.server.http_worker import HttpWorker, stands, until
from tests.server.serving import Served
from windlass import Windlass
from windlass.core.model import Job
from windlass.core.states import FINISHED, State
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.task import Registry

Start = Callable[..., NodeWorker]
PROGRAM = "http_worker.mjs"


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Windlass]:
    app = Windlass(sqlite_in(tmp_path))
    yield app
    await app.aclose()


@pytest.fixture
async def api(app: Windlass, serve: Serve) -> Served:
    return await serve(app, has_tasks=False)


@pytest.fixture
async def start(api: Served) -> AsyncIterator[Start]:
    """Starts workers, without any package and with a key of theirs."""
    workers: list[NodeWorker] = []
    key = await api.add_key("work")

    def start(**environ: str) -> NodeWorker:
        places = {"WINDLASS_SERVER": api.url, "WINDLASS_KEY": key}
        workers.append(NodeWorker(EXAMPLE, PROGRAM, **places, **environ))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()


@pytest.fixture
async def producer(api: Served) -> str:
    return await api.add_key("enqueue", "read")


async def job(api: Served, id: str) -> Job:
    return (await api.store.get([id]))[id]


async def ended(api: Served, id: str) -> State:
    await until(lambda: _ended(api, id))
    return (await job(api, id)).state


async def _ended(api: Served, id: str) -> bool:
    return (await job(api, id)).state in FINISHED


async def held(api: Served, id: str) -> Job:
    """A job that a worker has for sure: it was extended."""
    first: Job | None = None

    async def grown() -> bool:
        nonlocal first
        found = await job(api, id)
        if found.state is not State.ACTIVE:
            return False
        first = first or found
        return found.lease_until != first.lease_until

    await until(grown)
    return await job(api, id)


def rescuer(api: Served) -> Rescuer:
    return Rescuer(api.store, Registry(), Leader(api.store, "test"), 1.0, "test")


async def test_it_works_fails_and_stops(api: Served, start: Start, producer: str) -> None:
    worker = start(QUEUES="sums,default", CONCURRENCY="3", SHUTDOWN_MS="200", LEASE="3")
    (info,) = await until(api.store.workers)
    assert (info.pid, info.queues, info.concurrency) == (worker.process.pid, ("sums", "default"), 3)
    sums = [await api.enqueue("add", n, 1, queue="sums", key=producer) for n in range(20)]
    assert {await ended(api, id) for id in sums} == {State.COMPLETED}
    assert [(await job(api, id)).result for id in sums] == [b"[1,%d]" % (n + 1) for n in range(20)]

    failing = await api.enqueue("fail", "oh", max_retries=0, key=producer)
    refused = await api.enqueue("refuse", "never", key=producer)
    late = await api.enqueue("nap", 60_000, timeout=0.05, max_retries=0, key=producer)
    unknown = await api.enqueue("mystery", key=producer)
    assert {await ended(api, id) for id in (failing, refused, late)} == {State.DEAD}
    error = (await job(api, failing)).error
    assert error is not None
    assert (error.kind, error.message, "tasks.mjs" in error.traceback) == ("Error", "oh", True)
    assert (await job(api, refused)).attempt == 1
    waiting = await job(api, unknown)
    assert (waiting.state, waiting.attempt) == (State.SCHEDULED, 0)

    long = await api.enqueue("nap", 600_000, key=producer)
    await held(api, long)
    said = await asyncio.to_thread(worker.stop)
    assert said.startswith("working as ")
    assert not await api.store.workers()
    kept = await job(api, long)
    assert (kept.state, kept.attempt) == (State.PENDING, 0)


async def test_its_jobs_are_recovered_when_it_is_killed(
    api: Served, start: Start, producer: str
) -> None:
    first = start(LEASE="1")
    id = await api.enqueue("nap", 1_000, key=producer)
    await held(api, id)
    first.kill()
    await until(rescuer(api).rescue)
    start(LEASE="1")
    assert await ended(api, id) is State.COMPLETED
    after = await job(api, id)
    assert (after.attempt, after.result) == (1, b'[1,"rested"]')


async def test_a_cancelled_job_is_stopped(api: Served, start: Start, producer: str) -> None:
    start(LEASE="1", CONCURRENCY="1")
    endless = await api.enqueue("nap", 600_000, key=producer)
    await held(api, endless)
    await api.store.cancel([endless])
    after = await api.enqueue("add", 1, 1, key=producer)
    assert await ended(api, after) is State.COMPLETED


async def test_one_that_is_frozen_while_it_fetches_loses_its_job_once(
    api: Served, start: Start, producer: str
) -> None:
    frozen = start(LEASE="1", CONCURRENCY="2")
    id = await api.enqueue("nap", 600_000, max_retries=1, key=producer)
    before = await held(api, id)
    await stands(api, 1)
    frozen.freeze()
    other = HttpWorker(api, "other", key=await api.add_key("work"))
    fetching = asyncio.ensure_future(other.fetch(wait=14))
    await until(rescuer(api).rescue)
    assert [each["id"] for each in await fetching] == [id]
    after = await job(api, id)
    assert (after.worker, after.lost, after.attempt) == ("other", 1, 1)
    assert after.fence > before.fence
    frozen.thaw()
    # What it says by now counts for nothing, and it works on.
    late = await api.enqueue("add", 1, 1, key=producer)
    assert await ended(api, late) is State.COMPLETED
    assert (await job(api, id)).worker == "other"
