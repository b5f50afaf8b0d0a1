"""Cancelling: from every live state, at once; the lease of an active job ends with it."""

from __future__ import annotations

from ...core.states import FINISHED, LIVE, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    FLEETING,
    LEASE,
    REACHABLE,
    bring,
    claim,
    claim_one,
    counts,
    finish,
    job_of,
    put,
    state_of,
)


async def test_every_live_job_can_be_cancelled(store: Store, clock: FakeClock) -> None:
    for state in LIVE - {State.BLOCKED}:
        await bring(store, state, state, queue=state)
        clock.advance(1)
        assert await store.cancel([state]) == {state}
        job = await job_of(store, state)
        assert (job.state, job.finished_at) == (State.CANCELLED, clock()), state
        assert job.lease_until is None
        assert await counts(store, state) == {State.CANCELLED: 1}


async def test_no_finished_job_can_be_cancelled(store: Store, clock: FakeClock) -> None:
    for state in FINISHED:
        await bring(store, state, state, queue=state)
        before = await job_of(store, state)
        clock.advance(1)
        assert await store.cancel([state]) == frozenset()
        assert await job_of(store, state) == before


async def test_a_cancelled_job_never_runs(store: Store, clock: FakeClock) -> None:
    for state in (State.SCHEDULED, State.RETRY, State.PENDING):
        await bring(store, state, state)
        assert await store.cancel([state]) == {state}
    clock.advance(24 * 3600)
    assert await claim(store) == []


async def test_cancelling_an_active_job_takes_its_lease(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await store.cancel(["a"]) == {"a"}
    assert await store.renew([job.lease], LEASE) == frozenset()
    assert not await finish(store, job, State.COMPLETED, result=b"too late")
    clock.advance(3600)
    assert list(await store.rescue(10, LEASE, "w2")) == []
    cancelled = await job_of(store, "a")
    assert (cancelled.state, cancelled.result) == (State.CANCELLED, None)


async def test_cancelling_a_rescued_job(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await claim_one(store)
    clock.advance(60)
    [job] = await store.rescue(1, LEASE, "w2")
    assert await store.cancel(["a"]) == {"a"}
    assert not await finish(store, job, State.RETRY)


async def test_cancelling_twice(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    assert await store.cancel(["a"]) == {"a"}
    before = await job_of(store, "a")
    clock.advance(1)
    assert await store.cancel(["a"]) == frozenset()
    assert await job_of(store, "a") == before


async def test_naming_a_job_twice(store: Store) -> None:
    await put(store, "a")
    assert await store.cancel(["a", "a"]) == {"a"}
    assert await counts(store) == {State.CANCELLED: 1}


async def test_cancelling_the_unknown(store: Store) -> None:
    assert await store.cancel(["nobody"]) == frozenset()
    assert await store.cancel([]) == frozenset()
    assert await state_of(store, "nobody") is None


async def test_a_mixed_batch(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    live = {str(state) for state in LIVE - {State.BLOCKED}}
    assert await store.cancel([*REACHABLE, "nobody"]) == live
    for state in REACHABLE:
        now = await state_of(store, state)
        assert now is (State.CANCELLED if state in LIVE else state)


async def test_a_cancelled_job_without_keep_leaves_nothing(store: Store) -> None:
    for state in (State.SCHEDULED, State.RETRY, State.PENDING, State.ACTIVE):
        await bring(store, state, state, FLEETING, queue=state)
        assert await store.cancel([state]) == {state}
        assert await state_of(store, state) is None
    assert list(await store.queues()) == []


async def test_a_cancelled_job_keeps_its_history(store: Store) -> None:
    await bring(store, "a", State.RETRY)
    before = await job_of(store, "a")
    assert await store.cancel(["a"]) == {"a"}
    job = await job_of(store, "a")
    assert (job.error, job.attempt, job.started_at) == (before.error, 1, before.started_at)


async def test_a_thousand_at_once(store: Store) -> None:
    names = [f"job-{n}" for n in range(1_000)]
    await put(store, *names)
    await claim(store, 300)
    assert await store.cancel(names) == set(names)
    assert await counts(store) == {State.CANCELLED: 1_000}
