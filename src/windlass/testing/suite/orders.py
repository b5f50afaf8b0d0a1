"""Orders to workers: left for those on the list, told to each by its next beat."""

from __future__ import annotations

from msgspec.structs import replace

from ...core.workers import WorkerInfo
from ...stores.contract import Store
from ..clock import FakeClock

ONE = WorkerInfo("w1", "host", 101, ("mail",), 4, 1_700_000_000_000)
TWO = WorkerInfo("w2", "host", 102, ("*",), 8, 1_700_000_000_000)
TTL = 30_000


async def test_without_an_order_a_beat_tells_none(store: Store) -> None:
    assert await store.beat(ONE, TTL) is None
    assert await store.beat(ONE, TTL) is None


async def test_an_order_is_told_at_each_beat_until_another_comes(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    await store.beat(ONE, TTL)
    assert await another_store.direct(["w1"], "quiet") == {"w1"}
    for _ in range(2):
        clock.advance(5)
        assert await store.beat(ONE, TTL) == "quiet"
    assert await another_store.direct(["w1"], "work") == {"w1"}
    assert await store.beat(ONE, TTL) == "work"
    assert await another_store.direct(["w1"], "stop") == {"w1"}
    assert await store.beat(ONE, TTL) == "stop"


async def test_only_those_that_it_is_for_are_told(store: Store) -> None:
    await store.beat(ONE, TTL)
    await store.beat(TWO, TTL)
    assert await store.direct(["w2", "unknown", "w2"], "quiet") == {"w2"}
    assert await store.beat(ONE, TTL) is None
    assert await store.beat(TWO, TTL) == "quiet"
    assert await store.direct(["w1", "w2"], "work") == {"w1", "w2"}
    assert await store.beat(ONE, TTL) == await store.beat(TWO, TTL) == "work"


async def test_nobody_gets_an_order_who_is_not_on_the_list(store: Store, clock: FakeClock) -> None:
    assert await store.direct(["w1"], "quiet") == frozenset()
    assert await store.direct([], "quiet") == frozenset()
    await store.beat(ONE, 1_000)
    clock.advance(1)
    assert await store.direct(["w1"], "quiet") == frozenset()
    assert await store.beat(ONE, TTL) is None


async def test_an_order_goes_with_the_one_who_leaves(store: Store) -> None:
    await store.beat(ONE, TTL)
    await store.direct(["w1"], "stop")
    await store.leave("w1")
    assert await store.beat(ONE, TTL) is None


async def test_an_order_goes_with_one_that_was_not_heard_of(store: Store, clock: FakeClock) -> None:
    await store.beat(ONE, 1_000)
    await store.direct(["w1"], "stop")
    clock.advance(1)
    assert await store.beat(ONE, TTL) is None


async def test_an_order_leaves_the_entry_as_it_is(store: Store, clock: FakeClock) -> None:
    await store.beat(ONE, TTL)
    before = list(await store.workers())
    clock.advance(5)
    await store.direct(["w1"], "quiet")
    assert list(await store.workers()) == [replace(each, order="quiet") for each in before]
    clock.advance(25)
    assert list(await store.workers()) == []


async def test_the_list_has_the_order_that_stands(store: Store, clock: FakeClock) -> None:
    await store.beat(ONE, TTL)
    await store.beat(TWO, TTL)
    await store.direct(["w1"], "quiet")
    one, two = await store.workers()
    assert (one.order, one.claims, two.order, two.claims) == ("quiet", False, None, True)
    await store.beat(replace(ONE, quiet=True), TTL)
    await store.direct(["w1"], "work")
    (one, _) = await store.workers()
    assert (one.order, one.quiet, one.claims) == ("work", True, True)
    clock.advance(TTL / 1000 + 1)
    await store.beat(ONE, TTL)
    (one,) = await store.workers()
    assert one.order is None
