"""What ended jobs owe is seen to by the leader, until nothing is owed."""

import asyncio

import pytest

from windlass.scheduler import unblocker
from windlass.scheduler.leader import Leader
from windlass.scheduler.unblocker import BATCH, Unblocker
from windlass.stores.memory import MemoryStore
from windlass.testing.work import until


class Indebted(MemoryStore):
    """A store with so many dependents left to see to."""

    def __init__(self, owed: int) -> None:
        super().__init__()
        self.owed = owed
        self.calls = 0

    async def unblock(self, limit: int) -> int:
        self.calls += 1
        done = min(limit, self.owed)
        self.owed -= done
        return done


async def test_it_goes_on_until_nothing_is_owed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unblocker, "INTERVAL", 600.0)
    store = Indebted(3 * BATCH + 1)
    leader = Leader(store, "me")
    leader.is_leader = True
    service = Unblocker(store, leader)
    service.start()
    await until(lambda: store.calls == 5)
    assert store.owed == 0
    await service.stop()


async def test_who_does_not_lead_leaves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unblocker, "INTERVAL", 0.001)
    store = Indebted(1)
    service = Unblocker(store, Leader(store, "me"))
    service.start()
    await asyncio.sleep(0.01)
    assert store.calls == 0
    await service.stop()
