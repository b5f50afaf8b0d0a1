"""The example worker in Node against the real server: it works, fails, stops, and is killed."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from itertools import count
from pathlib import Path

import pytest

from tests.app.engines import sqlite_in
from tests.server.grpc.client import Served, until
from tests.server.grpc.node import PROTO, NodeWorker, example
from tests.servers.server import Server
from windlass.core.states import FINISHED, State
from windlass.core.workers import WorkerInfo
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.task import Registry

Start = Callable[..., NodeWorker]

_serial = count()


@pytest.fixture(params=["sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_in(tmp_path)
    server: Server = request.getfixturevalue("redis_server")
    return f"{server.url}?namespace=node_{os.getpid()}_{next(_serial)}"


@pytest.fixture
async def start(stored: Served, tmp_path: Path) -> AsyncIterator[Start]:
    """Starts workers, with a key of theirs."""
    workers: list[NodeWorker] = []
    stored_key = await stored.new_key("work")
    with example(tmp_path) as folder:

        def start(**environ: str) -> NodeWorker:
            places = {"WINDLASS_GRPC": f"127.0.0.1:{stored.port}", "WINDLASS_PROTO": str(PROTO)}
            workers.append(NodeWorker(folder, WINDLASS_KEY=stored_key, **places, **environ))
            return workers[-1]

        yield start
    for worker in workers:
        worker.kill()


async def on_the_list(served: Served, number: int = 1) -> list[WorkerInfo]:
    async def listed() -> list[WorkerInfo]:
        found = list(await served.store.workers())
        return found if len(found) == number else []

    found: list[WorkerInfo] = await until(listed)
    return found


async def ended(served: Served, id: str) -> State:
    async def state() -> State | None:
        job = (await served.store.get([id]))[id]
        return job.state if job.state in FINISHED else None

    found: State = await until(state)
    return found


async def active(served: Served, id: str) -> None:
    async def runs() -> bool:
        return (await served.stored(id)).state is State.ACTIVE

    await until(runs)


async def renewed(served: Served, id: str) -> None:
    """Wait until the worker has it for sure: one that is active may still be on its way there."""
    await active(served, id)
    first = (await served.stored(id)).lease_until

    async def grown() -> bool:
        return (await served.stored(id)).lease_until != first

    await until(grown)


async def test_it_works_fails_and_stops(stored: Served, start: Start) -> None:
    producer = await stored.with_key("enqueue", "operate")
    worker = start(QUEUES="sums,default", CONCURRENCY="3", SHUTDOWN_MS="200", LEASE_MS="3000")
    (info,) = await on_the_list(stored)
    assert (info.pid, info.queues, info.concurrency) == (worker.process.pid, ("sums", "default"), 3)

    sums = [await producer.enqueue("add", b"[1,[%d,1],{}]" % n, queue="sums") for n in range(20)]
    assert {await ended(stored, id) for id in sums} == {State.COMPLETED}
    assert [(await producer.job(id)).result for id in sums] == [
        b"[1,%d]" % (n + 1) for n in range(20)
    ]

    failing = await producer.enqueue("fail", b'[1,["oh"],{}]', max_retries=1)
    refused = await producer.enqueue("refuse", b'[1,["never"],{}]')
    late = await producer.enqueue("nap", b"[1,[60000],{}]", timeout_ms=50, max_retries=0)
    unknown = await producer.enqueue("mystery", b"[1,[],{}]")
    assert await ended(stored, refused) is State.DEAD
    assert await ended(stored, late) is State.DEAD

    async def retries() -> bool:
        return (await stored.stored(failing)).state is State.RETRY

    await until(retries)
    await stored.store.reschedule([failing])
    assert await ended(stored, failing) is State.DEAD
    dead = await stored.stored(failing)
    assert dead.error is not None
    assert (dead.attempt, dead.error.kind, dead.error.message) == (2, "Error", "oh")
    assert "tasks.mjs" in dead.error.traceback
    assert (await stored.stored(refused)).attempt == 1
    waiting = await stored.stored(unknown)
    assert (waiting.state, waiting.attempt) == (State.SCHEDULED, 0)

    long = await producer.enqueue("nap", b"[1,[600000],{}]")
    await renewed(stored, long)
    said = await asyncio.to_thread(worker.stop)
    assert said.startswith("working as ")
    assert not await stored.store.workers()
    kept = await stored.stored(long)
    assert (kept.state, kept.attempt) == (State.PENDING, 0)


async def test_its_jobs_are_recovered_when_it_is_killed(stored: Served, start: Start) -> None:
    producer = await stored.with_key("enqueue", "read")
    first = start(LEASE_MS="1000")
    ids = [await producer.enqueue("nap", b"[1,[1500],{}]") for _ in range(3)]
    for id in ids:
        await active(stored, id)
    fences = {id: (await stored.stored(id)).fence for id in ids}
    first.kill()
    store = stored.store
    rescuer = Rescuer(store, Registry(), Leader(store, "test"), 1.0, "test")

    rescued = 0

    async def all_rescued() -> bool:
        nonlocal rescued
        rescued += await rescuer.rescue()
        return rescued == len(ids)

    await until(all_rescued)
    assert {(await stored.stored(id)).state for id in ids} == {State.RETRY}
    await store.reschedule(ids)
    start(LEASE_MS="1000")
    assert {await ended(stored, id) for id in ids} == {State.COMPLETED}
    for id in ids:
        job = await stored.stored(id)
        assert (job.attempt, job.result) == (1, b'[1,"rested"]')
        assert job.fence > fences[id]


async def test_a_cancelled_job_is_stopped(stored: Served, start: Start) -> None:
    producer = await stored.with_key("enqueue", "operate")
    start(LEASE_MS="1000", CONCURRENCY="1")
    endless = await producer.enqueue("nap", b"[1,[600000],{}]")
    await active(stored, endless)
    await stored.store.cancel([endless])
    after = await producer.enqueue("add", b"[1,[1,1],{}]")
    assert await ended(stored, after) is State.COMPLETED
