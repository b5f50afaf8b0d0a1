"""Lanes with a size: their jobs are handed out together."""

from __future__ import annotations

from ...core.lane import Lane
from ...core.model import Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, claim, counts, finish, ids, job_of, put, state_of

GATHER = Lane("b", size=4, grace=1_000, longest=3_000)
ITEM = Spec("work", b"", lane=GATHER)


async def test_a_full_batch_goes_at_once_and_all_of_it(store: Store) -> None:
    await put(store, "a", "b", "c", spec=ITEM)
    assert await claim(store) == []
    await put(store, "d", "e", spec=ITEM)
    jobs = await claim(store, 1)
    assert ids(jobs) == ["a", "b", "c", "d"]
    assert {(job.state, job.attempt, job.fence) for job in jobs} == {
        (State.ACTIVE, 1, jobs[0].fence)
    }
    assert await claim(store) == []
    assert (await counts(store))[State.ACTIVE] == 4


async def test_a_batch_goes_when_nobody_has_come_for_the_grace_period(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", spec=ITEM)
    clock.advance(0.9)
    await put(store, "b", spec=ITEM)
    clock.advance(0.9)
    assert await claim(store) == []
    clock.advance(0.1)
    assert ids(await claim(store)) == ["a", "b"]


async def test_a_batch_goes_when_its_first_has_waited_long_enough(
    store: Store, clock: FakeClock
) -> None:
    patient = Spec("work", b"", lane=Lane("b", size=100, grace=1_000, longest=3_000))
    for n in range(4):
        await put(store, f"j{n}", spec=patient)
        assert await claim(store) == []
        clock.advance(0.75)
    assert ids(await claim(store)) == ["j0", "j1", "j2", "j3"]


async def test_the_first_is_scheduled_for_the_moment_and_the_others_wait(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", spec=ITEM)
    await put(store, "b", spec=ITEM)
    ticket = await job_of(store, "a")
    assert (ticket.state, ticket.due) == (State.SCHEDULED, clock() + 1_000)
    assert await state_of(store, "b") is State.BLOCKED


async def test_a_batch_comes_behind_its_first_and_beyond_the_limit(store: Store) -> None:
    await put(store, "before")
    await put(store, "a", "b", "c", "d", spec=ITEM)
    await put(store, "after")
    assert ids(await claim(store, 2)) == ["before", "a", "b", "c", "d"]
    assert ids(await claim(store, 2)) == ["after"]


async def test_each_of_a_batch_ends_by_itself(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", "c", "d", spec=ITEM)
    a, b, c, d = await claim(store)
    assert await finish(store, a, State.COMPLETED)
    assert await finish(store, b, State.RETRY, error=BOOM, delay=500)
    assert await finish(store, c, State.DEAD, error=BOOM)
    assert await store.cancel([d.id]) == {"d"}
    clock.advance(0.5)
    assert await claim(store) == [], "it waits for others once more"
    clock.advance(1)
    assert ids(await claim(store)) == ["b"]


async def test_two_batches_may_run_at_a_time(store: Store) -> None:
    await put(store, *(f"j{n}" for n in range(8)), spec=ITEM)
    assert ids(await claim(store, 2)) == ["j0", "j1", "j2", "j3"]
    assert ids(await claim(store, 1)) == ["j4", "j5", "j6", "j7"]


async def test_a_batch_that_is_released_gathers_again_at_the_front(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", "b", "c", "d", spec=ITEM)
    for job in reversed(await claim(store)):
        assert await finish(store, job, State.PENDING, refund=True)
    await put(store, "e", spec=ITEM)
    assert ids(await claim(store)) == ["a", "b", "c", "d"]


async def test_batches_of_two_keys_do_not_mix(store: Store) -> None:
    other = Spec("work", b"", lane=Lane("other", size=2, grace=1_000, longest=3_000))
    await put(store, "a", "b", "c", spec=ITEM)
    await put(store, "x", "y", spec=other)
    assert ids(await claim(store)) == ["x", "y"]


async def test_the_leader_can_be_cancelled(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", "c", "d", spec=ITEM)
    assert await store.cancel(["a"]) == {"a"}
    assert await claim(store) == []
    clock.advance(1)
    assert ids(await claim(store)) == ["b", "c", "d"]
