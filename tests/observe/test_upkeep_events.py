"""What observers are told of upkeep: rescues, late renewals, ticks, leadership."""

import time

import pytest

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Receipt, Spec
from windlass.core.schedule import Schedule
from windlass.observe.events import Events
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.scheduler.ticker import Ticker
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.work import until
from windlass.worker import heartbeat
from windlass.worker.hand import Hand
from windlass.worker.heartbeat import Heartbeat

from .conftest import Notes

MINUTE_MS = 60_000


async def test_a_rescued_job_is_told_with_what_becomes_of_it(app: Windlass, notes: Notes) -> None:
    @app.task(max_retries=0)
    async def deadly() -> None: ...

    job = await deadly.aenqueue()
    store = await app.client.store()
    await store.claim({"default": 1}, 1, 1, "a worker that dies")
    rescuer = Rescuer(store, app.registry, Leader(store, "me"), 5.0, "me")
    time.sleep(0.01)
    assert await rescuer.rescue() == 1
    [(rescued, move)] = notes["rescued"]
    assert (rescued.id, move.state) == (job.id, State.DEAD)


async def test_a_renewal_that_comes_late_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "LONGEST_PAUSE", 0.01)
    store, hand = MemoryStore(), Hand()
    events, notes = Events(), Notes()
    events.observe(notes)
    app = Windlass("memory://")

    @app.task
    async def long() -> None: ...

    await store.insert([long.call().job])
    hand.take(await store.claim({"default": 1}, 1, 600_000, "me"))
    punctual = Heartbeat(store, 600.0, hand, lambda lease: None, events)
    punctual.start()
    late = Heartbeat(store, 0.01, hand, lambda lease: None, events)
    late.start()
    await until(lambda: bool(notes["renewed_late"]))
    await punctual.stop()
    await late.stop()
    [lease] = hand.leases
    assert all(told == [lease] and seconds > 0.005 for told, seconds in notes["renewed_late"])


async def test_a_tick_is_told_with_its_lag_and_those_that_were_missed() -> None:
    clock = FakeClock(10 * MINUTE_MS)
    store = MemoryStore(clock)
    events, notes = Events(), Notes()
    events.observe(notes)
    leader = Leader(store, "me")
    leader.is_leader = True
    ticker = Ticker(store, leader, {}, events)
    await store.put_schedules([Schedule("s", "* * * * *", Spec("t", b""))])
    clock.advance(62)
    await ticker.attend()
    assert notes["ticked"] == [("s", Receipt("s@1970-01-01T00:11:00"), 2.0)]
    assert notes["missed"] == []
    clock.advance(5 * 60)
    await ticker.attend()
    assert notes["ticked"][1:] == [("s", Receipt("s@1970-01-01T00:16:00"), 2.0)]
    assert notes["missed"] == [("s", 4)]


async def test_leadership_is_told_when_it_changes(app: Windlass, notes: Notes) -> None:
    worker = await app.worker(WorkerSettings())
    await worker.start()
    await until(lambda: bool(notes["led"]))
    await worker.stop()
    assert notes["led"] == [("upkeep", True), ("upkeep", False)]
