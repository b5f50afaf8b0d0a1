"""A worker does what it is told, within a beat."""

import asyncio

import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.states import State
from windlass.core.workers import Order, WorkerInfo
from windlass.stores.contract import Store
from windlass.testing.work import counts, until
from windlass.worker import presence
from windlass.worker.worker import Worker


@pytest.fixture(autouse=True)
def beats_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "BEAT", 0.02)


async def entry(store: Store, worker: Worker) -> WorkerInfo | None:
    return next((each for each in await store.workers() if each.id == worker.id), None)


async def tell(store: Store, worker: Worker, order: Order) -> None:
    """Leave an order, and wait until its worker says that it follows it."""
    async with asyncio.timeout(20):
        while await store.direct([worker.id], order) != {worker.id}:
            await asyncio.sleep(0.01)
        if order == "stop":
            return
        while True:
            info = await entry(store, worker)
            if info is not None and info.quiet == (order == "quiet"):
                return
            await asyncio.sleep(0.01)


async def test_a_quiet_worker_finishes_what_runs_and_claims_no_more(app: Windlass) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def gate() -> None:
        entered.set()
        await go_on.wait()

    @app.task
    async def quick() -> None: ...

    store = await app.client.store()
    worker = await app.worker(WorkerSettings(concurrency=2))
    await worker.start()
    first = await gate.aenqueue()
    await entered.wait()
    await tell(store, worker, "quiet")
    later = await quick.aenqueue()
    go_on.set()
    await first.aresult(timeout=20)
    # The quiet one has had every chance by then.
    other = await app.worker()
    await other.start()
    await later.aresult(timeout=20)
    assert (await later.aget()).worker == other.id
    await other.stop()
    await tell(store, worker, "work")
    again = await quick.aenqueue()
    await again.aresult(timeout=20)
    assert (await again.aget()).worker == worker.id
    await worker.stop()


async def test_what_was_claimed_ahead_is_given_back(app: Windlass) -> None:
    go_on = asyncio.Event()
    running: list[int] = []

    @app.task
    async def quick(n: int) -> None: ...

    @app.task
    async def slow(n: int) -> None:
        running.append(n)
        await go_on.wait()

    store = await app.client.store()
    worker = await app.worker(WorkerSettings(concurrency=1))
    await worker.start()
    # Quick ones first, so that it claims ahead.
    for handle in await app.aenqueue_many([quick.call(n) for n in range(50)]):
        await handle.aresult(timeout=20)
    handles = await app.aenqueue_many([slow.call(n) for n in range(4)])
    await until(lambda: len(running) == 1)
    await tell(store, worker, "quiet")
    async with asyncio.timeout(20):
        while (await counts(store))[State.ACTIVE] != 1:
            await asyncio.sleep(0.01)
    assert (await counts(store))[State.PENDING] == 3
    go_on.set()
    await tell(store, worker, "work")
    for handle in handles:
        await handle.aresult(timeout=20)
    assert [(await handle.aget()).attempt for handle in handles] == [1] * 4
    await worker.stop()


async def test_one_that_is_told_to_stop_does_so_gracefully(app: Windlass) -> None:
    entered, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def gate() -> str:
        entered.set()
        await go_on.wait()
        return "through"

    store = await app.client.store()
    worker = await app.worker()
    running = asyncio.ensure_future(worker.run())
    job = await gate.aenqueue()
    await asyncio.wait_for(entered.wait(), 20)
    await tell(store, worker, "stop")
    await asyncio.wait_for(worker.asked_to_stop(), 20)
    assert worker.dismissed
    go_on.set()
    await asyncio.wait_for(running, 20)
    assert await job.aresult(timeout=0) == "through"
    assert await entry(store, worker) is None


async def test_one_inside_another_program_claims_no_more_once_it_is_told_to_stop(
    app: Windlass,
) -> None:
    store = await app.client.store()
    worker = await app.worker()
    await worker.start()
    await tell(store, worker, "stop")
    await asyncio.wait_for(worker.asked_to_stop(), 20)
    async with asyncio.timeout(20):
        while not (info := await entry(store, worker)) or not info.quiet:
            await asyncio.sleep(0.01)
    await worker.stop()


async def test_a_worker_that_stops_for_another_reason_was_not_dismissed(app: Windlass) -> None:
    worker = await app.worker()
    running = asyncio.ensure_future(worker.run())
    worker.ask_to_stop()
    await asyncio.wait_for(running, 20)
    assert not worker.dismissed


async def test_a_worker_tells_how_much_memory_it_has_and_whether_it_is_quiet(app: Windlass) -> None:
    store = await app.client.store()
    worker = await app.worker()
    await worker.start()
    await tell(store, worker, "work")
    info = await entry(store, worker)
    assert info is not None
    assert info.memory > 1_000_000
    assert not info.quiet
    await tell(store, worker, "quiet")
    await worker.stop()
