"""Giving a job that waits another time."""

from __future__ import annotations

from ...core.states import RESCHEDULABLE, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import REACHABLE, bring, claim, claim_one, counts, ids, job_of, new_job, put, state_of


async def test_only_what_waits_gets_another_time(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, f"job-{state}", state, queue=f"queue-{state}")
    moved = await store.reschedule([f"job-{state}" for state in REACHABLE], delay=1_000)
    assert moved == {f"job-{state}" for state in RESCHEDULABLE}
    assert await state_of(store, "job-active") is State.ACTIVE
    assert await state_of(store, "job-dead") is State.DEAD


async def test_a_pending_job_can_be_put_off(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    assert await store.reschedule(["a"], delay=5_000) == {"a"}
    job = await job_of(store, "a")
    assert (job.state, job.due) == (State.SCHEDULED, clock() + 5_000)
    assert await claim(store) == []
    clock.advance(5)
    assert ids(await claim(store)) == ["a"]


async def test_a_scheduled_job_can_be_brought_forward(store: Store) -> None:
    await put(store, "a", delay=60_000)
    assert await store.reschedule(["a"]) == {"a"}
    assert await state_of(store, "a") is State.PENDING
    assert ids(await claim(store)) == ["a"]


async def test_a_scheduled_job_can_be_put_off(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=1_000)
    await store.reschedule(["a"], delay=9_000)
    clock.advance(5)
    assert await claim(store) == []
    clock.advance(4)
    assert ids(await claim(store)) == ["a"]


async def test_a_retry_stays_one_and_keeps_its_attempts(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.RETRY)
    assert await store.reschedule(["a"], delay=2_000) == {"a"}
    job = await job_of(store, "a")
    assert (job.state, job.due, job.attempt) == (State.RETRY, clock() + 2_000, 1)
    assert job.error is not None
    clock.advance(2)
    assert (await claim_one(store)).attempt == 2


async def test_a_moment_wins_over_a_delay(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await store.reschedule(["a"], delay=1_000, due=clock() + 7_000)
    assert (await job_of(store, "a")).due == clock() + 7_000


async def test_what_is_due_goes_to_the_end_of_the_line(store: Store) -> None:
    await put(store, "a", "b")
    await put(store, "c", delay=60_000)
    await store.reschedule(["a"])
    await store.reschedule(["c"])
    assert ids(await claim(store)) == ["b", "a", "c"]


async def test_several_keep_the_order_asked(store: Store) -> None:
    await put(store, "a", "b", "c", delay=60_000)
    await store.reschedule(["c", "a", "b", "a"])
    assert ids(await claim(store)) == ["c", "a", "b"]


async def test_counts_follow(store: Store) -> None:
    await put(store, "a", "b")
    await put(store, "c", delay=60_000)
    await store.reschedule(["a"], delay=1_000)
    await store.reschedule(["c"])
    assert await counts(store) == {State.PENDING: 2, State.SCHEDULED: 1}


async def test_the_key_stays_held(store: Store) -> None:
    await put(store, "a", unique="k")
    await store.reschedule(["a"], delay=1_000)
    [receipt] = await store.insert([new_job("b", unique="k")])
    assert (receipt.id, receipt.duplicate) == ("a", True)


async def test_unknown_ids_are_no_harm(store: Store) -> None:
    assert await store.reschedule(["nobody"], delay=1) == frozenset()
    assert await store.reschedule([]) == frozenset()
