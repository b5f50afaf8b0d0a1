"""Changes to all that a selection finds, batch by batch."""

from typing import Any

import pytest

from windlass.admin import bulk
from windlass.admin.bulk import Total, change_all, count
from windlass.admin.change import BATCH, DELETE_DEAD, REPLAY, delete
from windlass.admin.selection import Selection
from windlass.core.model import JobQuery, Page, Spec
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import bring, claim, counts, finish, put, state_of

DEAD = Selection(states=(State.DEAD,))


async def test_the_count_is_of_the_states_and_the_queue(store: MemoryStore) -> None:
    await put(store, "a", "b", queue="mail")
    await put(store, "c", queue="mail", delay=1_000)
    await put(store, "d", queue="other")
    waiting = (State.PENDING, State.SCHEDULED)
    assert await count(store, Selection(states=waiting)) == 4
    assert await count(store, Selection(states=waiting, queue="mail")) == 3
    assert await count(store, Selection(states=(State.PENDING,), queue="mail")) == 2
    assert await count(store, Selection(states=waiting, queue="nobodys")) == 0


async def test_no_step_is_larger_than_a_batch_and_each_is_told(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = 2 * BATCH + 7
    await put(store, *(f"j{n}" for n in range(total)))
    steps: list[int] = []
    told: list[int] = []
    original = store.delete

    async def counted(ids: Any, states: Any) -> frozenset[str]:
        steps.append(len(ids))
        return await original(ids, states)

    monkeypatch.setattr(store, "delete", counted)
    pending = Selection(states=(State.PENDING,))
    assert await change_all(store, delete(), pending, total, told.append) == Total(total)
    assert steps == told == [BATCH, BATCH, 7]
    assert await counts(store) == {}


async def test_only_what_matches_is_changed(store: MemoryStore) -> None:
    await bring(store, "a", State.DEAD, Spec("send", b""), queue="mail")
    await bring(store, "b", State.DEAD, Spec("send", b""), queue="other")
    await bring(store, "c", State.DEAD, Spec("sweep", b""), queue="mail")
    await put(store, "d", spec=Spec("send", b""), queue="mail")
    selection = Selection(states=(State.DEAD,), queue="mail", task="send")
    assert await change_all(store, DELETE_DEAD, selection, 3) == Total(1)
    assert [await state_of(store, id) for id in "abcd"] == [
        None,
        State.DEAD,
        State.DEAD,
        State.PENDING,
    ]


async def test_only_what_finished_before_a_moment(store: MemoryStore, clock: FakeClock) -> None:
    await bring(store, "old", State.DEAD)
    clock.advance(60)
    moment = clock.now
    await bring(store, "at it", State.DEAD)
    clock.advance(60)
    await bring(store, "young", State.DEAD)
    selection = Selection(states=(State.DEAD,), until=moment)
    assert await change_all(store, DELETE_DEAD, selection, 3) == Total(1)
    assert [await state_of(store, id) for id in ("old", "at it", "young")] == [
        None,
        State.DEAD,
        State.DEAD,
    ]


async def test_jobs_that_come_in_behind_do_not_keep_it_going(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, *(f"j{n}" for n in range(10)))
    find = store.find

    async def find_and_add(query: JobQuery) -> Page:
        page = await find(query)
        await put(store, f"{page.jobs[0].id}+")
        return page

    monkeypatch.setattr(store, "find", find_and_add)
    pending = Selection(states=(State.PENDING,))
    assert await change_all(store, delete(), pending, 10) == Total(10)
    assert await counts(store) == {State.PENDING: 1}


async def test_what_is_refused_is_counted_and_passed_over(store: MemoryStore) -> None:
    await bring(store, "old", State.DEAD, unique="k")
    await put(store, "new", unique="k")
    await bring(store, "free", State.DEAD, queue="other")
    assert await change_all(store, REPLAY, DEAD, 2) == Total(1, 1)
    assert await state_of(store, "old") is State.DEAD
    assert await state_of(store, "free") is State.PENDING


async def test_a_job_that_was_claimed_meanwhile_is_left_alone(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, "a", "b")
    find = store.find

    async def find_then_claim(query: JobQuery) -> Page:
        page = await find(query)
        await claim(store, 1)
        return page

    monkeypatch.setattr(store, "find", find_then_claim)
    pending = Selection(states=(State.PENDING,))
    assert await change_all(store, delete(), pending, 2) == Total(1, 1)
    assert await state_of(store, "a") is State.ACTIVE


async def test_a_replayed_job_that_dies_again_is_not_replayed_for_ever(
    store: MemoryStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        await bring(store, f"j{n}", State.DEAD)
        clock.advance(1)
    replay, replayed = store.replay, []

    async def replay_and_fail(ids: Any) -> frozenset[str]:
        done = await replay(ids)
        for job in await claim(store):
            replayed.append(job.id)
            assert await finish(store, job, State.DEAD)
        clock.advance(1)
        return done

    monkeypatch.setattr(bulk, "BATCH", 1)
    monkeypatch.setattr(store, "replay", replay_and_fail)
    assert await change_all(store, REPLAY, DEAD, 1_000) == Total(3)
    assert replayed == ["j2", "j1", "j0"]
