"""Claiming: how many jobs a worker gets, from where, and what a claim writes."""

from __future__ import annotations

from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    LEASE,
    bring,
    claim,
    claim_all,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    put,
    state_of,
)


async def test_a_claimed_job_is_active_and_leased(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    clock.advance(1)
    [job] = await store.claim({"default": 10}, 10, 5_000, "me")
    assert (job.id, job.state, job.worker, job.attempt) == ("a", State.ACTIVE, "me", 1)
    assert (job.lease_until, job.started_at) == (clock() + 5_000, clock())
    assert await job_of(store, "a") == job


async def test_a_claim_gives_the_whole_job(store: Store) -> None:
    await put(store, "a", priority=7, unique="k", queue="mail")
    before = await job_of(store, "a")
    [job] = await claim(store, queue="mail")
    assert (job.spec, job.queue, job.priority) == (before.spec, "mail", 7)
    assert (job.unique, job.created_at, job.due) == ("k", before.created_at, before.due)


async def test_nothing_is_claimed_from_nothing(store: Store) -> None:
    assert await claim(store) == []
    assert await claim(store, queue="nobody knows it") == []
    assert list(await store.claim({}, 10, LEASE, "w")) == []
    assert list(await store.queues()) == []


async def test_the_limit_holds(store: Store) -> None:
    await put(store, *"abcde")
    assert len(await claim(store, 2)) == 2
    assert len(await claim(store, 2)) == 2
    assert len(await claim(store, 2)) == 1
    assert await claim(store, 2) == []


async def test_a_limit_of_none_claims_nothing(store: Store) -> None:
    await put(store, "a")
    assert await claim(store, 0) == []
    assert list(await store.claim({"default": 10}, 0, LEASE, "w")) == []
    assert await state_of(store, "a") is State.PENDING


async def test_no_job_is_claimed_twice(store: Store) -> None:
    await put(store, *"abc")
    first, second = await claim(store, 2), await claim(store, 2)
    assert ids(first) + ids(second) == ["a", "b", "c"]


async def test_only_the_queues_named_give_jobs(store: Store) -> None:
    await put(store, "a", queue="one")
    await put(store, "b", queue="two")
    assert ids(await claim(store, queue="two")) == ["b"]
    assert await state_of(store, "a") is State.PENDING


async def test_queues_give_in_the_order_named(store: Store) -> None:
    await put(store, "a1", "a2", queue="a")
    await put(store, "b1", "b2", queue="b")
    assert ids(await store.claim({"b": 9, "a": 9}, 3, LEASE, "w")) == ["b1", "b2", "a1"]


async def test_queues_go_before_priorities(store: Store) -> None:
    await put(store, "low", queue="first", priority=0)
    await put(store, "high", queue="second", priority=100)
    claimed = await store.claim({"first": 9, "second": 9}, 9, LEASE, "w")
    assert ids(claimed) == ["low", "high"]


async def test_each_queue_has_its_cap(store: Store) -> None:
    await put(store, "a1", "a2", "a3", queue="a")
    await put(store, "b1", "b2", "b3", queue="b")
    assert ids(await store.claim({"a": 1, "b": 2}, 9, LEASE, "w")) == ["a1", "b1", "b2"]


async def test_a_cap_of_none_gives_nothing(store: Store) -> None:
    await put(store, "a", queue="a")
    await put(store, "b", queue="b")
    assert ids(await store.claim({"a": 0, "b": 9}, 9, LEASE, "w")) == ["b"]


async def test_many_queues_at_once(store: Store) -> None:
    names = [f"q{n:03}" for n in range(100)]
    for name in names:
        await put(store, name, queue=name)
    claimed = await store.claim(dict.fromkeys(names, 1), 100, LEASE, "w")
    assert ids(claimed) == names


async def test_each_run_counts_as_an_attempt(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    for attempt in (1, 2, 3):
        job = await claim_one(store)
        assert job.attempt == attempt
        assert await finish(store, job, State.RETRY, delay=1_000, error=BOOM)
        clock.advance(1)


async def test_the_fence_grows_with_every_claim(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    last = 0
    for state in (State.RETRY, State.SCHEDULED, State.PENDING, State.RETRY):
        job = await claim_one(store)
        assert job.fence > last
        last = job.fence
        assert await finish(store, job, state)


async def test_the_fence_grows_across_a_rescue(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    first = await claim_one(store)
    clock.advance(60)
    [rescued] = await store.rescue(1, LEASE, "w2")
    assert rescued.fence > first.fence
    assert await finish(store, rescued, State.PENDING)
    assert (await claim_one(store)).fence > rescued.fence


async def test_the_fence_grows_across_a_replay(store: Store) -> None:
    for state in (State.DEAD, State.CANCELLED):
        await put(store, state)
        first = await claim_one(store)
        assert await finish(store, first, state)
        assert await store.replay([state]) == {state}
        assert (await claim_one(store)).fence > first.fence


async def test_the_fence_grows_even_if_the_job_was_deleted(store: Store) -> None:
    await put(store, "a")
    first = await claim_one(store)
    assert await finish(store, first, State.COMPLETED)
    assert await store.delete(["a"]) == {"a"}
    await put(store, "a")
    second = await claim_one(store)
    assert second.fence > first.fence
    assert not await finish(store, first, State.COMPLETED)


async def test_only_waiting_jobs_are_claimed(store: Store) -> None:
    for state in (State.SCHEDULED, State.RETRY, State.COMPLETED, State.DEAD, State.CANCELLED):
        await bring(store, state, state)
    await bring(store, "active", State.ACTIVE)
    assert await claim(store) == []
    assert sum((await counts(store)).values()) == 6


async def test_a_big_claim(store: Store) -> None:
    names = [f"job-{n:04}" for n in range(1_000)]
    await put(store, *names)
    assert ids(await claim_all(store, limit=1_000)) == names
    assert await counts(store) == {State.ACTIVE: 1_000}
