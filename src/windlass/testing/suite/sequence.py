"""Strict lanes: one job after the other, in the order of their coming."""

from __future__ import annotations

from ...core.lane import Lane
from ...core.model import Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, LEASE, claim, claim_one, finish, ids, put, state_of

STRICT = Lane("s", slots=1, strict=True)
STEP = Spec("work", b"", lane=STRICT)


async def test_a_retry_holds_up_those_behind_it(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", spec=STEP)
    for state in (State.RETRY, State.SCHEDULED):
        job = await claim_one(store)
        assert job.id == "a"
        assert await finish(store, job, state, delay=5_000, error=BOOM)
        assert await claim(store) == []
        clock.advance(5)
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert (await claim_one(store)).id == "b"


async def test_every_end_lets_the_next_one_go(store: Store) -> None:
    await put(store, "a", "b", "c", "d", "e", spec=STEP)
    for state in (State.COMPLETED, State.DEAD, State.CANCELLED):
        assert await finish(store, await claim_one(store), state, error=BOOM)
    assert await store.cancel(["d"]) == {"d"}
    assert (await claim_one(store)).id == "e"


async def test_deleting_the_one_that_waits_for_its_retry_lets_the_next_one_go(
    store: Store,
) -> None:
    await put(store, "a", "b", spec=STEP)
    assert await finish(store, await claim_one(store), State.RETRY, delay=60_000, error=BOOM)
    assert await store.delete(["a"]) == {"a"}
    assert (await claim_one(store)).id == "b"


async def test_priorities_do_not_change_the_order(store: Store) -> None:
    await put(store, "a", spec=STEP)
    await put(store, "b", spec=STEP, priority=0)
    await put(store, "c", spec=STEP, priority=100)
    for id in "abc":
        job = await claim_one(store)
        assert job.id == id
        assert await finish(store, job, State.COMPLETED)


async def test_a_released_job_keeps_its_turn(store: Store) -> None:
    await put(store, "a", "b", spec=STEP)
    assert await finish(store, await claim_one(store), State.PENDING, refund=True)
    assert await state_of(store, "a") is State.PENDING
    assert (await claim_one(store)).id == "a"


async def test_a_parked_job_keeps_its_turn(store: Store) -> None:
    await put(store, "a", "b", spec=STEP)
    job = await claim_one(store)
    assert await finish(store, job, State.SCHEDULED, awaits="go", delay=60_000, refund=True)
    assert await claim(store) == []
    assert await store.signal("a", "go", b"")
    assert ids(await claim(store)) == ["a"]


async def test_a_crash_does_not_let_another_pass(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", spec=STEP)
    await claim_one(store)
    clock.advance(LEASE / 1000 + 1)
    [lost] = await store.rescue(1, LEASE, "w2")
    assert await finish(store, lost, State.RETRY, delay=1_000, error=BOOM)
    assert await claim(store) == []
    clock.advance(1)
    assert (await claim_one(store)).id == "a"


async def test_a_job_that_is_put_off_by_hand_keeps_its_turn(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", spec=STEP)
    assert await store.reschedule(["a"], delay=5_000) == {"a"}
    assert await claim(store) == []
    clock.advance(5)
    assert ids(await claim(store)) == ["a"]
