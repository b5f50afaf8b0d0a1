"""Stopping: what runs may finish, what cannot is given back, no attempt is lost."""

import asyncio
import threading

import pytest

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import JobQuery
from windlass.scheduler.leader import Leader
from windlass.service import Service
from windlass.testing.work import counts, until


async def test_running_jobs_may_finish(app: Windlass) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def slow() -> str:
        started.set()
        await go_on.wait()
        return "finished"

    job = await slow.aenqueue()
    worker = await app.worker()
    await worker.start()
    async with asyncio.timeout(20):
        await started.wait()
    stopping = asyncio.create_task(worker.stop())
    await asyncio.sleep(0)
    go_on.set()
    await stopping
    assert await job.aresult() == "finished"


async def test_jobs_that_cannot_finish_are_released_and_keep_their_attempt(app: Windlass) -> None:
    running: list[int] = []

    @app.task
    async def endless(n: int) -> None:
        running.append(n)
        await asyncio.sleep(3600)

    @app.task
    def blocked(n: int, until_set: bool = True) -> None:
        running.append(n)
        never.wait()

    never = threading.Event()
    await app.aenqueue_many([endless.call(n) for n in range(100)] + [blocked.call(100)])
    worker = await app.worker(WorkerSettings(concurrency=101, shutdown_timeout=0.05))
    await worker.start()
    await until(lambda: len(running) == 101)
    async with asyncio.timeout(20):
        await worker.stop()
    never.set()
    store = await app.client.store()
    page = await store.find(JobQuery(limit=200))
    assert [(job.state, job.attempt) for job in page.jobs] == [(State.PENDING, 0)] * 101


async def test_claimed_jobs_that_were_not_started_go_back_to_the_front(app: Windlass) -> None:
    started, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def gate() -> None:
        started.set()
        await go_on.wait()

    await gate.using(id="first").aenqueue()
    worker = await app.worker(WorkerSettings(concurrency=1))
    await worker.start()
    async with asyncio.timeout(20):
        await started.wait()
    await app.aenqueue_many([gate.using(id=f"next{n}").call() for n in range(3)])
    store = await app.client.store()
    worker._runner.deliver(await store.claim({"default": 2}, 2, 30_000, worker.id))
    stopping = asyncio.create_task(worker.stop())
    async with asyncio.timeout(20):
        while (await counts(store))[State.PENDING] < 3:
            await asyncio.sleep(0.005)
    go_on.set()
    await stopping
    page = await store.find(JobQuery(states=(State.PENDING,)))
    assert [(job.id, job.attempt) for job in page.jobs] == [
        ("next0", 0),
        ("next1", 0),
        ("next2", 0),
    ]


async def test_parts_start_from_the_bottom_up_and_stop_the_other_way_round(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever produces work ends before whoever takes it; leases are kept to the last write."""
    started: list[str] = []
    stopped: list[str] = []
    start, stop = Service.start, Service.stop

    def note_start(part: Service) -> None:
        started.append(part.name)
        start(part)

    async def note_stop(part: Service) -> None:
        await stop(part)
        stopped.append(part.name)

    monkeypatch.setattr(Service, "start", note_start)
    monkeypatch.setattr(Service, "stop", note_stop)
    worker = await app.worker()
    upkeep = [part.name for part in worker._upkeep]
    assert upkeep[:2] == ["leader", "rescuer"]
    # Those of the thread aside begin by themselves, whenever their store is open.
    aside = ["heartbeat", "presence", "tallier", "returner"]
    rest = ["reporter", "logbook", "acker", "fetcher"]
    await worker.start()
    await until(lambda: set(aside) <= set(started))
    assert [part for part in started if part not in aside] == upkeep + rest
    await worker.stop()
    assert stopped == [*reversed(rest), *reversed(aside), *reversed(upkeep)]


async def test_a_leader_that_stops_has_given_up_its_leadership(app: Windlass) -> None:
    store = await app.client.store()
    leader = Leader(store, "first")
    leader.start()
    await until(lambda: leader.is_leader)
    assert await store.elect("upkeep", "second", 1_000) is None
    await leader.stop()
    assert not leader.is_leader
    assert await store.elect("upkeep", "second", 1_000) is not None


async def test_stopping_twice_and_stopping_an_idle_worker_is_fine(app: Windlass) -> None:
    worker = await app.worker()
    await worker.start()
    await worker.stop()
    await worker.stop()
    assert await counts(await app.client.store()) == {}
