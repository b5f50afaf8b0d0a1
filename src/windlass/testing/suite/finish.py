"""What an attempt came to: each state that a job can leave a worker in."""

from __future__ import annotations

from ...core.model import Failure, Transition
from ...core.states import AFTER_ACTIVE, FINISHED, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    FLEETING,
    claim,
    claim_all,
    claim_one,
    counts,
    finish,
    job_of,
    new_job,
    put,
    state_of,
)


async def test_every_end_of_an_attempt_is_taken(store: Store) -> None:
    for state in AFTER_ACTIVE:
        await put(store, state, queue=state)
        job = await claim_one(store, queue=state)
        assert await finish(store, job, state, delay=60_000), state
        assert await state_of(store, state) is state
        assert await counts(store, state) == {state: 1}


async def test_a_finished_job_knows_when(store: Store, clock: FakeClock) -> None:
    for state in AFTER_ACTIVE:
        await put(store, state, queue=state)
        claimed = await claim_one(store, queue=state)
        clock.advance(1)
        assert await finish(store, claimed, state, delay=60_000)
        job = await job_of(store, state)
        assert job.finished_at == (clock() if state in FINISHED else None), state
        assert job.started_at == claimed.started_at


async def test_an_attempt_that_does_not_count_is_given_back_whatever_follows(store: Store) -> None:
    for state in AFTER_ACTIVE - {State.COMPLETED}:
        await put(store, state, queue=state)
        job = await claim_one(store, queue=state)
        assert await finish(store, job, state, delay=60_000, refund=True)
        assert (await job_of(store, state)).attempt == 0, state


async def test_the_result_is_kept(store: Store) -> None:
    for n, result in enumerate([b"42", b"", None, bytes(range(256))]):
        await put(store, f"job-{n}")
        assert await finish(store, await claim_one(store), State.COMPLETED, result=result)
        assert (await job_of(store, f"job-{n}")).result == result


async def test_the_error_is_kept(store: Store) -> None:
    error = Failure("ValueError", "naïve 💥 'quoted' %s {}", "line 1\nline 2")
    for state in (State.RETRY, State.DEAD):
        await put(store, state, queue=state)
        job = await claim_one(store, queue=state)
        assert await finish(store, job, state, delay=60_000, error=error)
        assert (await job_of(store, state)).error == error


async def test_the_last_error_replaces_the_one_before(store: Store) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.RETRY, error=BOOM)
    last = Failure("KeyError", "last")
    assert await finish(store, await claim_one(store), State.DEAD, error=last)
    assert (await job_of(store, "a")).error == last


async def test_an_error_outlives_a_later_success(store: Store) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.RETRY, error=BOOM)
    job = await claim_one(store)
    assert job.error == BOOM
    assert await finish(store, job, State.COMPLETED, result=b"at last")
    done = await job_of(store, "a")
    assert (done.state, done.result, done.error) == (State.COMPLETED, b"at last", BOOM)


async def test_a_failed_job_keeps_its_attempts(store: Store) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.RETRY, error=BOOM)
    assert (await job_of(store, "a")).attempt == 1
    assert await finish(store, await claim_one(store), State.DEAD, error=BOOM)
    assert (await job_of(store, "a")).attempt == 2


async def test_a_refund_gives_the_attempt_back(store: Store) -> None:
    for state in (State.SCHEDULED, State.PENDING):
        await put(store, state, queue=state)
        for _ in range(3):
            job = await claim_one(store, queue=state)
            assert job.attempt == 1
            assert await finish(store, job, state, refund=True)
            assert (await job_of(store, state)).attempt == 0


async def test_without_a_refund_the_attempt_counts(store: Store) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.PENDING)
    assert (await job_of(store, "a")).attempt == 1


async def test_a_completed_or_cancelled_job_without_keep_leaves_nothing(store: Store) -> None:
    for state in (State.COMPLETED, State.CANCELLED):
        await put(store, state, spec=FLEETING)
        assert await finish(store, await claim_one(store), state, result=b"unread")
        assert await state_of(store, state) is None
    assert list(await store.queues()) == []
    assert await store.prune(10) == 0


async def test_a_dead_job_without_keep_stays(store: Store, clock: FakeClock) -> None:
    await put(store, "a", spec=FLEETING)
    assert await finish(store, await claim_one(store), State.DEAD, error=BOOM)
    clock.advance(365 * 24 * 3600)
    assert await store.prune(10) == 0
    assert (await job_of(store, "a")).error == BOOM


async def test_finishing_leaves_the_rest_of_the_record_alone(store: Store) -> None:
    await put(store, "a", priority=3, unique="k", queue="mail")
    before = await claim_one(store, queue="mail")
    assert await finish(store, before, State.COMPLETED)
    job = await job_of(store, "a")
    assert (job.spec, job.priority, job.queue) == (before.spec, 3, "mail")
    assert (job.unique, job.created_at, job.due) == ("k", before.created_at, before.due)


async def test_a_batch_of_every_kind(store: Store) -> None:
    states = sorted(AFTER_ACTIVE)
    await put(store, *states)
    jobs = await claim(store)
    moves = [Transition(job.id, job.fence, State(job.id), delay=60_000) for job in jobs]
    assert await store.finish(moves) == set(states)
    for state in states:
        assert await state_of(store, state) is state
    assert await counts(store) == dict.fromkeys(states, 1)


async def test_a_batch_of_a_thousand(store: Store) -> None:
    await store.insert([new_job(f"job-{n}", queue=f"q{n % 3}") for n in range(1_000)])
    jobs = await claim_all(store, "q0", "q1", "q2")
    moves = [Transition(job.id, job.fence, State.COMPLETED, result=job.id.encode()) for job in jobs]
    assert await store.finish(moves) == {job.id for job in jobs}
    done = await store.get([job.id for job in jobs])
    assert len(done) == 1_000
    assert all(job.result == id.encode() for id, job in done.items())
    assert sum(sum(stats.counts.values()) for stats in await store.queues()) == 1_000


async def test_finishing_nothing(store: Store) -> None:
    assert await store.finish([]) == frozenset()
