"""Dead jobs stay, and can be sent again with all their attempts."""

from __future__ import annotations

from ...core.states import REPLAYABLE, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
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


async def test_a_replayed_job_starts_over(store: Store, clock: FakeClock) -> None:
    for state in REPLAYABLE:
        await bring(store, state, state, queue=state)
        clock.advance(5)
        assert await store.replay([state]) == {state}
        job = await job_of(store, state)
        assert (job.state, job.attempt, job.due) == (State.PENDING, 0, clock())
        assert (job.finished_at, job.lease_until) == (None, None)
        assert await counts(store, state) == {State.PENDING: 1}
        assert (await claim_one(store, queue=state)).attempt == 1


async def test_a_replayed_job_remembers_its_error(store: Store) -> None:
    await bring(store, "a", State.DEAD)
    assert await store.replay(["a"]) == {"a"}
    assert (await claim_one(store)).error == BOOM


async def test_only_dead_and_cancelled_jobs_can_be_replayed(store: Store) -> None:
    for state in set(REACHABLE) - REPLAYABLE:
        await bring(store, state, state, queue=state)
        before = await job_of(store, state)
        assert await store.replay([state]) == frozenset(), state
        assert await job_of(store, state) == before


async def test_replaying_the_unknown(store: Store) -> None:
    assert await store.replay(["nobody"]) == frozenset()
    assert await store.replay([]) == frozenset()
    assert await state_of(store, "nobody") is None


async def test_replaying_twice(store: Store) -> None:
    await bring(store, "a", State.DEAD)
    assert await store.replay(["a", "a"]) == {"a"}
    assert await store.replay(["a"]) == frozenset()
    assert await counts(store) == {State.PENDING: 1}
    assert len(await claim(store)) == 1


async def test_a_mixed_batch(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    assert await store.replay([*REACHABLE, "nobody"]) == {str(state) for state in REPLAYABLE}


async def test_refused_while_another_holds_the_key(store: Store) -> None:
    for state in REPLAYABLE:
        await bring(store, f"{state}-old", state, unique=state)
        before = await job_of(store, f"{state}-old")
        await put(store, f"{state}-new", unique=state, delay=1_000)
        assert await store.replay([f"{state}-old"]) == frozenset()
        assert await job_of(store, f"{state}-old") == before


async def test_allowed_once_the_key_is_free(store: Store) -> None:
    await bring(store, "old", State.DEAD, unique="k")
    await put(store, "new", unique="k")
    assert await store.replay(["old"]) == frozenset()
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await store.replay(["old"]) == {"old"}


async def test_the_first_of_two_with_one_key_wins(store: Store) -> None:
    await bring(store, "a", State.DEAD, unique="k")
    await bring(store, "b", State.CANCELLED, unique="k")
    assert await store.replay(["b", "a"]) == {"b"}
    assert await state_of(store, "a") is State.DEAD


async def test_one_refused_does_not_affect_the_others(store: Store) -> None:
    await bring(store, "a", State.DEAD)
    await bring(store, "b", State.DEAD, unique="k")
    await bring(store, "c", State.DEAD)
    await put(store, "holder", unique="k", delay=1_000)
    assert await store.replay(["a", "b", "c"]) == {"a", "c"}


async def test_dead_jobs_stay(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.DEAD)
    clock.advance(10 * 365 * 24 * 3600)
    assert await store.prune(100) == 0
    assert list(await store.rescue(100, LEASE, "w")) == []
    assert await claim(store) == []
    assert (await job_of(store, "a")).error == BOOM


async def test_a_replayed_job_is_not_pruned_for_its_past(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.CANCELLED)
    assert await store.replay(["a"]) == {"a"}
    clock.advance(10 * 365 * 24 * 3600)
    assert await store.prune(100) == 0
    assert await state_of(store, "a") is State.PENDING


async def test_a_replayed_job_completes_like_any_other(store: Store) -> None:
    await bring(store, "a", State.DEAD)
    assert await store.replay(["a"]) == {"a"}
    assert await finish(store, await claim_one(store), State.COMPLETED, result=b"ok")
    job = await job_of(store, "a")
    assert (job.state, job.result, job.attempt) == (State.COMPLETED, b"ok", 1)
