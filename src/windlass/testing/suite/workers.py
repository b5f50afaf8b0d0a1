"""The list of workers: who is there, and who was not heard of any more."""

from __future__ import annotations

import msgspec

from ...core.workers import WorkerInfo
from ...stores.contract import Store
from ..clock import FakeClock

ONE = WorkerInfo("w1", "host-ä", 42, ("default", "a:3"), 100, 1_000)
TWO = WorkerInfo("w2", "host", 43, ("*",), 1, 2_000, active=1)


def seen(info: WorkerInfo, clock: FakeClock) -> WorkerInfo:
    return msgspec.structs.replace(info, seen_at=clock())


async def test_a_worker_is_listed_as_it_describes_itself(store: Store, clock: FakeClock) -> None:
    assert list(await store.workers()) == []
    await store.beat(ONE, 30_000)
    assert list(await store.workers()) == [seen(ONE, clock)]


async def test_workers_come_by_id(store: Store, clock: FakeClock) -> None:
    await store.beat(TWO, 30_000)
    await store.beat(ONE, 30_000)
    assert list(await store.workers()) == [seen(ONE, clock), seen(TWO, clock)]


async def test_a_beat_brings_the_entry_up_to_date(store: Store, clock: FakeClock) -> None:
    await store.beat(ONE, 30_000)
    clock.advance(20)
    busy = msgspec.structs.replace(ONE, active=7)
    await store.beat(busy, 30_000)
    clock.advance(20)
    assert list(await store.workers()) == [msgspec.structs.replace(busy, seen_at=clock() - 20_000)]


async def test_one_that_was_not_heard_of_disappears(store: Store, clock: FakeClock) -> None:
    await store.beat(ONE, 10_000)
    await store.beat(TWO, 30_000)
    clock.advance(10)
    assert [info.id for info in await store.workers()] == ["w2"]
    clock.advance(20)
    assert list(await store.workers()) == []


async def test_one_that_leaves_is_gone_at_once(store: Store) -> None:
    await store.beat(ONE, 30_000)
    await store.beat(TWO, 30_000)
    await store.leave("w1")
    await store.leave("nobody")
    assert [info.id for info in await store.workers()] == ["w2"]


async def test_one_that_was_gone_can_come_again(store: Store, clock: FakeClock) -> None:
    await store.beat(ONE, 1_000)
    clock.advance(60)
    await store.beat(TWO, 1_000)
    await store.beat(ONE, 1_000)
    assert [info.id for info in await store.workers()] == ["w1", "w2"]


async def test_another_handle_sees_them(store: Store, another_store: Store) -> None:
    await store.beat(ONE, 30_000)
    assert [info.id for info in await another_store.workers()] == ["w1"]
