"""Lanes with a rate: at most so many of their jobs start in a time."""

from __future__ import annotations

from ...core.lane import Lane
from ...core.model import Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import claim, claim_one, counts, finish, ids, job_of, put, state_of

TOKENS = Lane("r", starts=10, per=1_000, burst=3)
"""Ten a second, of which three can be saved up."""
WINDOW = Lane("w", starts=3, per=10_000)
SLOW = Spec("work", b"", lane=TOKENS)
SLIDING = Spec("work", b"", lane=WINDOW)


async def test_the_burst_goes_at_once_and_the_rest_one_by_one(
    store: Store, clock: FakeClock
) -> None:
    await put(store, *"abcdefg", spec=SLOW)
    assert ids(await claim(store)) == ["a", "b", "c"]
    assert await claim(store) == []
    for id in "defg":
        clock.advance(0.099)
        assert await claim(store) == []
        clock.advance(0.001)
        assert ids(await claim(store)) == [id]


async def test_the_first_that_waits_is_scheduled_for_its_moment(
    store: Store, clock: FakeClock
) -> None:
    await put(store, *"abcdef", spec=SLOW)
    assert len(await claim(store)) == 3
    ticket = await job_of(store, "d")
    assert (ticket.state, ticket.due) == (State.SCHEDULED, clock() + 100)
    assert await counts(store) == {State.ACTIVE: 3, State.SCHEDULED: 1, State.BLOCKED: 2}


async def test_what_was_not_used_is_saved_up_to_the_burst(store: Store, clock: FakeClock) -> None:
    await put(store, *(f"j{n:02}" for n in range(20)), spec=SLOW)
    assert len(await claim(store)) == 3
    clock.advance(0.2)
    assert len(await claim(store)) == 2
    clock.advance(60)
    assert len(await claim(store)) == 3
    assert await claim(store) == []


async def test_an_end_gives_no_token_back(store: Store) -> None:
    await put(store, *"abcde", spec=SLOW)
    for job in await claim(store):
        assert await finish(store, job, State.COMPLETED)
    assert await claim(store) == []


async def test_other_jobs_are_not_held_up(store: Store) -> None:
    await put(store, *(f"j{n}" for n in range(20)), spec=SLOW)
    await put(store, "plain")
    assert ids(await claim(store)) == ["j0", "j1", "j2", "plain"]


async def test_the_rate_holds_over_a_long_time(store: Store, clock: FakeClock) -> None:
    await put(store, *(f"j{n:03}" for n in range(120)), spec=SLOW)
    began: list[str] = []
    for _ in range(100):
        began += ids(await claim(store))
        clock.advance(0.1)
    assert began == [f"j{n:03}" for n in range(3 + 99)]


async def test_a_higher_priority_goes_first_when_the_moment_comes(
    store: Store, clock: FakeClock
) -> None:
    await put(store, *"abcde", spec=SLOW)
    assert len(await claim(store)) == 3
    await put(store, "urgent", spec=SLOW, priority=90)
    clock.advance(0.1)
    assert ids(await claim(store)) == ["urgent"]
    clock.advance(0.1)
    assert ids(await claim(store)) == ["d"]


async def test_a_ticket_that_is_cancelled_is_followed_by_another(
    store: Store, clock: FakeClock
) -> None:
    await put(store, *"abcdef", spec=SLOW)
    assert len(await claim(store)) == 3
    assert await store.cancel(["d"]) == {"d"}
    assert await state_of(store, "e") is State.SCHEDULED
    assert await store.reschedule(["e"], delay=60_000) == {"e"}
    assert await state_of(store, "f") is State.SCHEDULED
    clock.advance(0.1)
    assert ids(await claim(store)) == ["f"]


async def test_a_ticket_that_is_put_off_to_now_goes_to_the_end(
    store: Store, clock: FakeClock
) -> None:
    await put(store, *"abcde", spec=SLOW)
    assert len(await claim(store)) == 3
    assert await store.reschedule(["d"]) == {"d"}
    for id in "ed":
        clock.advance(0.1)
        assert ids(await claim(store)) == [id]


async def test_a_rate_and_slots_hold_together(store: Store, clock: FakeClock) -> None:
    both = Spec("work", b"", lane=Lane("both", slots=2, starts=10, per=1_000, burst=1))
    await put(store, *"abcd", spec=both)
    first = await claim_one(store)
    assert await claim(store) == []
    clock.advance(0.1)
    assert ids(await claim(store)) == ["b"]
    clock.advance(10)
    assert await claim(store) == []
    assert await finish(store, first, State.COMPLETED)
    assert ids(await claim(store)) == ["c"]


async def test_a_window_lets_no_more_than_its_number_start_within_it(
    store: Store, clock: FakeClock
) -> None:
    await put(store, *(f"j{n}" for n in range(9)), spec=SLIDING)
    assert ids(await claim(store)) == ["j0", "j1", "j2"]
    clock.advance(9.999)
    assert await claim(store) == []
    clock.advance(0.3)
    assert ids(await claim(store)) == ["j3", "j4", "j5"]


async def test_a_window_frees_what_started_when_it_did(store: Store, clock: FakeClock) -> None:
    await put(store, *(f"j{n}" for n in range(9)), spec=SLIDING)
    assert len(await claim(store, 1)) == 1
    clock.advance(5)
    assert len(await claim(store)) == 2
    clock.advance(5.3)
    assert len(await claim(store)) == 1
    assert await claim(store) == []
    clock.advance(5)
    assert len(await claim(store)) == 2


async def test_the_rate_outlasts_the_jobs(store: Store, clock: FakeClock) -> None:
    await put(store, *"abc", spec=Spec("work", b"", keep=0, lane=TOKENS))
    for job in await claim(store):
        assert await finish(store, job, State.COMPLETED)
    await store.prune(10)
    await put(store, "d", spec=SLOW)
    assert await claim(store) == []
    clock.advance(0.1)
    assert ids(await claim(store)) == ["d"]


async def test_a_wait_ends_when_the_lane_opens(store: Store, clock: FakeClock) -> None:
    await put(store, *"abcd", spec=SLOW)
    assert len(await claim(store)) == 3
    clock.advance(0.1)
    await store.wait(["default"], 30)
    assert ids(await claim(store)) == ["d"]
