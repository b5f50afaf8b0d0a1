"""Schedules: kept in the store, and each tick seen to once."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from ...core.model import Receipt, Spec
from ...core.schedule import Schedule
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, claim_one, finish, ids, job_of, listing, put, state_of

replace = msgspec.structs.replace
MINUTE = 60_000


def every_minute(name: str = "s", **more: Any) -> Schedule:
    return Schedule(name, "@every 60s", Spec("work", b"payload"), **more)


async def scheduled(store: Store, name: str = "s") -> Schedule:
    """A schedule as the store has it, which must exist."""
    found = {schedule.name: schedule for schedule in await store.schedules()}
    return found[name]


async def tick_now(store: Store, name: str = "s") -> Receipt | None:
    """See to the newest tick of a schedule, as a scheduler does."""
    schedule = await scheduled(store, name)
    newest = await store.now() // MINUTE * MINUTE
    return await store.tick(schedule, newest)


async def test_the_time_is_that_of_the_store(store: Store, clock: FakeClock) -> None:
    assert await store.now() == clock()
    clock.advance(5)
    assert await store.now() == clock()


async def test_schedules_are_kept_as_they_were_put(store: Store, clock: FakeClock) -> None:
    spec = Spec("task", bytes(range(256)), max_retries=7, keep=0, labels={"a": "ä"})
    second = Schedule("b", "0 9 * * mon-fri", spec, "Europe/Berlin", "mail", 75, "all", "queue")
    await store.put_schedules([second, every_minute("a")])
    kept = await store.schedules()
    assert list(kept) == [replace(every_minute("a"), last=clock()), replace(second, last=clock())]


async def test_a_change_keeps_the_last_tick_and_the_pause(store: Store, clock: FakeClock) -> None:
    await store.put_schedules([every_minute()])
    clock.advance(60)
    assert await tick_now(store) is not None
    assert await store.pause_schedules(["s", "unknown"], True) == {"s"}
    before = await scheduled(store)
    await store.put_schedules([replace(every_minute(), text="@hourly", queue="other")])
    assert await scheduled(store) == replace(before, text="@hourly", queue="other")
    assert before.paused
    assert before.job


async def test_a_schedule_of_another_store_goes_on_where_it_was(
    store: Store, clock: FakeClock
) -> None:
    moved = every_minute(last=clock() - 10 * MINUTE, paused=True, job="before")
    await store.put_schedules([moved])
    assert await scheduled(store) == moved
    await store.put_schedules([every_minute()])
    assert await scheduled(store) == moved


async def test_a_pause_holds_nothing_back_for_later(store: Store, clock: FakeClock) -> None:
    await store.put_schedules([every_minute()])
    begun = clock()
    assert await store.pause_schedules(["s"], False) == {"s"}
    clock.advance(600)
    assert await store.pause_schedules(["s"], False) == {"s"}
    assert (await scheduled(store)).last == begun
    assert await store.pause_schedules(["s"], True) == {"s"}
    assert await store.pause_schedules(["s"], False) == {"s"}
    assert (await scheduled(store)).last == clock()


async def test_dropped_schedules_are_gone_and_their_jobs_are_not(
    store: Store, clock: FakeClock
) -> None:
    await store.put_schedules([every_minute()])
    clock.advance(60)
    receipt = await tick_now(store)
    assert receipt is not None
    assert await store.drop_schedules(["s", "unknown"]) == {"s"}
    assert await store.drop_schedules(["s"]) == frozenset()
    assert list(await store.schedules()) == []
    assert await state_of(store, receipt.id) is State.PENDING


async def test_a_tick_makes_the_job_of_its_schedule(store: Store, clock: FakeClock) -> None:
    await store.put_schedules([every_minute(queue="mail", priority=75)])
    clock.advance(60)
    receipt = await tick_now(store)
    assert receipt is not None
    assert not receipt.duplicate
    job = await job_of(store, receipt.id)
    assert (job.queue, job.priority, job.spec) == ("mail", 75, every_minute().spec)
    schedule = await scheduled(store)
    assert (schedule.last, schedule.job) == (clock() // MINUTE * MINUTE, receipt.id)
    assert (await claim_one(store, queue="mail")).id == receipt.id


async def test_a_tick_is_seen_to_once_whoever_asks(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    await store.put_schedules([every_minute()])
    clock.advance(60)
    schedule = await scheduled(store)
    tick = clock() // MINUTE * MINUTE
    stores = [store, another_store] * 5
    receipts = await asyncio.gather(*(each.tick(schedule, tick) for each in stores))
    assert sum(receipt is not None for receipt in receipts) == 1
    assert len(await listing(store)) == 1


async def test_a_tick_is_not_seen_to_again_when_its_job_is_forgotten(
    store: Store, clock: FakeClock
) -> None:
    """As a scheduler does that froze before its call and wakes up much later."""
    await store.put_schedules([replace(every_minute(), spec=Spec("work", b"", keep=0))])
    clock.advance(60)
    late = await scheduled(store)
    tick = clock() // MINUTE * MINUTE
    assert await store.tick(late, tick) is not None
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await store.tick(late, tick) is None
    assert await listing(store) == []


async def test_a_tick_that_has_not_come_or_was_passed_is_refused(
    store: Store, clock: FakeClock
) -> None:
    await store.put_schedules([every_minute()])
    clock.advance(120)
    schedule = await scheduled(store)
    newest = clock() // MINUTE * MINUTE
    assert await store.tick(schedule, clock() + 1) is None
    assert await store.tick(schedule, schedule.last) is None
    assert await store.tick(schedule, newest) is not None
    assert await store.tick(await scheduled(store), newest - MINUTE) is None
    assert len(await listing(store)) == 1


async def test_a_paused_or_dropped_schedule_does_not_tick(store: Store, clock: FakeClock) -> None:
    await store.put_schedules([every_minute("a"), every_minute("b")])
    clock.advance(60)
    gone = await scheduled(store, "b")
    assert await store.pause_schedules(["a"], True) == {"a"}
    assert await store.drop_schedules(["b"]) == {"b"}
    assert await tick_now(store, "a") is None
    assert await store.tick(gone, clock()) is None
    assert await store.pause_schedules(["a"], False) == {"a"}
    assert await tick_now(store, "a") is None
    clock.advance(60)
    assert await tick_now(store, "a") is not None


async def ticks(store: Store, clock: FakeClock) -> Receipt:
    """The next tick, a minute later."""
    clock.advance(60)
    receipt = await tick_now(store)
    assert receipt is not None
    return receipt


async def test_where_overlap_is_allowed_each_tick_makes_a_job(
    store: Store, clock: FakeClock
) -> None:
    await store.put_schedules([every_minute(overlap="allow")])
    made = [await ticks(store, clock) for _ in range(3)]
    assert [receipt.duplicate for receipt in made] == [False] * 3
    assert sorted(ids(await listing(store))) == sorted(receipt.id for receipt in made)


async def test_where_overlap_is_skipped_one_job_is_live_at_a_time(
    store: Store, clock: FakeClock
) -> None:
    await store.put_schedules([every_minute(overlap="skip")])
    first = await ticks(store, clock)
    assert await ticks(store, clock) == Receipt(first.id, duplicate=True)
    job = await claim_one(store)
    assert await ticks(store, clock) == Receipt(first.id, duplicate=True)
    assert await finish(store, job, State.RETRY, delay=600_000, error=BOOM)
    assert await ticks(store, clock) == Receipt(first.id, duplicate=True)
    assert await store.cancel([first.id]) == {first.id}
    second = await ticks(store, clock)
    assert not second.duplicate
    assert second.id != first.id


async def test_where_overlap_queues_one_job_waits_for_the_one_before(
    store: Store, clock: FakeClock
) -> None:
    await store.put_schedules([every_minute(overlap="queue")])
    first = await ticks(store, clock)
    assert await ticks(store, clock) == Receipt(first.id, duplicate=True)
    job = await claim_one(store)
    second = await ticks(store, clock)
    assert not second.duplicate
    waiting = await job_of(store, second.id)
    assert (waiting.state, waiting.waits_for) == (State.BLOCKED, (first.id,))
    assert await ticks(store, clock) == Receipt(second.id, duplicate=True)
    assert await finish(store, job, State.DEAD, error=BOOM)
    assert await state_of(store, second.id) is State.PENDING
    assert (await claim_one(store)).id == second.id


async def test_jobs_of_ticks_are_like_any_other(store: Store, clock: FakeClock) -> None:
    await put(store, "before")
    await store.put_schedules([every_minute()])
    receipt = await ticks(store, clock)
    assert [(await claim_one(store)).id for _ in range(2)] == ["before", receipt.id]


async def test_many_schedules_are_put_and_listed(store: Store) -> None:
    names = [f"s{n:03}" for n in range(200)]
    await store.put_schedules([every_minute(name) for name in names])
    assert [schedule.name for schedule in await store.schedules()] == names
