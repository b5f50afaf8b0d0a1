"""Groups of one queue take turns, each by its weight."""

from __future__ import annotations

from collections import Counter

from ...core.lane import Lane
from ...core.model import Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, claim, claim_all, claim_one, finish, ids, put


def of(group: str, weight: int = 1) -> Spec:
    return Spec("work", b"", group=group, weight=weight)


async def fill(store: Store, group: str, number: int, weight: int = 1) -> None:
    names = [f"{group}{n:03}" for n in range(number)]
    await put(store, *names, spec=of(group, weight))


async def test_groups_take_turns_however_many_jobs_one_has(store: Store) -> None:
    await fill(store, "a", 100)
    await fill(store, "b", 3)
    await fill(store, "c", 2)
    order = ids(await claim(store, 9))
    assert order == ["a000", "b000", "c000", "a001", "b001", "c001", "a002", "b002", "a003"]


async def test_within_a_group_the_first_goes_first(store: Store) -> None:
    await fill(store, "b", 20)
    await fill(store, "a", 20)
    jobs = ids(await claim_all(store))
    for group in "ab":
        assert [id for id in jobs if id[0] == group] == [f"{group}{n:03}" for n in range(20)]


async def test_who_comes_late_does_not_wait_behind_a_backlog(store: Store) -> None:
    await fill(store, "a", 100)
    assert len(await claim(store, 50)) == 50
    await fill(store, "late", 2)
    assert ids(await claim(store, 4)) == ["a050", "late000", "a051", "late001"]


async def test_who_comes_late_gets_no_more_than_its_turns(store: Store) -> None:
    await fill(store, "a", 100)
    assert len(await claim(store, 50)) == 50
    await fill(store, "late", 50)
    turns = Counter(id[0] for id in ids(await claim(store, 40)))
    assert turns == {"a": 20, "l": 20}


async def test_a_weight_gives_more_turns(store: Store) -> None:
    await fill(store, "a", 100)
    await fill(store, "b", 100, weight=3)
    turns = Counter(id[0] for id in ids(await claim(store, 40)))
    assert turns == {"a": 10, "b": 30}


async def test_groups_whose_turns_meet_keep_to_their_weights(store: Store) -> None:
    """Each group that finds its place taken is a little late, and must not lose turns by it."""
    weights = {"a": 1, "b": 6, "c": 8, "d": 8, "e": 12}
    rounds = 4
    for each in range(rounds + 2):
        for group, weight in weights.items():
            names = [f"{group}{each}-{n}" for n in range(weight)]
            await put(store, *names, spec=of(group, weight))
    number = rounds * sum(weights.values())
    turns = Counter(job.id[0] for job in await claim(store, number))
    for group, weight in weights.items():
        assert abs(turns[group] - rounds * weight) <= 1, turns


async def test_priority_goes_before_turns(store: Store) -> None:
    await fill(store, "a", 3)
    await put(store, "urgent", spec=of("a"), priority=90)
    await put(store, "slow", spec=of("b"), priority=10)
    assert ids(await claim(store)) == ["urgent", "a000", "a001", "a002", "slow"]


async def test_jobs_without_a_group_go_before_those_with_one(store: Store) -> None:
    await fill(store, "a", 2)
    await put(store, "plain")
    assert ids(await claim(store)) == ["plain", "a000", "a001"]


async def test_groups_of_two_queues_have_nothing_to_do_with_each_other(store: Store) -> None:
    await put(store, *(f"a{n}" for n in range(10)), spec=of("g"), queue="one")
    await put(store, "b", spec=of("h"), queue="two")
    assert len(await claim(store, queue="one")) == 10
    await put(store, "c", spec=of("g"), queue="two")
    assert ids(await claim(store, queue="two")) == ["b", "c"]


async def test_what_was_cancelled_takes_no_turns(store: Store) -> None:
    await fill(store, "a", 50)
    await store.cancel([f"a{n:03}" for n in range(50)])
    await fill(store, "b", 3)
    await put(store, "again", spec=of("a"))
    assert ids(await claim(store, 2)) == ["b000", "again"]


async def test_the_turn_that_a_rescheduled_job_leaves_is_not_taken(store: Store) -> None:
    await fill(store, "a", 1)
    await fill(store, "b", 2)
    await store.reschedule(["a000"])
    assert ids(await claim(store)) == ["a000", "b000", "b001"]


async def test_due_and_retried_jobs_take_their_turn_when_they_come(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "later", spec=of("b"), delay=1_000)
    await fill(store, "a", 10)
    job = await claim_one(store)
    assert await finish(store, job, State.RETRY, delay=1_000, error=BOOM)
    clock.advance(1)
    assert ids(await claim(store, 3)) == ["a001", "later", "a002"]


async def test_more_groups_than_one_step_has_places(store: Store) -> None:
    names = [f"g{n:04}" for n in range(300)]
    for name in names:
        await put(store, f"{name}-x", f"{name}-y", spec=of(name))
    jobs = ids(await claim_all(store))
    assert jobs == [f"{name}-x" for name in names] + [f"{name}-y" for name in names]


async def test_groups_and_lanes_go_together(store: Store) -> None:
    lane = Lane("l", slots=2)
    for group, number in (("a", 4), ("b", 2)):
        names = [f"{group}{n}" for n in range(number)]
        await put(store, *names, spec=Spec("work", b"", lane=lane, group=group))
    order: list[str] = []
    while jobs := await claim(store):
        order += ids(jobs)
        for job in jobs:
            assert await finish(store, job, State.COMPLETED)
    assert order == ["a0", "a1", "b0", "b1", "a2", "a3"]
