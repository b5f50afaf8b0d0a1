"""Who goes first: priority, then the one that has been pending longest."""

from __future__ import annotations

import random

from ...core.model import Transition
from ...core.states import State
from ...stores.contract import PROMOTE_BATCH, Store
from ..clock import FakeClock
from ..jobs import bring, claim, claim_all, claim_one, finish, ids, new_job, put


async def test_first_in_first_out(store: Store) -> None:
    await put(store, "c", "a")
    await put(store, "b")
    assert ids(await claim(store)) == ["c", "a", "b"]


async def test_the_highest_priority_goes_first(store: Store) -> None:
    for priority in (50, 0, 100, 49, 51):
        await put(store, f"p{priority}", priority=priority)
    assert ids(await claim(store)) == ["p100", "p51", "p50", "p49", "p0"]


async def test_first_in_first_out_within_a_priority(store: Store) -> None:
    await put(store, "low-1", priority=25)
    await put(store, "high-1", priority=75)
    await put(store, "low-2", priority=25)
    await put(store, "high-2", priority=75)
    assert ids(await claim(store)) == ["high-1", "high-2", "low-1", "low-2"]


async def test_a_late_comer_of_high_priority_goes_first(store: Store) -> None:
    await put(store, "a", "b")
    await claim_one(store)
    await put(store, "urgent", priority=90)
    assert ids(await claim(store)) == ["urgent", "b"]


async def test_every_priority_has_its_place(store: Store) -> None:
    priorities = list(range(101))
    random.Random(0).shuffle(priorities)
    await store.insert([new_job(f"p{p:03}", priority=p) for p in priorities])
    assert ids(await claim_all(store)) == [f"p{p:03}" for p in range(100, -1, -1)]


async def test_jobs_come_due_in_the_order_of_their_time(store: Store, clock: FakeClock) -> None:
    await put(store, "third", delay=3_000)
    await put(store, "first", delay=1_000)
    await put(store, "second", delay=2_000)
    clock.advance(5)
    assert ids(await claim(store)) == ["first", "second", "third"]


async def test_jobs_due_at_the_same_time_keep_their_order(store: Store, clock: FakeClock) -> None:
    await put(store, "c", "a", "b", delay=1_000)
    clock.advance(1)
    assert ids(await claim(store)) == ["c", "a", "b"]


async def test_a_due_job_goes_to_the_end_of_the_line(store: Store, clock: FakeClock) -> None:
    await put(store, "late", delay=1_000)
    await put(store, "early")
    clock.advance(2)
    assert ids(await claim(store)) == ["early", "late"]


async def test_a_due_job_keeps_its_priority(store: Store, clock: FakeClock) -> None:
    await put(store, "urgent", delay=1_000, priority=90)
    await put(store, "plain")
    clock.advance(2)
    assert ids(await claim(store)) == ["urgent", "plain"]


async def test_a_retry_goes_to_the_end_and_keeps_its_priority(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "urgent", "again", priority=90)
    await put(store, "plain")
    job = await claim_one(store)
    assert await finish(store, job, State.RETRY, delay=1_000)
    clock.advance(1)
    assert ids(await claim_all(store)) == ["again", "urgent", "plain"]


async def test_retries_and_scheduled_jobs_share_one_order(store: Store, clock: FakeClock) -> None:
    await put(store, "retry")
    assert await finish(store, await claim_one(store), State.RETRY, delay=2_000)
    await put(store, "before", delay=1_000)
    await put(store, "after", delay=3_000)
    clock.advance(3)
    assert ids(await claim(store)) == ["before", "retry", "after"]


async def test_a_released_job_goes_to_the_front(store: Store) -> None:
    await put(store, "a", "b", "c")
    job = await claim_one(store)
    assert await finish(store, job, State.PENDING, refund=True)
    assert ids(await claim(store)) == ["a", "b", "c"]


async def test_the_front_is_that_of_its_own_priority(store: Store) -> None:
    await put(store, "low-1", "low-2", priority=10)
    job = await claim_one(store)
    await put(store, "high", priority=90)
    assert await finish(store, job, State.PENDING, refund=True)
    assert ids(await claim(store)) == ["high", "low-1", "low-2"]


async def test_the_last_one_released_goes_first(store: Store) -> None:
    await put(store, "a", "b", "c")
    first, second = await claim(store, 2)
    for job in (first, second):
        assert await finish(store, job, State.PENDING, refund=True)
    assert ids(await claim(store)) == ["b", "a", "c"]


async def test_a_replayed_job_goes_to_the_end(store: Store) -> None:
    await bring(store, "dead", State.DEAD)
    await put(store, "a", "b")
    assert await store.replay(["dead"]) == {"dead"}
    await put(store, "c")
    assert ids(await claim(store)) == ["a", "b", "dead", "c"]


async def test_jobs_are_replayed_in_the_order_asked(store: Store) -> None:
    for id in ("a", "b", "c"):
        await bring(store, id, State.DEAD)
    assert await store.replay(["c", "a", "b"]) == {"a", "b", "c"}
    assert ids(await claim(store)) == ["c", "a", "b"]


async def test_finishing_others_does_not_disturb_the_line(store: Store) -> None:
    await put(store, *"abcdef")
    jobs = await claim(store, 2)
    await store.finish([Transition(job.id, job.fence, State.COMPLETED) for job in jobs])
    await store.cancel(["d"])
    await store.delete(["e"])
    assert ids(await claim(store)) == ["c", "f"]


async def test_many_that_come_due_at_once_all_come(store: Store, clock: FakeClock) -> None:
    names = [f"job-{n:04}" for n in range(PROMOTE_BATCH + 100)]
    await put(store, *names, delay=1_000)
    clock.advance(1)
    assert ids(await claim_all(store, limit=500)) == names


async def test_many_that_come_due_do_not_hold_up_the_pending(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "urgent", priority=90)
    await put(store, *(f"job-{n:04}" for n in range(PROMOTE_BATCH + 100)), delay=1_000)
    clock.advance(1)
    assert (await claim_one(store)).id == "urgent"
