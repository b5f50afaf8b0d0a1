"""A store that does not answer: nothing is lost, nothing done twice, no part goes deaf."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Transition
from windlass.errors import StoreUnavailable
from windlass.scheduler.leader import Leader
from windlass.scheduler.upkeep import upkeep
from windlass.stores.contract import Store
from windlass.testing.faults import FaultyStore
from windlass.testing.work import counts, until
from windlass.worker.pool import MOST_AHEAD
from windlass.worker.worker import Worker


def worker_on(app: Windlass, store: FaultyStore, **settings: Any) -> Worker:
    return Worker(app.registry, app.codecs, store, WorkerSettings(**settings))


async def test_an_outcome_is_written_again_until_the_store_takes_it(app: Windlass) -> None:
    runs: list[int] = []

    @app.task
    async def once(n: int) -> None:
        runs.append(n)

    store = FaultyStore(await app.client.store())
    store.fail["finish"] = 3
    handles = await app.aenqueue_many([once.call(n) for n in range(5)])
    worker = worker_on(app, store)
    await worker.start()
    for handle in handles:
        await handle.aresult(timeout=20)
    await worker.stop()
    assert sorted(runs) == [0, 1, 2, 3, 4]
    assert store.calls["finish"] >= 4


async def test_a_lost_answer_to_finish_does_no_harm(app: Windlass) -> None:
    runs: list[int] = []

    @app.task
    async def once() -> str:
        runs.append(1)
        return "kept"

    store = FaultyStore(await app.client.store())
    store.lose["finish"] = 1
    job = await once.aenqueue()
    worker = worker_on(app, store)
    await worker.start()
    await until(lambda: store.calls["finish"] >= 2)
    await worker.stop()
    assert (await job.aresult(), runs) == ("kept", [1])


async def test_a_worker_outlives_an_outage_and_goes_on(app: Windlass) -> None:
    @app.task
    async def work(n: int) -> int:
        return n

    store = FaultyStore(await app.client.store())
    worker = worker_on(app, store)
    await worker.start()
    await (await work.aenqueue(1)).aresult(timeout=20)
    store.down = True
    waiting = await work.aenqueue(2)
    before = store.calls["claim"] + store.calls["wait"]
    await until(lambda: store.calls["claim"] + store.calls["wait"] >= before + 3)
    assert (await waiting.aget()).state is State.PENDING
    store.down = False
    assert await waiting.aresult(timeout=20) == 2
    await worker.stop()


async def test_a_lost_answer_to_claim_leaves_the_jobs_to_their_lease(app: Windlass) -> None:
    @app.task(backoff=0)
    async def work() -> str:
        return "done"

    real = await app.client.store()
    store = FaultyStore(real)
    store.lose["claim"] = 1
    job = await work.aenqueue()
    worker = worker_on(app, store, lease=0.2)
    rescuing = await app.worker(WorkerSettings(rescue_interval=0.05, queues=("other",)))
    await worker.start()
    await rescuing.start()
    assert await job.aresult(timeout=20) == "done"
    await worker.stop()
    await rescuing.stop()
    assert (await job.aget()).attempt == 1


async def test_no_more_is_claimed_than_there_are_slots_while_nothing_can_be_written(
    app: Windlass,
) -> None:
    """A slot is free when the store has what its job came to, and not when the handler returns."""
    runs: list[int] = []

    @app.task
    async def quick(n: int) -> None:
        runs.append(n)

    store = FaultyStore(await app.client.store())
    store.fail["finish"] = 10_000
    handles = await app.aenqueue_many([quick.call(n) for n in range(200)])
    worker = worker_on(app, store, concurrency=2)
    await worker.start()
    await until(lambda: store.calls["finish"] >= 5)
    most = 2 + 2 * MOST_AHEAD
    assert 2 <= len(runs) <= (await counts(store))[State.ACTIVE] <= most
    store.fail.clear()
    for handle in handles:
        await handle.aresult(timeout=20)
    await worker.stop()
    assert sorted(runs) == list(range(200))


async def test_stopping_while_the_store_is_down_ends_all_the_same(app: Windlass) -> None:
    ran = asyncio.Event()

    @app.task
    async def work() -> None:
        ran.set()

    store = FaultyStore(await app.client.store())
    store.fail["finish"] = 10_000
    await work.aenqueue()
    worker = worker_on(app, store, shutdown_timeout=0.1)
    await worker.start()
    async with asyncio.timeout(30):
        await ran.wait()
        await worker.stop()


class HalfStore(FaultyStore):
    """A store of which the part that has some queues does not take what attempts came to."""

    def __init__(self, store: Store, down: set[str]) -> None:
        super().__init__(store)
        self._whole = store
        self.parts_down = down

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        self.calls["finish"] += 1
        up = [each for each in transitions if each.queue not in self.parts_down]
        held = await self._whole.finish(up)
        if len(up) < len(transitions):
            settled = frozenset((each.id, each.fence) for each in up)
            raise StoreUnavailable("a part is down (injected).", settled=settled, held=held)
        return held


async def test_what_one_part_took_is_done_with_though_another_is_down(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    runs: list[tuple[str, int]] = []
    taken_away = asyncio.Event()

    @app.task
    async def work(queue: str, n: int) -> None:
        runs.append((queue, n))
        if (queue, n) == ("up", 0):
            await taken_away.wait()

    store = HalfStore(await app.client.store(), down={"down"})
    up, down = work.using(queue="up"), work.using(queue="down")
    stuck = [await down.aenqueue("down", n) for n in range(2)]
    worker = worker_on(app, store, concurrency=6, queues=("down", "up"), shutdown_timeout=0.1)
    await worker.start()
    await until(lambda: len(runs) == 2)
    # More than there are slots: each is free again as soon as its own part has its job's end.
    handles = [await up.aenqueue("up", n) for n in range(12)]
    await until(lambda: ("up", 0) in runs)
    await store.cancel([handles[0].id])
    taken_away.set()
    for handle in handles[1:]:
        await handle.aresult(timeout=20)
    assert {(await job.aget()).state for job in stuck} == {State.ACTIVE}
    store.parts_down.clear()
    for job in stuck:
        await job.aresult(timeout=20)
    await worker.stop()
    assert len(runs) == len(set(runs)) == 14
    told = [line for line in caplog.messages if "lease was lost" in line or "stopping it" in line]
    assert [handles[0].id in line for line in told] == [True]


async def test_the_shutdown_hooks_run_though_the_leader_cannot_resign(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[bool] = []

    @app.on_shutdown
    async def end() -> None:
        ended.append(True)

    store = FaultyStore(await app.client.store())
    settings = WorkerSettings(shutdown_timeout=0.1)
    services = upkeep(store, app.registry, settings)
    worker = Worker(app.registry, app.codecs, store, settings, services)
    await worker.start()
    leader = services[0]
    assert isinstance(leader, Leader)
    await until(lambda: leader.is_leader)
    store.down = True
    await worker.stop()
    assert ended == [True]
    assert len([line for line in caplog.messages if "could not resign" in line]) == 1
