"""Since when the first jobs in line wait."""

from __future__ import annotations

from ...core.lane import Lane
from ...core.model import Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, bring, claim, claim_one, finish, put, state_of


async def test_only_queues_with_pending_jobs_that_are_asked_for_are_told(
    store: Store, clock: FakeClock
) -> None:
    assert await store.oldest([]) == {}
    assert await store.oldest(["a", "unknown"]) == {}
    await put(store, "one", queue="a")
    await put(store, "two", queue="b")
    assert await store.oldest([]) == {}
    assert await store.oldest(["a", "unknown"]) == {"a": clock()}
    assert await store.oldest(["b", "a", "b"]) == {"a": clock(), "b": clock()}


async def test_it_is_the_time_of_the_first_in_line(store: Store, clock: FakeClock) -> None:
    times = []
    for id in "abc":
        times.append(clock())
        await put(store, id)
        clock.advance(1)
    for time in times:
        assert await store.oldest(["default"]) == {"default": time}
        await claim_one(store)
    assert await store.oldest(["default"]) == {}


async def test_the_earliest_of_all_priorities_counts(store: Store, clock: FakeClock) -> None:
    begun = clock()
    for n, priority in enumerate((50, 0, 100, 75)):
        clock.now = begun + n * 1_000
        await put(store, f"first-{priority}", f"second-{priority}", priority=priority)
    assert await store.oldest(["default"]) == {"default": begun}
    assert await store.cancel(["first-50"]) == {"first-50"}
    assert await store.oldest(["default"]) == {"default": begun}
    assert await store.cancel(["second-50"]) == {"second-50"}
    assert await store.oldest(["default"]) == {"default": begun + 1_000}
    assert len(await claim(store, 4)) == 4
    assert await store.oldest(["default"]) == {"default": begun + 1_000}


async def test_every_priority_can_have_the_earliest(store: Store, clock: FakeClock) -> None:
    begun = clock()
    for priority in range(101):
        clock.now = begun + abs(priority - 37)
        await put(store, f"job-{priority}", priority=priority)
    assert await store.oldest(["default"]) == {"default": begun}
    assert await store.cancel(["job-37"]) == {"job-37"}
    assert await store.oldest(["default"]) == {"default": begun + 1}


async def test_jobs_that_wait_for_their_time_do_not_count(store: Store, clock: FakeClock) -> None:
    await bring(store, "tried", State.RETRY)
    await bring(store, "dead", State.DEAD)
    await bring(store, "running", State.ACTIVE)
    await bring(store, "later", State.SCHEDULED)
    assert await store.oldest(["default"]) == {}
    clock.advance(5)
    await put(store, "now")
    assert await store.oldest(["default"]) == {"default": clock()}


async def test_a_job_whose_time_has_come_counts_from_then_on(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "tried")
    assert await finish(store, await claim_one(store), State.RETRY, delay=2_000, error=BOOM)
    await put(store, "later", delay=1_000)
    due = clock() + 1_000
    clock.advance(10)
    # Made pending by this claim, both of them, and one is handed out.
    assert (await claim_one(store)).id == "later"
    assert await state_of(store, "tried") is State.PENDING
    assert await store.oldest(["default"]) == {"default": due + 1_000}


async def test_jobs_of_a_paused_queue_wait_too(store: Store, clock: FakeClock) -> None:
    begun = clock()
    await put(store, "a")
    await store.pause("default")
    clock.advance(60)
    assert await store.oldest(["default"]) == {"default": begun}


async def test_those_that_wait_in_a_lane_do_not_count(store: Store, clock: FakeClock) -> None:
    begun = clock()
    spec = Spec("work", b"", lane=Lane("l", slots=1))
    await put(store, "a", "b", spec=spec)
    assert await store.oldest(["default"]) == {"default": begun}
    first = await claim_one(store)
    assert await store.oldest(["default"]) == {}
    clock.advance(1)
    assert await finish(store, first, State.COMPLETED)
    assert await store.oldest(["default"]) == {"default": begun}


async def test_names_of_queues_are_told_apart(store: Store, clock: FakeClock) -> None:
    begun = clock()
    names = ["q", "Q", "q:1", "q-é", "鍵", "{q}"]
    for n, name in enumerate(names):
        clock.now = begun + n
        await put(store, f"job-{n}", queue=name)
    assert await store.oldest(names) == {name: begun + n for n, name in enumerate(names)}
    assert await store.oldest(["é", "q é "]) == {}
