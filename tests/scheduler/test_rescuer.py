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
