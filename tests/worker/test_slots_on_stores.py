"""That slots are shared fairly, with what each store hands out."""

import asyncio
import threading
from pathlib import Path

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.clock import to_ms
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.testing.work import until


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


async def test_neither_kind_of_handler_waits_for_the_other(app: Windlass) -> None:
    gate, agate = threading.Event(), asyncio.Event()
    blocking: list[int] = []
    awaiting: list[int] = []

    @app.task(queue="slow")
    def blocks(n: int) -> None:
        blocking.append(n)
        gate.wait(60)

    @app.task
    async def awaits(n: int) -> None:
        awaiting.append(n)
        await agate.wait()

    await app.aenqueue_many(blocks.call(n) for n in range(30))
    settings = WorkerSettings(queues=("default", "slow"), concurrency=10, threads=2)
    worker = await app.worker(settings)
    await worker.start()
    await until(lambda: len(blocking) == 2, 20)
    await app.aenqueue_many(awaits.call(n) for n in range(10))
    await until(lambda: len(awaiting) == 10, 20)
    # Longer than what cannot start waits here; whoever has a thread could take it by now.
    await until(lambda: len(worker._hand) <= 12, 20)
    assert (len(blocking), worker.busy) == (2, 12)
    agate.set()
    gate.set()
    await until(lambda: len(blocking) == 30, 20)
    await worker.stop()


async def test_whoever_was_lost_twice_runs_alone(app: Windlass) -> None:
    now: set[str] = set()
    beside: list[set[str]] = []
    ended: list[str] = []

    @app.task
    async def run(name: str) -> None:
        now.add(name)
        if "doubtful" in now:
            beside.append(now - {"doubtful"})
        await asyncio.sleep(0.005)
        now.discard(name)
        ended.append(name)

    store = await app.client.store()
    leader = Leader(store, "me")
    rescuer = Rescuer(store, app.registry, leader, 5.0, "rescuer")
    await run.using(id="doubtful").aenqueue("doubtful")
    for lost in (1, 2):
        async with asyncio.timeout(20):
            while not await store.claim({"default": 1}, 1, to_ms(0.05), "doomed"):
                await asyncio.sleep(0.05)
            while (job := (await store.get(["doubtful"]))["doubtful"]).lost < lost:
                await rescuer.rescue()
                await asyncio.sleep(0.02)
    assert job.state in (State.PENDING, State.RETRY)
    await app.aenqueue_many(run.call(f"job-{n}") for n in range(100))
    worker = await app.worker(WorkerSettings(concurrency=20))
    await worker.start()
    await until(lambda: len(ended) == 101, 30)
    await worker.stop()
    assert beside
    assert not set().union(*beside)
