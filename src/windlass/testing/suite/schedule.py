"""Jobs that wait for their time: never early, and by the store's clock alone."""

from __future__ import annotations

from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    claim,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    put,
    state_of,
)

YEAR_9999 = 253_402_300_799_000


async def comes_at(store: Store, clock: FakeClock, due: int) -> None:
    """The one job waiting must not be claimable a millisecond before `due`, and must be then."""
    clock.now = due - 1
    assert await claim(store) == []
    clock.now = due
    assert len(await claim(store)) == 1


async def test_a_delayed_job_comes_at_its_time(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=60_000)
    await comes_at(store, clock, clock() + 60_000)


async def test_a_job_for_a_moment_comes_at_its_time(store: Store, clock: FakeClock) -> None:
    moment = clock() + 12_345
    await put(store, "a", due=moment)
    await comes_at(store, clock, moment)


async def test_a_retry_comes_at_its_time(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    job = await claim_one(store)
    clock.advance(1)
    assert await finish(store, job, State.RETRY, delay=2_000, error=BOOM)
    assert (await job_of(store, "a")).due == clock() + 2_000
    await comes_at(store, clock, clock() + 2_000)


async def test_a_snoozed_job_comes_at_its_time(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.SCHEDULED, delay=2_000, refund=True)
    assert (await job_of(store, "a")).due == clock() + 2_000
    await comes_at(store, clock, clock() + 2_000)


async def test_a_moment_wins_over_a_delay(store: Store, clock: FakeClock) -> None:
    for state in (State.RETRY, State.SCHEDULED):
        await put(store, state)
        moment = clock() + 7_000
        job = await claim_one(store)
        assert await finish(store, job, state, delay=1_000, due=moment)
        assert (await job_of(store, state)).due == moment
        await comes_at(store, clock, moment)


async def test_a_retry_for_a_moment_gone_by_comes_at_once(store: Store, clock: FakeClock) -> None:
    for state in (State.RETRY, State.SCHEDULED):
        await put(store, state)
        moment = clock() - 7_000
        assert await finish(store, await claim_one(store), state, due=moment)
        job = await job_of(store, state)
        assert (job.state, job.due) == (state, moment)
        assert ids(await claim(store)) == [state]


async def test_a_retry_without_a_delay_comes_at_once(store: Store) -> None:
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.RETRY, error=BOOM)
    assert await state_of(store, "a") is State.RETRY
    assert (await claim_one(store)).attempt == 2


async def test_the_far_future(store: Store, clock: FakeClock) -> None:
    await put(store, "insert", due=YEAR_9999)
    await put(store, "snooze")
    assert await finish(store, await claim_one(store), State.SCHEDULED, due=YEAR_9999)
    clock.advance(100 * 365 * 24 * 3600)
    assert await claim(store) == []
    assert (await job_of(store, "insert")).due == YEAR_9999
    assert (await job_of(store, "snooze")).due == YEAR_9999
    clock.now = YEAR_9999
    assert len(await claim(store)) == 2


async def test_the_beginning_of_time(store: Store) -> None:
    await put(store, "a", due=0)
    assert (await job_of(store, "a")).due == 0
    assert ids(await claim(store)) == ["a"]


async def test_a_due_job_is_claimed_only_from_its_queue(store: Store, clock: FakeClock) -> None:
    await put(store, "a", queue="a", delay=1_000)
    await put(store, "b", queue="b", delay=1_000)
    clock.advance(1)
    assert ids(await claim(store, queue="b")) == ["b"]
    assert ids(await claim(store, queue="a")) == ["a"]


async def test_a_job_keeps_its_due_time_once_claimed(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=1_000)
    due = clock() + 1_000
    clock.advance(5)
    assert (await claim_one(store)).due == due


async def test_due_jobs_that_are_not_claimed_become_pending(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", delay=1_000)
    await put(store, "c", delay=9_000)
    clock.advance(1)
    assert ids(await claim(store, 1)) == ["a"]
    assert await state_of(store, "b") is State.PENDING
    assert await state_of(store, "c") is State.SCHEDULED
    assert await counts(store) == {State.ACTIVE: 1, State.PENDING: 1, State.SCHEDULED: 1}


async def test_a_clock_set_back_runs_nothing_early(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=1_000)
    clock.now -= 3_600_000
    assert await claim(store) == []
    clock.now += 3_600_000 + 1_000
    assert ids(await claim(store)) == ["a"]
