"""Giving a job that waits another priority."""

from __future__ import annotations

from ...core.lane import Lane
from ...core.model import Spec
from ...core.states import WAITING, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    REACHABLE,
    WORK,
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
)

ONE_AT_A_TIME = Spec("work", b"", lane=Lane("slots", slots=1))


async def pending(store: Store) -> list[str]:
    return ids(await listing(store, states=(State.PENDING,)))


async def test_only_what_waits_gets_another_priority(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, f"job-{state}", state, queue=f"queue-{state}")
    await put(store, "job-blocked", spec=Spec("work", b"", parents=("job-pending",)))
    every = [f"job-{state}" for state in State]
    assert await store.prioritize(every, 77) == {f"job-{state}" for state in WAITING}
    jobs = await store.get(every)
    assert {job.state: job.priority for job in jobs.values()} == {
        state: 77 if state in WAITING else 50 for state in State
    }


async def test_a_pending_job_goes_to_the_end_of_its_new_line(store: Store) -> None:
    await put(store, "a", "b", "c")
    await put(store, "x", "y", priority=90)
    assert await store.prioritize(["a"], 90) == {"a"}
    assert await pending(store) == ["x", "y", "a", "b", "c"]
    await store.prioritize(["x"], 50)
    assert await pending(store) == ["y", "a", "b", "c", "x"]
    assert ids(await claim(store)) == ["y", "a", "b", "c", "x"]


async def test_several_go_there_in_the_order_given(store: Store) -> None:
    await put(store, "a", "b", "c", "d")
    assert await store.prioritize(["d", "b", "d", "a"], 60) == {"a", "b", "d"}
    assert ids(await claim(store)) == ["d", "b", "a", "c"]


async def test_one_that_has_the_priority_stays_where_it_is(store: Store) -> None:
    await put(store, "a", "b", "c")
    for _ in range(2):
        assert await store.prioritize(["a", "b"], 50) == {"a", "b"}
        assert await pending(store) == ["a", "b", "c"]
    for _ in range(2):
        assert await store.prioritize(["c", "a"], 0) == {"a", "c"}
        assert await pending(store) == ["b", "c", "a"]


async def test_one_that_was_released_goes_to_the_end_as_well(store: Store) -> None:
    await put(store, "x", priority=60)
    await put(store, "a", "b")
    await store.prioritize(["x"], 50)
    job = await claim_one(store)
    assert job.id == "a"
    assert await finish(store, job, State.PENDING)
    assert await pending(store) == ["a", "b", "x"]
    await store.prioritize(["b"], 60)
    await store.prioritize(["a"], 60)
    assert await pending(store) == ["b", "a", "x"]


async def test_a_job_that_waits_for_its_time_comes_with_its_new_priority(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", "b", delay=5_000)
    due = (await job_of(store, "a")).due
    assert await store.prioritize(["b"], 51) == {"b"}
    assert (await job_of(store, "b")).state is State.SCHEDULED
    assert (await job_of(store, "b")).due == due
    assert await claim(store) == []
    clock.advance(5)
    assert ids(await claim(store)) == ["b", "a"]


async def test_a_retry_keeps_its_time_and_its_attempts(store: Store, clock: FakeClock) -> None:
    await bring(store, "a", State.RETRY)
    before = await job_of(store, "a")
    assert await store.prioritize(["a"], 100) == {"a"}
    after = await job_of(store, "a")
    assert (after.state, after.due, after.attempt) == (State.RETRY, before.due, 1)
    assert (after.error, after.priority) == (before.error, 100)
    clock.advance(60)
    await put(store, "b")
    assert ids(await claim(store)) == ["a", "b"]


async def test_a_job_that_waits_for_others_comes_with_its_new_priority(store: Store) -> None:
    await put(store, "parent", priority=100)
    await put(store, "a", "b", spec=Spec("work", b"", parents=("parent",)))
    assert await store.prioritize(["b"], 99) == {"b"}
    blocked = await job_of(store, "b")
    assert (blocked.state, blocked.waits_for) == (State.BLOCKED, ("parent",))
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert ids(await claim(store)) == ["b", "a"]


async def test_one_that_waits_in_its_lane_gets_its_slot_by_its_new_priority(store: Store) -> None:
    await put(store, "a", "b", "c", "d", spec=ONE_AT_A_TIME)
    assert await pending(store) == ["a"]
    assert await store.prioritize(["d", "c"], 80) == {"c", "d"}
    ran = []
    while jobs := await claim(store):
        ran += ids(jobs)
        assert await finish(store, jobs[0], State.COMPLETED)
    # In the order of their coming, for both have waited on where they were.
    assert ran == ["a", "c", "d", "b"]


async def test_one_that_has_its_slot_keeps_it(store: Store) -> None:
    await put(store, "a", "b", spec=ONE_AT_A_TIME)
    await put(store, "x", "y")
    assert await store.prioritize(["a"], 10) == {"a"}
    assert await counts(store) == {State.PENDING: 3, State.BLOCKED: 1}
    assert ids(await claim(store)) == ["x", "y", "a"]


async def test_a_job_of_a_group_takes_its_next_turn(store: Store) -> None:
    one, other = (Spec("work", b"", group=group) for group in ("one", "other"))
    await put(store, "a", "b", "c", spec=one, priority=40)
    await put(store, "x", spec=other, priority=40)
    assert await pending(store) == ["a", "x", "b", "c"]
    every = ["a", "b", "c", "x"]
    assert await store.prioritize(every, 50) == {*every}
    assert ids(await claim(store)) == ["x", "a", "b", "c"]


async def test_counts_and_keys_stay(store: Store) -> None:
    await put(store, "a", unique="k")
    await put(store, "b", delay=60_000)
    await store.prioritize(["a", "b"], 1)
    assert await counts(store) == {State.PENDING: 1, State.SCHEDULED: 1}
    [receipt] = await store.insert([new_job("c", WORK, unique="k")])
    assert (receipt.id, receipt.duplicate) == ("a", True)


async def test_the_jobs_of_many_queues_at_once(store: Store) -> None:
    names = [f"q{n}" for n in range(6)]
    for name in names:
        await put(store, f"{name}-a", f"{name}-b", queue=name)
    last = [f"{name}-b" for name in names]
    assert await store.prioritize(last, 60) == set(last)
    for name in names:
        assert ids(await claim(store, queue=name)) == [f"{name}-b", f"{name}-a"]


async def test_unknown_ids_are_no_harm(store: Store) -> None:
    assert await store.prioritize(["nobody"], 60) == frozenset()
    assert await store.prioritize([], 60) == frozenset()
