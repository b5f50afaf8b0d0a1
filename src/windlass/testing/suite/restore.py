"""Restoring: jobs of another store are taken in as they were, once each."""

from __future__ import annotations

import msgspec

from ...core.model import Job, Lease, Progress, Receipt, Spec
from ...core.states import FINISHED, LIVE, State
from ...errors import InvalidOption
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    BRIEF,
    LEASE,
    REACHABLE,
    WORK,
    bring,
    claim,
    claim_all,
    claim_one,
    counts,
    finish,
    foreign,
    ids,
    job_of,
    listing,
    new_job,
    put,
    raises,
    state_of,
)

MOVABLE = tuple(state for state in REACHABLE if state is not State.ACTIVE)
FAR_FENCE = 1 << 50
"""Greater than any that this store has given, and one that every engine can count on from."""

replace = msgspec.structs.replace


async def pack(store: Store, *names: str) -> list[Job]:
    """Take jobs out of a store, as one that moves them does."""
    found = await store.get(names)
    assert await store.delete(names) == set(names)
    return [replace(found[name], ref=0) for name in names]


async def restored(store: Store, *jobs: Job) -> None:
    """Restore jobs, none of which the store has."""
    assert await store.restore(jobs) == [Receipt(job.id) for job in jobs]


async def test_a_job_of_any_state_is_as_it_was(store: Store) -> None:
    for state in MOVABLE:
        await bring(store, state, state, queue=state, unique=state, priority=70)
    before = await pack(store, *MOVABLE)
    await restored(store, *before)
    after = await store.get(MOVABLE)
    assert [replace(after[job.id], ref=0) for job in before] == before
    for state in MOVABLE:
        assert await counts(store, state) == {state: 1}
    assert sorted(ids(await listing(store))) == sorted(MOVABLE)


async def test_error_result_and_progress_come_along(store: Store) -> None:
    await put(store, "a", spec=Spec("work", b"\x00" * 10_000, labels={"a": "b"}))
    job = await claim_one(store)
    await store.report([(job.lease, Progress(50.0, "half"))])
    assert await finish(store, job, State.RETRY, error=BOOM)
    job = await claim_one(store)
    await store.report([(job.lease, Progress(99.0, "nearly"))])
    assert await finish(store, job, State.COMPLETED, result=b"\xff\x00")
    [before] = await pack(store, "a")
    assert (before.error, before.result, before.attempt) == (BOOM, b"\xff\x00", 2)
    assert before.progress == Progress(99.0, "nearly")
    await restored(store, before)
    assert replace(await job_of(store, "a"), ref=0) == before


async def test_an_empty_result_is_not_none(store: Store) -> None:
    await restored(store, foreign("a", State.COMPLETED, finished_at=1_600_000_000_001, result=b""))
    assert (await job_of(store, "a")).result == b""


async def test_nothing_is_a_batch_too(store: Store) -> None:
    assert list(await store.restore([])) == []


async def test_restoring_again_changes_nothing(store: Store) -> None:
    for state in MOVABLE:
        await bring(store, state, state, queue=state)
    jobs = await pack(store, *MOVABLE)
    await restored(store, *jobs)
    receipts = await store.restore([replace(job, attempt=7) for job in jobs])
    assert receipts == [Receipt(job.id, duplicate=True) for job in jobs]
    after = await store.get(MOVABLE)
    assert [replace(after[job.id], ref=0) for job in jobs] == jobs
    assert await counts(store, State.PENDING) == {State.PENDING: 1}


async def test_a_job_that_runs_here_is_left_alone(store: Store) -> None:
    [packed] = [foreign("a", attempt=1, fence=3, worker="w0", started_at=1_600_000_000_001)]
    await restored(store, packed)
    job = await claim_one(store)
    assert await store.restore([packed]) == [Receipt("a", duplicate=True)]
    assert await finish(store, job, State.COMPLETED)
    assert await state_of(store, "a") is State.COMPLETED


async def test_the_first_of_two_in_a_batch_wins(store: Store) -> None:
    receipts = await store.restore([foreign("a", priority=10), foreign("a", priority=20)])
    assert receipts == [Receipt("a"), Receipt("a", duplicate=True)]
    assert (await job_of(store, "a")).priority == 10
    assert await counts(store) == {State.PENDING: 1}


async def test_a_live_job_takes_its_unique_key_along(store: Store) -> None:
    for state in LIVE - {State.ACTIVE, State.BLOCKED}:
        await bring(store, state, state, queue=state, unique=f"{state}-key")
        await restored(store, *await pack(store, state))
        receipts = await store.insert([new_job("probe", unique=f"{state}-key")])
        assert receipts == [Receipt(state, duplicate=True)], state


async def test_a_key_that_is_held_is_not_taken_away(store: Store) -> None:
    await put(store, "holder", unique="k")
    receipts = await store.restore([foreign("a", unique="k"), foreign("b", unique="l")])
    assert receipts == [Receipt("holder", duplicate=True), Receipt("b")]
    assert await state_of(store, "a") is None
    assert ids(await claim_all(store)) == ["holder", "b"]


async def test_the_first_of_a_batch_gets_the_key(store: Store) -> None:
    receipts = await store.restore([foreign("a", unique="k"), foreign("b", unique="k")])
    assert receipts == [Receipt("a"), Receipt("a", duplicate=True)]
    assert await state_of(store, "b") is None


async def test_a_finished_job_needs_no_key_and_holds_none(store: Store) -> None:
    await put(store, "holder", unique="k")
    for state in FINISHED:
        await restored(store, foreign(state, state, unique="k", finished_at=1_600_000_000_001))
    assert await store.insert([new_job("x", unique="k")]) == [Receipt("holder", duplicate=True)]
    assert await store.delete(["holder"]) == {"holder"}
    assert await store.insert([new_job("x", unique="k")]) == [Receipt("x")]


async def test_many_finished_jobs_may_have_had_one_key(store: Store) -> None:
    names = [f"job-{n}" for n in range(20)]
    jobs = [foreign(id, State.DEAD, unique="k", finished_at=1_600_000_000_001) for id in names]
    await restored(store, *jobs, foreign("live", unique="k"))
    assert await counts(store) == {State.DEAD: 20, State.PENDING: 1}
    assert await store.replay(["job-0"]) == frozenset()
    assert await store.cancel(["live"]) == {"live"}
    assert await store.replay(["job-0"]) == {"job-0"}


async def test_ending_a_restored_job_frees_its_names(store: Store) -> None:
    await restored(store, foreign("a", unique="k"), foreign("b", unique="l"))
    assert await finish(store, await claim_one(store), State.DEAD)
    assert await store.delete(["a", "b"]) == {"a", "b"}
    await put(store, "a", unique="l")
    await put(store, "b", unique="k")


async def test_pending_jobs_go_to_the_end_in_the_order_given(store: Store) -> None:
    await put(store, "here")
    jobs = [foreign(name) for name in ("d", "b", "c")] + [foreign("a", priority=90)]
    await restored(store, *jobs)
    await put(store, "later")
    assert ids(await claim_all(store)) == ["a", "here", "d", "b", "c", "later"]


async def test_jobs_with_a_time_are_due_at_it(store: Store, clock: FakeClock) -> None:
    soon, past = clock.now + 5_000, clock.now - 5_000
    await restored(
        store,
        foreign("late", State.SCHEDULED, due=soon),
        foreign("retry", State.RETRY, due=soon - 1, attempt=1, error=BOOM),
        foreign("due", State.SCHEDULED, due=past),
    )
    assert [job.id for job in await listing(store, states=(State.SCHEDULED,))] == ["due", "late"]
    assert ids(await claim(store)) == ["due"]
    clock.advance(5)
    jobs = await claim(store)
    assert [(job.id, job.attempt) for job in jobs] == [("retry", 2), ("late", 1)]


async def test_a_pending_job_of_a_clock_that_is_ahead_is_pending(
    store: Store, clock: FakeClock
) -> None:
    await restored(store, foreign("a", created_at=clock.now + 60_000, due=clock.now + 60_000))
    assert await state_of(store, "a") is State.PENDING
    assert ids(await claim(store)) == ["a"]


async def test_what_is_kept_expires_when_it_would_have(store: Store, clock: FakeClock) -> None:
    for state in (State.COMPLETED, State.CANCELLED):
        await restored(store, foreign(f"{state}-b", state, BRIEF, finished_at=clock.now - 500))
        await restored(store, foreign(f"{state}-u", state, WORK, finished_at=clock.now - 500))
    await restored(store, foreign("dead", State.DEAD, BRIEF, finished_at=1_600_000_000_001))
    clock.now += 499
    assert await store.prune(10) == 0
    clock.now += 1
    assert await store.prune(10) == 2
    assert await counts(store) == {State.COMPLETED: 1, State.CANCELLED: 1, State.DEAD: 1}
    clock.now += WORK.keep - 1_001
    assert await store.prune(10) == 0
    clock.now += 1
    assert await store.prune(10) == 2
    assert await counts(store) == {State.DEAD: 1}


async def test_finished_jobs_are_listed_among_the_others(store: Store, clock: FakeClock) -> None:
    await bring(store, "here", State.DEAD)
    old, young = clock.now - 1_000, clock.now + 1_000
    await restored(store, foreign("old", State.DEAD, finished_at=old))
    await restored(store, foreign("young", State.DEAD, finished_at=young))
    assert ids(await listing(store, states=(State.DEAD,))) == ["young", "here", "old"]


async def test_a_dead_job_can_be_replayed(store: Store) -> None:
    dead = foreign("a", State.DEAD, finished_at=1_600_000_000_001, attempt=4, error=BOOM, fence=9)
    await restored(store, replace(dead, worker="w0", started_at=1_600_000_000_000))
    assert await store.replay(["a"]) == {"a"}
    job = await claim_one(store)
    assert (job.attempt, job.error) == (1, BOOM)
    assert job.fence > 9


async def test_the_next_fence_is_greater_than_the_one_that_came_along(store: Store) -> None:
    worn = foreign("a", fence=FAR_FENCE, worker="w0", attempt=1, started_at=1_600_000_000_001)
    await restored(store, worn)
    assert (await job_of(store, "a")).fence == FAR_FENCE
    job = await claim_one(store)
    assert job.fence > FAR_FENCE
    assert await store.renew([Lease("a", FAR_FENCE)], LEASE) == frozenset()
    assert await finish(store, job, State.COMPLETED)


async def test_no_fence_falls_behind_even_if_the_job_is_refused(store: Store) -> None:
    await put(store, "a")
    first = await claim_one(store)
    assert await finish(store, first, State.PENDING)
    worn = foreign("b", fence=first.fence + 5, worker="w0", attempt=1, started_at=1_600_000_000_001)
    await restored(store, worn)
    assert await store.delete(["b"]) == {"b"}
    await put(store, "b", priority=90)
    assert (await claim_one(store)).fence > first.fence + 5


async def test_an_active_job_is_refused_and_the_others_with_it(store: Store) -> None:
    active = foreign("b", State.ACTIVE, fence=1, worker="w0", lease_until=1_600_000_000_001)
    with raises(InvalidOption):
        await store.restore([foreign("a"), active])
    assert await listing(store) == []


async def test_a_paused_queue_takes_jobs_in_and_gives_none(store: Store) -> None:
    await store.pause("default")
    await restored(store, foreign("a"))
    assert await claim(store) == []
    await store.resume("default")
    assert ids(await claim(store)) == ["a"]


async def test_another_handle_sees_them(store: Store, another_store: Store) -> None:
    await restored(store, foreign("a", unique="k"))
    assert ids(await claim(another_store)) == ["a"]


async def test_a_thousand(store: Store) -> None:
    names = [f"job-{n}" for n in range(1_000)]
    jobs = [foreign(id, unique=id if n % 2 else None) for n, id in enumerate(names)]
    await restored(store, *jobs)
    assert await counts(store) == {State.PENDING: 1_000}
    assert ids(await claim_all(store)) == names
