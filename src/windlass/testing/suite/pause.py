"""Pausing: no claims from the queue, and everything else as ever."""

from __future__ import annotations

from ...core.model import QueueStats
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    LEASE,
    claim,
    claim_one,
    finish,
    ids,
    job_of,
    put,
    state_of,
)


async def test_a_paused_queue_gives_nothing(store: Store) -> None:
    await put(store, "a")
    await store.pause("default")
    assert await claim(store) == []
    assert await state_of(store, "a") is State.PENDING


async def test_every_worker_is_held(store: Store, another_store: Store) -> None:
    await put(store, "a")
    await store.pause("default")
    assert await claim(another_store, worker="w2") == []
    await another_store.resume("default")
    assert ids(await claim(store, worker="w1")) == ["a"]


async def test_the_other_queues_go_on(store: Store) -> None:
    await put(store, "a", queue="a")
    await put(store, "b", queue="b")
    await store.pause("a")
    assert ids(await store.claim({"a": 9, "b": 9}, 9, LEASE, "w")) == ["b"]


async def test_a_paused_queue_takes_jobs(store: Store) -> None:
    await store.pause("default")
    await put(store, "a")
    await put(store, "b", delay=1_000)
    assert await state_of(store, "a") is State.PENDING
    assert await state_of(store, "b") is State.SCHEDULED


async def test_resuming_brings_all_in_order(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await put(store, "b", delay=1_000)
    await store.pause("default")
    await put(store, "c", priority=90)
    clock.advance(5)
    await store.resume("default")
    assert ids(await claim(store)) == ["c", "a", "b"]


async def test_an_active_job_of_a_paused_queue_goes_on(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    job = await claim_one(store)
    await store.pause("default")
    clock.advance(1)
    assert await store.renew([job.lease], LEASE) == {"a"}
    assert (await job_of(store, "a")).lease_until == clock() + LEASE
    assert await finish(store, job, State.COMPLETED)
    assert await state_of(store, "a") is State.COMPLETED


async def test_a_job_released_into_a_paused_queue_waits(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    await store.pause("default")
    assert await finish(store, job, State.PENDING, refund=True)
    assert await claim(store) == []
    await store.resume("default")
    assert ids(await claim(store)) == ["a"]


async def test_jobs_of_a_paused_queue_can_be_handled(store: Store) -> None:
    await put(store, *"abc")
    await store.pause("default")
    assert await store.cancel(["a"]) == {"a"}
    assert await store.replay(["a"]) == {"a"}
    assert await store.delete(["b"]) == {"b"}
    await store.resume("default")
    assert ids(await claim(store)) == ["c", "a"]


async def test_pausing_twice_is_pausing_once(store: Store) -> None:
    await put(store, "a")
    await store.pause("default")
    await store.pause("default")
    await store.resume("default")
    assert ids(await claim(store)) == ["a"]


async def test_resuming_what_is_not_paused(store: Store) -> None:
    await store.resume("default")
    assert list(await store.queues()) == []


async def test_a_paused_queue_is_listed_even_if_empty(store: Store) -> None:
    await store.pause("empty")
    assert list(await store.queues()) == [QueueStats("empty", {}, paused=True)]
    await store.resume("empty")
    assert list(await store.queues()) == []


async def test_the_listing_says_which_queues_are_paused(store: Store) -> None:
    await put(store, "a", queue="a")
    await put(store, "b", queue="b")
    await store.pause("b")
    assert list(await store.queues()) == [
        QueueStats("a", {State.PENDING: 1}),
        QueueStats("b", {State.PENDING: 1}, paused=True),
    ]


async def test_a_pause_outlives_the_jobs(store: Store) -> None:
    await put(store, "a")
    await store.pause("default")
    assert await store.delete(["a"]) == {"a"}
    await put(store, "b")
    assert await claim(store) == []
