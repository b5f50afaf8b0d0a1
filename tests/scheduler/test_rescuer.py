"""Jobs whose worker is gone, and whose rescuer is gone as well."""

import pytest

from windlass.app import Windlass
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore

pytestmark = pytest.mark.anyio


async def test_jobs_of_a_worker_that_is_gone_are_rescued_before_their_leases_are_over() -> None:
    """By whoever is told, leader or not: the dead one may have been the leader."""
    app = Windlass("memory://")

    @app.task
    async def work() -> None: ...

    store = MemoryStore(FakeClock())
    await store.open()
    jobs = [work.call().job for _ in range(2)]
    await store.insert(jobs)
    for worker in ("dead", "alive"):
        await store.claim({"default": 1}, 1, 30_000, worker)
    assert await store.elect("upkeep", "dead", 10_000) is not None
    other = Rescuer(store, app.registry, Leader(store, "other"), 1.0, "other")
    await other.take_over("dead")
    await other.take_over("dead")
    found = await store.get([job.id for job in jobs])
    assert [found[job.id].state for job in jobs] == [State.RETRY, State.ACTIVE]
    assert await store.elect("upkeep", "other", 10_000) is not None


async def test_a_rescuer_that_fails_halfway_keeps_a_job_for_seconds_only() -> None:
    clock = FakeClock()
    app = Windlass("memory://")

    @app.task
    async def work() -> None: ...

    store = MemoryStore(clock)
    await store.open()
    job = work.call().job
    await store.insert([job])
    await store.claim({"default": 1}, 1, 30_000, "dead")
    clock.advance(30.001)

    faulty = FaultyStore(store)
    faulty.fail["finish"] = 1
    leader = Leader(store, "one")
    with pytest.raises(StoreUnavailable):
        await Rescuer(faulty, app.registry, leader, 1.0, "one").rescue()
    other = Rescuer(store, app.registry, leader, 1.0, "other")
    assert await other.rescue() == 0
    clock.advance(5.001)
    assert await other.rescue() == 1
    assert (await store.get([job.id]))[job.id].state is State.RETRY
