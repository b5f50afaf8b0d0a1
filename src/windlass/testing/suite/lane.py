"""Lanes with slots: at most so many of their jobs are pending or active at a time."""

from __future__ import annotations

from typing import Any

import msgspec

from ...core.lane import Lane
from ...core.model import Receipt, Spec, Transition
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    LEASE,
    bring,
    claim,
    claim_all,
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

ONE = Lane("l", slots=1)
TWO = Lane("l", slots=2)


def spec_in(lane: Lane, **fields: Any) -> Spec:
    return msgspec.structs.replace(Spec("work", b""), lane=lane, **fields)


async def fill(store: Store, lane: Lane, *names: str, **options: Any) -> None:
    await put(store, *names, spec=spec_in(lane), **options)


async def test_a_lane_lets_so_many_in_and_the_others_wait(store: Store) -> None:
    await fill(store, TWO, "a", "b", "c", "d")
    assert await counts(store) == {State.PENDING: 2, State.BLOCKED: 2}
    assert (await job_of(store, "c")).waits_for == ()
    assert ids(await claim(store)) == ["a", "b"]
    assert await claim(store) == []


async def test_an_end_lets_the_next_one_in_in_the_order_of_their_coming(store: Store) -> None:
    await fill(store, ONE, "a", "b", "c", "d", "e")
    for id, state in zip(
        "abcd", (State.COMPLETED, State.DEAD, State.CANCELLED, State.RETRY), strict=True
    ):
        job = await claim_one(store)
        assert job.id == id
        assert await claim(store) == []
        assert await finish(store, job, state, error=BOOM, delay=60_000)
    assert (await claim_one(store)).id == "e"


async def test_the_slot_is_given_in_the_step_that_frees_it(store: Store) -> None:
    await fill(store, TWO, "a", "b", "c", "d")
    first, second = await claim(store)
    assert await finish(store, first, State.COMPLETED)
    assert await counts(store) == {
        State.COMPLETED: 1,
        State.ACTIVE: 1,
        State.PENDING: 1,
        State.BLOCKED: 1,
    }
    assert await store.cancel([second.id]) == {"b"}
    assert await state_of(store, "d") is State.PENDING


async def test_the_place_in_line_is_that_of_the_coming(store: Store) -> None:
    await fill(store, ONE, "a", "b")
    await put(store, "plain")
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert ids(await claim(store)) == ["b", "plain"]


async def test_other_lanes_and_other_jobs_are_not_held_up(store: Store) -> None:
    await fill(store, ONE, *(f"l{n}" for n in range(50)))
    await fill(store, Lane("m", slots=1), "m0", "m1")
    await put(store, "plain")
    assert ids(await claim(store)) == ["l0", "m0", "plain"]


async def test_lanes_of_two_queues_are_two_lanes(store: Store) -> None:
    await fill(store, ONE, "a", "b", queue="one")
    await fill(store, ONE, "c", "d", queue="two")
    assert ids(await claim(store, queue="one")) == ["a"]
    assert ids(await claim(store, queue="two")) == ["c"]


async def test_priority_counts_among_those_that_wait(store: Store) -> None:
    await fill(store, ONE, "first")
    await fill(store, ONE, "low", priority=10)
    await fill(store, ONE, "high", priority=90)
    await fill(store, ONE, "same", priority=10)
    order = []
    for _ in range(4):
        job = await claim_one(store)
        order.append(job.id)
        assert await finish(store, job, State.COMPLETED)
    assert order == ["first", "high", "low", "same"]


async def test_scheduled_jobs_come_to_the_lane_when_their_time_has_come(
    store: Store, clock: FakeClock
) -> None:
    await fill(store, ONE, "later", delay=5_000)
    await fill(store, ONE, "a", "b")
    assert await state_of(store, "later") is State.SCHEDULED
    assert (await claim_one(store)).id == "a"
    clock.advance(5)
    assert await claim(store) == []
    assert await state_of(store, "later") is State.BLOCKED
    assert await counts(store) == {State.ACTIVE: 1, State.BLOCKED: 2}
    assert await store.cancel(["a"]) == {"a"}
    assert (await claim_one(store)).id == "b"


async def test_a_retry_gives_up_the_slot_and_comes_again(store: Store, clock: FakeClock) -> None:
    await fill(store, ONE, "a", "b")
    assert await finish(store, await claim_one(store), State.RETRY, delay=1_000, error=BOOM)
    second = await claim_one(store)
    assert second.id == "b"
    clock.advance(1)
    assert await claim(store) == []
    assert await state_of(store, "a") is State.BLOCKED
    assert await finish(store, second, State.COMPLETED)
    assert (await claim_one(store)).attempt == 2


async def test_a_released_job_is_the_first_again(store: Store) -> None:
    await fill(store, ONE, "a", "b")
    job = await claim_one(store)
    assert await finish(store, job, State.PENDING, refund=True)
    assert (await claim_one(store)).id == "a"
    assert await claim(store) == []


async def test_a_crashed_holder_frees_its_slot_with_its_lease(
    store: Store, clock: FakeClock
) -> None:
    await fill(store, ONE, "a", "b")
    await claim_one(store)
    clock.advance(LEASE / 1000 + 1)
    assert await claim(store) == [], "until someone has rescued it"
    [lost] = await store.rescue(1, LEASE, "w2")
    assert await claim(store) == []
    assert await finish(store, lost, State.RETRY, delay=60_000, error=BOOM)
    assert (await claim_one(store)).id == "b"


async def test_a_late_finish_frees_nothing(store: Store, clock: FakeClock) -> None:
    await fill(store, ONE, "a", "b")
    late = await claim_one(store)
    clock.advance(LEASE / 1000 + 1)
    await store.rescue(1, LEASE, "w2")
    assert not await finish(store, late, State.COMPLETED)
    assert await claim(store) == []


async def test_those_that_wait_can_be_cancelled_and_deleted(store: Store) -> None:
    await fill(store, ONE, "a", "b", "c", "d")
    assert await store.cancel(["b"]) == {"b"}
    assert await store.delete(["c"]) == {"c"}
    assert await store.delete(["a"]) == {"a"}
    assert (await claim_one(store)).id == "d"
    assert await store.replay(["b"]) == {"b"}
    assert await state_of(store, "b") is State.BLOCKED
    assert await store.cancel(["d"]) == {"d"}
    assert (await claim_one(store)).id == "b"


async def test_a_pending_job_that_is_put_off_leaves_its_slot(store: Store) -> None:
    await fill(store, ONE, "a", "b")
    assert await store.reschedule(["a"], delay=60_000) == {"a"}
    assert (await claim_one(store)).id == "b"


async def test_a_pending_job_that_is_rescheduled_to_now_goes_to_the_end(store: Store) -> None:
    await fill(store, ONE, "a", "b")
    assert await store.reschedule(["a"]) == {"a"}
    assert (await claim_one(store)).id == "b"
    assert await state_of(store, "a") is State.BLOCKED


async def test_dependents_enter_their_lane_when_they_are_free(store: Store) -> None:
    await put(store, "parent")
    await put(store, "child", spec=spec_in(ONE, parents=("parent",)))
    await fill(store, ONE, "a")
    parent, first = await claim(store)
    assert (parent.id, first.id) == ("parent", "a")
    assert await finish(store, parent, State.COMPLETED)
    job = await job_of(store, "child")
    assert (job.state, job.waits_for) == (State.BLOCKED, ())
    assert await finish(store, first, State.COMPLETED)
    assert (await claim_one(store)).id == "child"


async def test_a_signal_brings_a_job_to_its_lane(store: Store) -> None:
    await fill(store, ONE, "a", "b")
    job = await claim_one(store)
    assert await finish(store, job, State.SCHEDULED, awaits="go", delay=60_000, refund=True)
    assert (await claim_one(store)).id == "b"
    assert await store.signal("a", "go", b"")
    assert await state_of(store, "a") is State.BLOCKED


async def test_a_job_that_waits_for_its_slot_can_be_replaced(store: Store) -> None:
    await fill(store, ONE, "a")
    await fill(store, ONE, "b", unique="k")
    await fill(store, ONE, "c")
    other = spec_in(ONE, payload=b"new")
    [receipt] = await store.insert([new_job("d", other, unique="k", conflict="replace")])
    assert receipt == Receipt("b", duplicate=True)
    assert await store.cancel(["a"]) == {"a"}
    assert (await claim_one(store)).id == "c"
    assert await store.cancel(["c"]) == {"c"}
    assert (await claim_one(store)).spec == other


async def test_the_limits_are_those_of_the_newest_job(store: Store) -> None:
    await fill(store, ONE, "a", "b", "c")
    assert await counts(store) == {State.PENDING: 1, State.BLOCKED: 2}
    await fill(store, Lane("l", slots=3), "d")
    assert await counts(store) == {State.PENDING: 3, State.BLOCKED: 1}
    await fill(store, ONE, "e")
    assert await counts(store) == {State.PENDING: 3, State.BLOCKED: 2}
    assert ids(await claim(store)) == ["a", "b", "c"]
    assert await store.cancel(["a", "b"]) == {"a", "b"}
    assert await claim(store) == []


async def test_a_lane_of_many_slots_and_many_jobs(store: Store) -> None:
    wide = Lane("l", slots=250)
    await fill(store, wide, *(f"j{n:04}" for n in range(1_000)))
    done: list[str] = []
    while jobs := await claim_all(store):
        assert len(jobs) <= 250
        done += ids(jobs)
        moves = [Transition(job.id, job.fence, State.COMPLETED) for job in jobs]
        assert len(await store.finish(moves)) == len(jobs)
    assert done == [f"j{n:04}" for n in range(1_000)]


async def test_a_paused_queue_keeps_its_lanes(store: Store) -> None:
    await fill(store, ONE, "a", "b")
    await store.pause("default")
    assert await claim(store) == []
    await store.resume("default")
    assert ids(await claim(store)) == ["a"]


async def test_jobs_of_lanes_are_listed_and_counted(store: Store) -> None:
    await fill(store, ONE, "a", "b", "c")
    assert ids(await listing(store, states=(State.BLOCKED,))) == ["b", "c"]
    assert ids(await listing(store, states=(State.PENDING,))) == ["a"]


async def test_a_move_keeps_lanes(store: Store) -> None:
    await fill(store, ONE, "a", "b", "c")
    jobs = [await job_of(store, id) for id in "abc"]
    assert await store.delete(["a", "b", "c"], moved=True) == {"a", "b", "c"}
    receipts = await store.restore(jobs)
    assert receipts == [Receipt("a"), Receipt("b"), Receipt("c")]
    assert await counts(store) == {State.PENDING: 1, State.BLOCKED: 2}
    assert (await claim_one(store)).id == "a"


async def test_two_handles_fill_one_lane(store: Store, another_store: Store) -> None:
    await fill(store, TWO, "a", "b")
    await fill(another_store, TWO, "c", "d")
    assert ids(await claim(another_store)) == ["a", "b"]
    assert await claim(store) == []
    assert await store.cancel(["a"]) == {"a"}
    assert ids(await claim(another_store)) == ["c"]


async def test_a_lane_that_was_emptied_begins_anew(store: Store) -> None:
    await bring(store, "a", State.COMPLETED, spec_in(ONE))
    assert await store.prune(10) == 0
    await fill(store, TWO, "b", "c", "d")
    assert ids(await claim(store)) == ["b", "c"]
