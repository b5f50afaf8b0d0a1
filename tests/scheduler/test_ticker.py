"""Schedules through the ticker: each tick makes one job, by the store's clock."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from windlass.core.cron import MOST_MISSED, Missed
from windlass.core.model import JobQuery, Spec
from windlass.core.schedule import Overlap, Schedule
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.scheduler import ticker as module
from windlass.scheduler.leader import Leader
from windlass.scheduler.ticker import LONGEST_PAUSE, Ticker
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim_one, finish
from windlass.testing.work import counts, until

MINUTE = 60
HOUR = 60 * MINUTE


def at(text: str, zone: str = "UTC") -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    return round(moment.timestamp() * 1000)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(at("2026-03-01T00:00:30"))


@pytest.fixture
def store(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)


def ticker(store: MemoryStore, *declared: Schedule) -> Ticker:
    leader = Leader(store, "me")
    leader.is_leader = True
    return Ticker(store, leader, {schedule.name: schedule for schedule in declared})


def schedule(
    name: str = "s",
    text: str = "* * * * *",
    zone: str = "UTC",
    missed: Missed = "skip",
    overlap: Overlap = "allow",
) -> Schedule:
    return Schedule(name, text, Spec("t", b""), zone, missed=missed, overlap=overlap)


async def ticks(store: MemoryStore, name: str = "s") -> Sequence[str]:
    """The moments that there are jobs of, in order."""
    page = await store.find(JobQuery(limit=1_000))
    return sorted(job.id.partition("@")[2] for job in page.jobs if job.id.startswith(f"{name}@"))


async def test_it_makes_one_job_for_each_tick(store: MemoryStore, clock: FakeClock) -> None:
    await store.put_schedules([schedule()])
    one = ticker(store)
    for _ in range(5):
        await one.attend()
        await one.attend()
        clock.advance(30)
    assert await ticks(store) == ["2026-03-01T00:01:00", "2026-03-01T00:02:00"]


async def test_it_sleeps_until_the_next_tick(store: MemoryStore, clock: FakeClock) -> None:
    one = ticker(store)
    assert await one.attend() == LONGEST_PAUSE
    await store.put_schedules([schedule()])
    assert await one.attend() == LONGEST_PAUSE
    clock.advance(28.5)
    assert await one.attend() == 1.5
    await store.pause_schedules(["s"], True)
    assert await one.attend() == LONGEST_PAUSE


async def test_two_leaders_make_one_job(store: MemoryStore, clock: FakeClock) -> None:
    class Slow(MemoryStore):
        """Lets the other leader look before either of them ticks."""

        async def schedules(self) -> Sequence[Schedule]:
            found = await super().schedules()
            await asyncio.sleep(0)
            return found

    slow = Slow(clock)
    await slow.put_schedules([schedule(missed="all"), schedule("other", "@every 7s")])
    leaders = [ticker(slow), ticker(slow), ticker(slow)]
    for seconds in (40, 1, 200, 7, 60):
        clock.advance(seconds)
        await asyncio.gather(*(leader.attend() for leader in leaders))
    await asyncio.gather(*(leader.attend() for leader in leaders))
    made = await ticks(slow)
    assert made == [f"2026-03-01T00:0{minute}:00" for minute in range(1, 6)]


@pytest.mark.parametrize(
    ("missed", "made"),
    [
        ("skip", []),
        ("last", ["2026-03-01T04:00:00"]),
        ("all", [f"2026-03-01T0{hour}:00:00" for hour in range(1, 5)]),
    ],
)
async def test_what_nobody_was_there_for(
    store: MemoryStore, clock: FakeClock, missed: Missed, made: list[str]
) -> None:
    await store.put_schedules([schedule(text="@hourly", missed=missed)])
    clock.advance(4 * HOUR + 5 * MINUTE)
    await ticker(store).attend()
    assert await ticks(store) == made
    clock.advance(HOUR - 5 * MINUTE)
    await ticker(store).attend()
    assert await ticks(store) == [*made, "2026-03-01T05:00:00"]


async def test_a_tick_that_is_a_little_late_is_not_missed(
    store: MemoryStore, clock: FakeClock
) -> None:
    await store.put_schedules([schedule(text="@hourly")])
    clock.advance(HOUR)
    await ticker(store).attend()
    assert await ticks(store) == ["2026-03-01T01:00:00"]


async def test_all_that_was_missed_is_bounded(store: MemoryStore, clock: FakeClock) -> None:
    await store.put_schedules([schedule(missed="all")])
    clock.advance(10 * 24 * HOUR)
    await ticker(store).attend()
    made = await ticks(store)
    assert (len(made), made[-1]) == (MOST_MISSED, "2026-03-11T00:00:00")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        # The clock goes from 02:00 to 03:00: once that day, right after the gap.
        ("30 2 * * *", ["2026-03-28T01:30:00", "2026-03-29T01:00:00", "2026-03-30T00:30:00"]),
        ("0 12 * * *", ["2026-03-28T11:00:00", "2026-03-29T10:00:00", "2026-03-30T10:00:00"]),
    ],
)
async def test_the_day_that_loses_an_hour(
    store: MemoryStore, clock: FakeClock, text: str, made: list[str]
) -> None:
    clock.now = at("2026-03-28T00:00", "Europe/Berlin")
    await store.put_schedules([schedule(text=text, zone="Europe/Berlin")])
    one = ticker(store)
    for _ in range(71 * 2):
        clock.advance(HOUR / 2)
        await one.attend()
    assert await ticks(store) == made


@pytest.mark.parametrize(
    ("text", "made"),
    [
        # 02:30 comes twice: the first time counts.
        ("30 2 * * *", ["2026-10-24T00:30:00", "2026-10-25T00:30:00", "2026-10-26T01:30:00"]),
        # By the time that passes, so 25 of them on that day.
        ("0 * * * *", 73),
    ],
)
async def test_the_day_that_gains_an_hour(
    store: MemoryStore, clock: FakeClock, text: str, made: list[str] | int
) -> None:
    clock.now = at("2026-10-24T00:00", "Europe/Berlin")
    await store.put_schedules([schedule(text=text, zone="Europe/Berlin")])
    one = ticker(store)
    for _ in range(73 * 2):
        clock.advance(HOUR / 2)
        await one.attend()
    found = await ticks(store)
    assert found == made if isinstance(made, list) else len(found) == made


@pytest.mark.parametrize(
    ("overlap", "states"),
    [
        ("allow", {State.ACTIVE: 1, State.PENDING: 2}),
        ("skip", {State.ACTIVE: 1}),
        ("queue", {State.ACTIVE: 1, State.BLOCKED: 1}),
    ],
)
async def test_ticks_while_the_job_before_them_runs(
    store: MemoryStore, clock: FakeClock, overlap: Overlap, states: dict[State, int]
) -> None:
    await store.put_schedules([schedule(overlap=overlap)])
    one = ticker(store)
    clock.advance(MINUTE)
    await one.attend()
    running = await claim_one(store)
    for _ in range(2):
        clock.advance(MINUTE)
        await one.attend()
    assert await counts(store) == states
    await finish(store, running, State.COMPLETED)
    clock.advance(MINUTE)
    await one.attend()
    assert (await counts(store))[State.PENDING] >= 1


async def test_a_broken_schedule_is_told_once_and_stops_no_other(
    store: MemoryStore, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    broken = [
        schedule("a", "nonsense"),
        schedule("b", zone="Atlantis/Capital"),
        schedule("c", "0 0 30 2 *"),
    ]
    await store.put_schedules([*broken, schedule()])
    one = ticker(store)
    with caplog.at_level(logging.ERROR, "windlass"):
        for _ in range(3):
            clock.advance(MINUTE)
            await one.attend()
    told = [record.getMessage() for record in caplog.records]
    assert [text.partition(" does not tick: ")[0] for text in told] == [
        "schedule a",
        "schedule b",
        "schedule c",
    ]
    assert len(await ticks(store)) == 3
    await store.put_schedules([replace(broken[0], text="* * * * *")])
    clock.advance(MINUTE)
    await one.attend()
    assert len(await ticks(store, "a")) == 1


async def test_an_outage_is_made_up_for(store: MemoryStore, clock: FakeClock) -> None:
    class Flaky(MemoryStore):
        """Carries a tick out now and then without saying so."""

        lost = 0

        async def tick(self, schedule: Schedule, tick: int) -> None:
            await super().tick(schedule, tick)
            self.lost += 1
            raise StoreUnavailable("no answer")

    flaky = Flaky(clock)
    await flaky.put_schedules([schedule(missed="all")])
    clock.advance(3 * MINUTE)
    for _ in range(3):
        with pytest.raises(StoreUnavailable):
            await ticker(flaky).attend()
    await ticker(flaky).attend()
    assert flaky.lost == 3
    assert len(await ticks(flaky)) == 3


async def test_a_start_puts_what_is_declared_and_leaves_the_rest(
    store: MemoryStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FOLLOWING", 0.001)
    await store.put_schedules([schedule("added"), schedule("edited", "@daily")])
    await store.pause_schedules(["edited"], True)
    one = ticker(store, schedule("edited", "@hourly"), schedule("new"))
    one.start()
    found: dict[str, Schedule] = {}

    async def has_new() -> bool:
        found.update({each.name: each for each in await store.schedules()})
        return "new" in found

    async with asyncio.timeout(20):
        while not await has_new():
            await asyncio.sleep(0)
    await one.stop()
    assert found.keys() == {"added", "edited", "new"}
    assert (found["edited"].text, found["edited"].paused) == ("@hourly", True)
    assert found["new"].last == clock()


async def test_who_does_not_lead_asks_the_store_for_nothing(clock: FakeClock) -> None:
    class Silent(MemoryStore):
        async def now(self) -> int:
            raise AssertionError("asked")

    silent = Silent(clock)
    follower = Ticker(silent, Leader(silent, "me"), {})
    follower.start()
    await asyncio.sleep(0.01)
    await follower.stop()


async def test_in_real_time_the_lag_is_small() -> None:
    store = MemoryStore()
    await store.put_schedules([schedule(text="* * * * * *")])
    one = ticker(store)
    one.start()
    await until(lambda: len(store._jobs) >= 2)
    await one.stop()
    for job in (await store.find(JobQuery())).jobs:
        tick = datetime.fromisoformat(job.id.partition("@")[2]).replace(tzinfo=UTC)
        assert 0 <= job.created_at - tick.timestamp() * 1000 < 1_000
