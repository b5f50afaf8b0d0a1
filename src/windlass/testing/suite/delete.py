"""Deleting: everything but an active job, and all trace of it."""

from __future__ import annotations

from ...core.model import Receipt
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    LEASE,
    REACHABLE,
    bring,
    claim,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    listing,
    new_job,
    put,
    state_of,
)


async def test_every_job_but_an_active_one_can_be_deleted(store: Store) -> None:
    for state in set(REACHABLE) - {State.ACTIVE}:
        await bring(store, state, state, queue=state)
        assert await store.delete([state]) == {state}
        assert await state_of(store, state) is None, state
    assert list(await store.queues()) == []
    assert await listing(store) == []


async def test_an_active_job_is_refused(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await store.delete(["a"]) == frozenset()
    assert await job_of(store, "a") == job
    assert await finish(store, job, State.COMPLETED)


async def test_a_deleted_job_never_comes_back(store: Store, clock: FakeClock) -> None:
    for state in (State.SCHEDULED, State.RETRY, State.PENDING):
        await bring(store, state, state)
        assert await store.delete([state]) == {state}
    clock.advance(365 * 24 * 3600)
    assert await claim(store) == []
    assert list(await store.rescue(10, LEASE, "w")) == []
    assert await store.prune(10) == 0


async def test_a_deleted_id_can_be_inserted_anew(store: Store) -> None:
    for state in set(REACHABLE) - {State.ACTIVE}:
        await bring(store, "a", state)
        assert await store.delete(["a"]) == {"a"}
        assert await store.insert([new_job("a", priority=1)]) == [Receipt("a")]
        job = await job_of(store, "a")
        assert (job.state, job.priority, job.attempt) == (State.PENDING, 1, 0)
        assert (job.error, job.result, job.worker, job.finished_at) == (None,) * 4
        assert await store.delete(["a"]) == {"a"}


async def test_a_namesake_stands_at_its_own_place(store: Store) -> None:
    await put(store, "a", "b", priority=90)
    assert await store.delete(["a"]) == {"a"}
    await put(store, "a")
    await put(store, "c")
    assert ids(await claim(store)) == ["b", "a", "c"]


async def test_a_namesake_comes_at_its_own_time(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=1_000)
    assert await store.delete(["a"]) == {"a"}
    await put(store, "a", delay=5_000)
    clock.advance(1)
    assert await claim(store) == []
    clock.advance(4)
    assert ids(await claim(store)) == ["a"]


async def test_a_namesake_is_kept_for_its_own_time(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.CANCELLED)
    assert await store.delete(["a"]) == {"a"}
    await put(store, "a")
    clock.advance(365 * 24 * 3600)
    assert await store.prune(10) == 0
    assert await state_of(store, "a") is State.PENDING


async def test_deleting_twice(store: Store) -> None:
    await put(store, "a", "b")
    assert await store.delete(["a", "a"]) == {"a"}
    assert await store.delete(["a"]) == frozenset()
    assert await counts(store) == {State.PENDING: 1}


async def test_deleting_the_unknown(store: Store) -> None:
    assert await store.delete(["nobody"]) == frozenset()
    assert await store.delete([]) == frozenset()


async def test_a_mixed_batch(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    gone = {str(state) for state in REACHABLE if state is not State.ACTIVE}
    assert await store.delete([*REACHABLE, "nobody"]) == gone
    assert set(await store.get(list(REACHABLE))) == {State.ACTIVE}


async def test_a_thousand_at_once(store: Store) -> None:
    names = [f"job-{n}" for n in range(1_000)]
    await put(store, *names)
    active = set(ids(await claim(store, 300)))
    assert active
    assert await store.delete(names) == set(names) - active
    assert await counts(store) == {State.ACTIVE: len(active)}


async def test_only_jobs_in_the_states_asked_for_are_deleted(store: Store) -> None:
    await bring(store, "dead", State.DEAD, queue="q1")
    await bring(store, "waiting", State.PENDING, queue="q2")
    await bring(store, "running", State.ACTIVE, queue="q3")
    ids = ["dead", "waiting", "running"]
    assert await store.delete(ids, frozenset({State.DEAD, State.ACTIVE})) == {"dead"}
    assert await state_of(store, "waiting") is State.PENDING
    assert await state_of(store, "running") is State.ACTIVE
