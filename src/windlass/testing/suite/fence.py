"""Fences: a write from a claim that is over is refused and changes nothing at all."""

from __future__ import annotations

from ...core.model import Job, Lease, Transition
from ...core.states import AFTER_ACTIVE, State
from ...stores.contract import FENCES_A_MILLISECOND, Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    LEASE,
    REACHABLE,
    bring,
    claim,
    claim_one,
    finish,
    job_of,
    put,
    state_of,
)


async def refused(store: Store, late: Job) -> None:
    """Every kind of write by `late` must leave its job, and the counts, as they are."""
    before = dict(await store.get([late.id])), list(await store.queues())
    assert await store.renew([late.lease], LEASE) == frozenset()
    for state in AFTER_ACTIVE:
        move = Transition(
            late.id, late.fence, state, delay=5_000, result=b"late", error=BOOM, refund=True
        )
        assert await store.finish([move]) == frozenset(), state
    assert (dict(await store.get([late.id])), list(await store.queues())) == before


async def test_no_write_after_every_end_of_an_attempt(store: Store) -> None:
    for state in AFTER_ACTIVE:
        await put(store, state, queue=state)
        job = await claim_one(store, queue=state)
        assert await finish(store, job, state, delay=60_000)
        await refused(store, job)


async def test_no_write_after_a_cancel(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await store.cancel(["a"]) == {"a"}
    await refused(store, job)
    assert await state_of(store, "a") is State.CANCELLED


async def test_no_write_while_another_worker_has_the_job(store: Store) -> None:
    await put(store, "a")
    late = await claim_one(store, worker="w1")
    assert await finish(store, late, State.PENDING)
    owner = await claim_one(store, worker="w2")
    await refused(store, late)
    assert await job_of(store, "a") == owner
    assert await finish(store, owner, State.COMPLETED, result=b"mine")
    assert (await job_of(store, "a")).result == b"mine"


async def test_no_write_after_a_rescue(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    late = await claim_one(store)
    clock.advance(60)
    [rescued] = await store.rescue(1, LEASE, "w2")
    await refused(store, late)
    assert await finish(store, rescued, State.RETRY, error=BOOM)
    await refused(store, late)
    await refused(store, rescued)


async def test_no_write_to_a_job_that_left(store: Store) -> None:
    await put(store, "a")
    late = await claim_one(store)
    assert await finish(store, late, State.COMPLETED)
    assert await store.delete(["a"]) == {"a"}
    await refused(store, late)
    assert await state_of(store, "a") is None


async def test_no_write_to_a_namesake(store: Store) -> None:
    await put(store, "a")
    late = await claim_one(store)
    assert await finish(store, late, State.COMPLETED)
    await store.delete(["a"])
    await put(store, "a")
    await refused(store, late)
    await claim_one(store)
    await refused(store, late)


async def test_no_write_without_a_claim(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
        job = await job_of(store, state)
        for fence in {0, 1, job.fence - 1, job.fence + 1} - {job.fence}:
            assert await store.renew([Lease(state, fence)], LEASE) == frozenset()
            move = Transition(state, fence, State.COMPLETED)
            assert await store.finish([move]) == frozenset(), state
        assert await job_of(store, state) == job


async def test_the_fence_of_one_job_is_nothing_to_another(store: Store) -> None:
    await put(store, "a")
    a = await claim_one(store)
    await put(store, "b")
    b = await claim_one(store)
    assert await store.renew([Lease("b", a.fence), Lease("a", b.fence)], LEASE) == frozenset()
    swapped = [Transition("b", a.fence, State.DEAD), Transition("a", b.fence, State.DEAD)]
    assert await store.finish(swapped) == frozenset()
    assert await state_of(store, "a") is State.ACTIVE
    assert await state_of(store, "b") is State.ACTIVE


async def test_a_finish_that_is_repeated_is_refused_and_harmless(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await finish(store, job, State.COMPLETED, result=b"1")
    before = await job_of(store, "a")
    assert not await finish(store, job, State.COMPLETED, result=b"1")
    assert await job_of(store, "a") == before


async def test_the_same_finish_twice_in_a_batch_counts_once(store: Store) -> None:
    await put(store, "a", "b")
    a, _ = await claim(store)
    move = Transition("a", a.fence, State.RETRY, delay=1_000, refund=True)
    assert await store.finish([move, move]) == {"a"}
    job = await job_of(store, "a")
    assert (job.state, job.attempt) == (State.RETRY, 0)


async def test_a_late_write_among_others_affects_only_itself(store: Store) -> None:
    await put(store, *"abc")
    a, late, c = await claim(store)
    assert await finish(store, late, State.PENDING)
    owner = await claim_one(store, worker="w2")
    moves = [Transition(job.id, job.fence, State.COMPLETED) for job in (a, late, c)]
    assert await store.finish(moves) == {"a", "c"}
    assert await job_of(store, "b") == owner
    assert await state_of(store, "a") is State.COMPLETED
    assert await state_of(store, "c") is State.COMPLETED


async def test_a_late_and_a_good_write_to_one_job_in_a_batch(store: Store) -> None:
    await put(store, "a")
    late = await claim_one(store)
    assert await finish(store, late, State.PENDING)
    owner = await claim_one(store)
    moves = [
        Transition("a", late.fence, State.DEAD, error=BOOM),
        Transition("a", owner.fence, State.COMPLETED, result=b"good"),
    ]
    assert await store.finish(moves) == {"a"}
    job = await job_of(store, "a")
    assert (job.state, job.result, job.error) == (State.COMPLETED, b"good", None)


async def test_a_late_and_a_good_renewal_of_one_job_in_a_batch(store: Store) -> None:
    await put(store, "a")
    late = await claim_one(store)
    assert await finish(store, late, State.PENDING)
    owner = await claim_one(store)
    assert await store.renew([owner.lease, late.lease], LEASE) == {"a"}
    assert await store.renew([late.lease, owner.lease], LEASE) == {"a"}


async def test_a_completion_without_a_ref_is_as_good_as_one_with_it(store: Store) -> None:
    await put(store, "a", "b")
    jobs = await claim(store)
    moves = [
        Transition("a", jobs[0].fence, State.COMPLETED, result=b"1"),
        Transition(
            "b", jobs[1].fence, State.COMPLETED, result=b"2", queue="default", ref=jobs[1].ref
        ),
    ]
    assert await store.finish(moves) == {"a", "b"}
    for id, result in (("a", b"1"), ("b", b"2")):
        job = await job_of(store, id)
        assert (job.state, job.result) == (State.COMPLETED, result)


async def test_unknown_ids_are_no_harm(store: Store) -> None:
    assert await store.finish([Transition("nobody", 1, State.COMPLETED)]) == frozenset()
    assert await store.renew([Lease("nobody", 1)], LEASE) == frozenset()
    assert await state_of(store, "nobody") is None
    assert list(await store.queues()) == []


async def test_it_is_never_below_the_clock(store: Store) -> None:
    """So a store that was restored from an old copy gives none that was given since."""
    await put(store, "a", "b")
    now = await store.now()
    first = await claim_one(store)
    second = await claim_one(store)
    assert now * FENCES_A_MILLISECOND <= first.fence < second.fence


async def test_one_that_came_by_a_rescue_is_not_below_the_clock(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    late = await claim_one(store)
    clock.advance(LEASE)
    now = await store.now()
    [rescued] = await store.rescue(10, LEASE, "rescuer")
    assert rescued.fence > late.fence
    assert rescued.fence >= now * FENCES_A_MILLISECOND
