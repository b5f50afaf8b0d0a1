"""Pruning: finished jobs go when they were kept long enough, and dead ones never."""

from __future__ import annotations

from ...core.model import DAY_MS, Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BRIEF,
    REACHABLE,
    bring,
    claim_one,
    counts,
    finish,
    listing,
    put,
    state_of,
)

PRUNABLE = (State.COMPLETED, State.CANCELLED)


async def test_nothing_to_prune(store: Store) -> None:
    assert await store.prune(100) == 0


async def test_a_job_is_kept_as_long_as_it_asked(store: Store, clock: FakeClock) -> None:
    for state in PRUNABLE:
        await bring(store, state, state, BRIEF)
        clock.now += 999
        assert await store.prune(100) == 0
        assert await state_of(store, state) is state
        clock.now += 1
        assert await store.prune(100) == 1
        assert await state_of(store, state) is None


async def test_keep_counts_from_the_end_of_the_job(store: Store, clock: FakeClock) -> None:
    await put(store, "a", spec=BRIEF)
    job = await claim_one(store)
    clock.advance(3600)
    assert await finish(store, job, State.COMPLETED)
    assert await store.prune(100) == 0
    clock.advance(1)
    assert await store.prune(100) == 1


async def test_each_job_has_its_own_keep(store: Store, clock: FakeClock) -> None:
    for days in (3, 1, 2):
        await bring(store, f"day-{days}", State.COMPLETED, Spec("work", b"", keep=days * DAY_MS))
    for days in (1, 2, 3):
        clock.advance(24 * 3600)
        assert await store.prune(100) == 1
        assert await state_of(store, f"day-{days}") is None
    assert await listing(store) == []


async def test_only_completed_and_cancelled_jobs_are_pruned(store: Store, clock: FakeClock) -> None:
    for state in REACHABLE:
        await bring(store, state, state, BRIEF, queue=state)
    clock.advance(10 * 365 * 24 * 3600)
    assert await store.prune(100) == len(PRUNABLE)
    for state in REACHABLE:
        assert await state_of(store, state) is (None if state in PRUNABLE else state)


async def test_the_limit_holds(store: Store, clock: FakeClock) -> None:
    names = [f"job-{n}" for n in range(10)]
    await put(store, *names, spec=BRIEF)
    await store.cancel(names)
    clock.advance(1)
    assert await store.prune(0) == 0
    assert await store.prune(4) == 4
    assert await counts(store) == {State.CANCELLED: 6}
    assert await store.prune(4) == 4
    assert await store.prune(4) == 2
    assert await store.prune(4) == 0
    assert list(await store.queues()) == []


async def test_pruning_leaves_no_trace(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.COMPLETED, BRIEF)
    await bring(store, "b", State.COMPLETED)
    clock.advance(1)
    assert await store.prune(100) == 1
    assert await counts(store) == {State.COMPLETED: 1}
    assert [job.id for job in await listing(store)] == ["b"]


async def test_a_replayed_job_is_kept_from_its_new_end(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.CANCELLED, BRIEF)
    assert await store.replay(["a"]) == {"a"}
    clock.advance(5)
    assert await store.prune(100) == 0
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await store.prune(100) == 0
    clock.advance(1)
    assert await store.prune(100) == 1


async def test_a_thousand(store: Store, clock: FakeClock) -> None:
    names = [f"job-{n}" for n in range(1_000)]
    await put(store, *names, spec=BRIEF)
    await store.cancel(names)
    clock.advance(1)
    assert await store.prune(1_000) == 1_000
    assert list(await store.queues()) == []
