"""Lanes as people see them: their limits, and how many have a slot or wait for one."""

from __future__ import annotations

import msgspec

from ...core.lane import Lane, LaneStats
from ...core.model import JobQuery, Spec
from ...core.states import State
from ...errors import InvalidOption
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, claim, claim_one, finish, ids, put, raises

replace = msgspec.structs.replace

TWO = Lane("l", slots=2)
STRICT = Lane("s", slots=1, strict=True)
GATHER = Lane("b", size=3, grace=1_000, longest=3_000)
RATE = Lane("r", starts=2, per=10_000)


def spec_in(lane: Lane) -> Spec:
    return Spec("work", b"", lane=lane)


async def lanes_of(store: Store, limit: int = 100) -> list[LaneStats]:
    """A whole listing, page by page; one without end fails."""
    found: list[LaneStats] = []
    cursor = None
    for _ in range(10_000):
        page = await store.lanes(limit, cursor)
        assert len(page.lanes) <= limit
        found += page.lanes
        cursor = page.cursor
        if cursor is None:
            return found
    raise AssertionError("the listing never ends")


async def test_jobs_without_a_lane_make_none(store: Store) -> None:
    assert await lanes_of(store) == []
    await put(store, "a")
    assert await lanes_of(store) == []


async def test_those_that_have_a_slot_and_those_that_wait_are_counted(store: Store) -> None:
    await put(store, "a", "b", "c", "d", "e", spec=spec_in(TWO))
    assert await lanes_of(store) == [LaneStats("default", TWO, 2, 3)]
    first, second = await claim(store)
    assert await lanes_of(store) == [LaneStats("default", TWO, 2, 3)]
    assert await finish(store, first, State.COMPLETED)
    assert await lanes_of(store) == [LaneStats("default", TWO, 2, 2)]
    assert await finish(store, second, State.RETRY, delay=60_000, error=BOOM)
    assert await lanes_of(store) == [LaneStats("default", TWO, 2, 1)]
    assert await store.cancel(["e"]) == {"e"}
    assert await lanes_of(store) == [LaneStats("default", TWO, 2, 0)]
    for job in await claim(store):
        assert await finish(store, job, State.DEAD, error=BOOM)
    assert [(each.holders, each.waiting) for each in await lanes_of(store)] in ([], [(0, 0)])


async def test_jobs_whose_time_has_not_come_are_not_in_the_lane(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "later", spec=spec_in(TWO), delay=5_000)
    await put(store, "now", spec=spec_in(TWO))
    assert await lanes_of(store) == [LaneStats("default", TWO, 1, 0)]
    clock.advance(5)
    assert sorted(ids(await claim(store))) == ["later", "now"]
    assert await lanes_of(store) == [LaneStats("default", TWO, 2, 0)]


async def test_in_a_strict_lane_a_retry_keeps_its_slot(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", "c", spec=spec_in(STRICT))
    assert await lanes_of(store) == [LaneStats("default", STRICT, 1, 2)]
    assert await finish(store, await claim_one(store), State.RETRY, delay=5_000, error=BOOM)
    assert await lanes_of(store) == [LaneStats("default", STRICT, 1, 2)]
    clock.advance(5)
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await lanes_of(store) == [LaneStats("default", STRICT, 1, 1)]


async def test_of_a_batch_all_have_a_slot_once_they_are_claimed(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", "b", spec=spec_in(GATHER))
    assert await lanes_of(store) == [LaneStats("default", GATHER, 0, 2)]
    await put(store, "c", "d", spec=spec_in(GATHER))
    assert await lanes_of(store) == [LaneStats("default", GATHER, 1, 3)]
    jobs = await claim(store, 1)
    assert ids(jobs) == ["a", "b", "c"]
    assert await lanes_of(store) == [LaneStats("default", GATHER, 3, 1)]
    for job in jobs:
        assert await finish(store, job, State.COMPLETED)
    assert await lanes_of(store) == [LaneStats("default", GATHER, 0, 1)]
    clock.advance(3)
    assert ids(await claim(store)) == ["d"]
    assert await lanes_of(store) == [LaneStats("default", GATHER, 1, 0)]


async def test_the_one_that_is_scheduled_for_the_next_start_waits_like_the_others(
    store: Store,
) -> None:
    await put(store, "a", "b", "c", "d", spec=spec_in(RATE))
    assert await lanes_of(store) == [LaneStats("default", RATE, 2, 2)]
    for job in await claim(store):
        assert await finish(store, job, State.COMPLETED)
    assert await lanes_of(store) == [LaneStats("default", RATE, 0, 2)]


async def test_the_limits_are_those_that_hold(store: Store) -> None:
    await put(store, "a", "b", spec=spec_in(TWO))
    wider = replace(TWO, slots=5, starts=7, per=1_000, burst=9)
    await put(store, "c", spec=spec_in(wider))
    assert await lanes_of(store) == [LaneStats("default", wider, 3, 0)]


async def test_a_lane_that_nobody_is_in_goes_with_the_next_pruning(store: Store) -> None:
    await put(store, "a", spec=spec_in(TWO))
    await store.prune(100)
    assert await lanes_of(store) == [LaneStats("default", TWO, 1, 0)]
    assert await finish(store, await claim_one(store), State.COMPLETED)
    await store.prune(100)
    assert await lanes_of(store) == []


async def test_pages_list_each_lane_once_by_queue_and_name(
    store: Store, another_store: Store
) -> None:
    keys = [(queue, name) for queue in ("a", "b", "é") for name in ("A", "a", "b é", "b:1", "鍵")]
    for n, (queue, name) in enumerate(reversed(keys)):
        await put(store, f"job-{n}", spec=spec_in(Lane(name, slots=n + 1)), queue=queue)
    whole = await lanes_of(store)
    assert [(each.queue, each.lane.name) for each in whole] == keys
    assert [each.lane.slots for each in whole] == list(range(len(keys), 0, -1))
    for limit in (1, 2, 7, len(keys), len(keys) + 1):
        assert await lanes_of(another_store, limit) == whole


async def test_a_listing_goes_on_after_a_lane_that_is_gone(store: Store) -> None:
    for name in "abcd":
        await put(store, name, spec=spec_in(Lane(name, slots=1)))
    page = await store.lanes(2)
    assert page.cursor is not None
    seen = [each.lane.name for each in page.lanes]
    assert await store.delete(["a", "b"]) == {"a", "b"}
    await store.prune(100)
    cursor: str | None = page.cursor
    while cursor is not None:
        page = await store.lanes(2, cursor)
        seen += [each.lane.name for each in page.lanes]
        cursor = page.cursor
    assert [name for name in seen if name in "cd"] == ["c", "d"]


async def test_a_cursor_that_no_listing_gave_is_refused(store: Store) -> None:
    await put(store, "a", "b", spec=spec_in(TWO))
    of_jobs = (await store.find(JobQuery(limit=1))).cursor
    assert of_jobs is not None
    for cursor in ("", "x", "nonsense", "é", of_jobs):
        with raises(InvalidOption):
            await store.lanes(10, cursor)
