"""Moving jobs between stores, on the specification: what each step may meet."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from windlass.admin import move as module
from windlass.admin.holds import NOTES, Holds
from windlass.admin.move import Report, Stage, move
from windlass.admin.transfer import LARGEST
from windlass.admin.turn import ROLE, TERM
from windlass.core.model import Job, JobQuery, Page, QueueStats, Receipt, Spec
from windlass.core.states import State
from windlass.errors import InvalidOption, MoveRefused, StoreUnavailable
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.sync import drive
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore
from windlass.testing.jobs import (
    REACHABLE,
    bring,
    claim,
    claim_all,
    claim_one,
    finish,
    ids,
    listing,
    new_job,
    put,
    state_of,
)

STILL = tuple(state for state in REACHABLE if state is not State.ACTIVE)


@pytest.fixture
def source(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)


@pytest.fixture
def target(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)


def comparable(jobs: Sequence[Job]) -> dict[str, Job]:
    return {job.id: msgspec.structs.replace(job, ref=0) for job in jobs if job.queue != NOTES}


async def jobs_of(store: Store) -> dict[str, Job]:
    return comparable(await listing(store))


async def paused(store: Store) -> dict[str, bool]:
    return {queue.name: queue.paused for queue in await store.queues() if queue.name != NOTES}


async def notes(store: Store) -> frozenset[str]:
    return await Holds(store).look()


async def one_of_each(store: Store) -> None:
    for state in STILL:
        await bring(store, state, state, queue=f"q-{state}", unique=state)


async def test_jobs_of_every_state_move_as_they_are(
    source: MemoryStore, target: MemoryStore
) -> None:
    await one_of_each(source)
    before = await jobs_of(source)
    report = await move(source, target)
    assert await jobs_of(target) == before
    assert await jobs_of(source) == {}
    assert report.moved == {(f"q-{state}", state): 1 for state in STILL}
    assert (report.left, dict(report.missing)) == ([], {})
    assert report.target == report.moved


async def test_afterwards_the_target_runs_and_the_source_is_paused(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a")
    await move(source, target)
    assert await paused(source) == {"default": True}
    assert await paused(target) == {"default": False}
    assert await notes(target) == frozenset()
    assert ids(await claim(target)) == ["a"]


async def test_the_order_of_a_queue_stays(source: MemoryStore, target: MemoryStore) -> None:
    names = [f"j{n}" for n in range(module.BATCH * 2 + 1)]
    await put(source, *names)
    await put(source, "first", priority=90)
    await move(source, target)
    assert ids(await claim_all(target)) == ["first", *names]


async def test_large_jobs_move_a_few_at_a_time(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Spec("work", b"x" * (LARGEST // 3 + 1))
    monkeypatch.setattr("windlass.stores.memory.listing.PAGE_BYTES", 2 * LARGEST)
    await put(source, "a", "b", "c", "d", "e", spec=large)
    restore = target.restore
    steps: list[list[str]] = []

    async def counted(jobs: Sequence[Job]) -> Sequence[Receipt]:
        steps.append(ids(jobs))
        return await restore(jobs)

    monkeypatch.setattr(target, "restore", counted)
    await move(source, target)
    assert steps == [["a", "b"], ["c", "d"], ["e"]]


async def test_nothing_can_be_claimed_from_either_side_while_jobs_are_under_way(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(source, *(f"j{n}" for n in range(5)))
    monkeypatch.setattr(module, "BATCH", 2)
    seen: list[int] = []

    def look(stage: Stage) -> None:
        for store in (source, target):
            assert not drive(store.claim({"default": 1}, 1, 1_000, "w1"))
        seen.append(stage.moved)

    await move(source, target, look)
    assert seen[:3] == [0, 2, 4]
    assert seen[-1] == 5


async def test_what_people_paused_stays_paused(source: MemoryStore, target: MemoryStore) -> None:
    for queue in ("ours", "on-source", "on-target"):
        await put(source, queue, queue=queue)
    await source.pause("on-source")
    await source.pause("empty")
    await target.pause("on-target")
    await move(source, target)
    assert await paused(target) == {
        "empty": True,
        "on-source": True,
        "on-target": True,
        "ours": False,
    }
    assert await notes(source) == {"ours", "on-target"}


async def test_a_second_move_brings_what_came_after_the_first(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a")
    await move(source, target)
    await put(source, "b", "c", queue="default")
    report = await move(source, target)
    assert report.moved == {("default", State.PENDING): 2}
    # The pause on the source is the first move's and not taken for people's own.
    assert await paused(target) == {"default": False}


async def test_a_pause_on_the_target_after_a_move_outlives_the_next(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a")
    await move(source, target)
    await target.pause("default")
    await put(source, "b")
    await move(source, target)
    assert await paused(target) == {"default": True}


async def test_jobs_can_move_back(source: MemoryStore, target: MemoryStore) -> None:
    await one_of_each(source)
    await put(source, "held", queue="held")
    await source.pause("held")
    before = await jobs_of(source)
    await move(source, target)
    await move(target, source)
    assert await jobs_of(source) == before
    assert {name for name, is_paused in (await paused(source)).items() if is_paused} == {"held"}
    assert await notes(source) == frozenset()


async def test_running_jobs_are_waited_for(source: MemoryStore, target: MemoryStore) -> None:
    await put(source, "a", "b")
    running = await claim_one(source)
    stages: list[Stage] = []

    async def end_it(_: float) -> None:
        assert await state_of(target, "b") is None
        assert await claim(source) == []
        assert await finish(source, running, State.COMPLETED, result=b"done")

    await move(source, target, stages.append, end_it)
    assert stages[0] == Stage(0, 2, 1)
    done = (await target.get(["a"]))["a"]
    assert (done.state, done.result) == (State.COMPLETED, b"done")
    assert await state_of(target, "b") is State.PENDING


async def test_a_job_that_a_late_claim_takes_on_the_target_is_not_missed(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It had begun before the queue was paused, and ends after the jobs there were counted."""
    await put(source, "a")
    await put(target, "b")
    queues = target.queues

    async def counted_before_the_claim() -> Sequence[QueueStats]:
        found = await queues()
        if any(queue.paused for queue in found) and await state_of(target, "b") is State.PENDING:
            await target.resume("default")
            await claim_one(target)
            await target.pause("default")
        return found

    monkeypatch.setattr(target, "queues", counted_before_the_claim)
    report = await move(source, target)
    assert (report.moved.total(), report.missing) == (1, {})


async def test_a_job_of_a_dead_worker_is_rescued_and_its_loss_counts(
    source: MemoryStore, target: MemoryStore, clock: FakeClock
) -> None:
    await put(source, "a")
    await claim_one(source, lease=1_000)

    async def later(_: float) -> None:
        clock.advance(2)

    await move(source, target, nap=later)
    job = (await target.get(["a"]))["a"]
    assert (job.state, job.attempt, job.lost) == (State.RETRY, 0, 1)
    assert job.error is not None
    assert job.error.kind == "LeaseExpired"


async def test_jobs_that_come_in_meanwhile_move_too(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(source, "a")
    coming = iter(["default", "new-queue", "other"])
    find = source.find

    async def find_and_add(query: JobQuery) -> Page:
        page = await find(query)
        queue = next(coming, None) if query.states == module.MOVABLE else None
        if queue is not None:
            await put(source, f"in-{queue}", queue=queue)
        return page

    monkeypatch.setattr(source, "find", find_and_add)
    await move(source, target)
    assert set(await jobs_of(target)) == {"a", "in-default", "in-new-queue", "in-other"}
    assert await jobs_of(source) == {}
    assert set((await paused(target)).values()) == {False}


async def test_a_job_that_changes_meanwhile_moves_as_it_is_now(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(source, "a")
    restore = target.restore
    calls: list[Sequence[Job]] = []

    async def cancel_after(jobs: Sequence[Job]) -> Sequence[Receipt]:
        receipts = await restore(jobs)
        if not calls:
            await source.cancel(["a"])
        calls.append(jobs)
        return receipts

    monkeypatch.setattr(target, "restore", cancel_after)
    report = await move(source, target)
    assert await state_of(target, "a") is State.CANCELLED
    assert report.moved == {("default", State.CANCELLED): 1}
    assert dict(report.missing) == {}


async def test_a_copy_of_an_earlier_run_is_not_made_twice(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a")
    await target.restore(list((await source.get(["a"])).values()))
    report = await move(source, target)
    assert report.moved == {("default", State.PENDING): 1}
    assert (report.left, dict(report.missing)) == ([], {})
    assert ids(await claim_all(target)) == ["a"]


async def test_a_copy_that_the_target_has_run_counts(
    source: MemoryStore, target: MemoryStore
) -> None:
    """As when people resumed the target's queue while jobs were in both."""
    await put(source, "a")
    await target.restore(list((await source.get(["a"])).values()))
    assert await finish(target, await claim_one(target), State.COMPLETED)
    await move(source, target)
    assert await state_of(target, "a") is State.COMPLETED
    assert await jobs_of(source) == {}


def sentences(report: Report) -> list[str]:
    return [left.reason for left in report.left]


async def test_a_job_whose_key_is_held_stays_and_is_named(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a", unique="k")
    await put(source, "b")
    await put(target, "holder", unique="k")
    report = await move(source, target)
    assert sentences(report) == [
        "Job a of the queue default: job holder on the target has its unique key k."
    ]
    assert set(await jobs_of(source)) == {"a"}
    assert ids(await claim_all(target)) == ["holder", "b"]
    assert await paused(source) == {"default": True}


async def test_a_job_whose_id_is_another_s_stays_and_is_named(
    source: MemoryStore, target: MemoryStore, clock: FakeClock
) -> None:
    await put(source, "a")
    clock.advance(1)
    await put(target, "a")
    report = await move(source, target)
    assert sentences(report) == [
        "Job a of the queue default: the target has another job of this id."
    ]
    assert set(await jobs_of(source)) == {"a"}
    assert report.moved == {}


async def test_what_was_left_moves_when_nothing_is_in_its_way(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a", unique="k")
    await put(target, "holder", unique="k")
    await move(source, target)
    await target.delete(["holder"])
    report = await move(source, target)
    assert report.left == []
    assert set(await jobs_of(target)) == {"a"}


async def test_a_target_that_loses_jobs_is_found_out(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(source, "a", "b", "c")
    restore = target.restore

    async def forgetful(jobs: Sequence[Job]) -> Sequence[Receipt]:
        receipts = await restore(jobs)
        await target.delete(["b"])
        return receipts

    monkeypatch.setattr(target, "restore", forgetful)
    assert dict((await move(source, target)).missing) == {"default": 1}


async def test_jobs_that_the_target_has_of_its_own_do_not_disturb_the_count(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(target, "mine", "running")
    await claim_one(target)
    await put(source, "a")
    report = await move(source, target)
    assert dict(report.missing) == {}
    assert report.target == {("default", State.PENDING): 2, ("default", State.ACTIVE): 1}


async def test_source_and_target_must_be_two_stores(source: MemoryStore) -> None:
    await put(source, "a")
    with pytest.raises(InvalidOption, match="are one store"):
        await move(source, source)
    assert ids(await claim_all(source)) == ["a"]


@pytest.mark.parametrize("side", [0, 1])
async def test_two_moves_at_once_are_refused(
    source: MemoryStore, target: MemoryStore, side: int
) -> None:
    await put(source, "a")
    stores = (source, target)
    await stores[side].elect(ROLE, "another", 60_000)
    with pytest.raises(MoveRefused, match="Another move is under way"):
        await move(source, target)
    assert await paused(source) == {"default": False}
    # What it had taken of the other side is free again.
    assert await stores[1 - side].elect(ROLE, "third", 60_000) is not None


async def test_the_next_move_can_begin_at_once(source: MemoryStore, target: MemoryStore) -> None:
    await move(source, target)
    await move(target, source)


async def test_a_move_that_lost_its_turn_stops_before_it_writes(
    source: MemoryStore, target: MemoryStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Frozen for so long that another has come to the end and resigned."""
    await put(source, "a")
    moment = 0.0
    monkeypatch.setattr("windlass.admin.turn.time.monotonic", lambda: moment)
    find = source.find

    async def freeze(query: JobQuery) -> Page:
        nonlocal moment
        page = await find(query)
        if query.states == (State.ACTIVE,):
            moment += TERM
            clock.advance(TERM)
            await source.elect(ROLE, "another", 1_000)
            await source.resign(ROLE, "another")
        return page

    monkeypatch.setattr(source, "find", freeze)
    with pytest.raises(MoveRefused, match="lost its turn"):
        await move(source, target)
    assert await jobs_of(target) == {}


async def test_a_long_move_keeps_its_turn(
    source: MemoryStore, target: MemoryStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(source, *(f"j{n}" for n in range(20)))
    moment = 0.0
    monkeypatch.setattr(module, "BATCH", 1)
    monkeypatch.setattr("windlass.admin.turn.time.monotonic", lambda: moment)

    def pass_time(_: Stage) -> None:
        nonlocal moment
        moment += TERM / 2
        clock.advance(TERM / 2)

    report = await move(source, target, pass_time)
    assert report.moved.total() == 20


CALLS = ("queues", "find", "insert", "pause", "delete", "restore", "get", "elect", "resume")


@pytest.mark.parametrize("lost", [False, True], ids=["fails", "is-lost"])
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("side", ["source", "target"])
async def test_a_call_that_fails_ends_it_and_the_next_run_completes_it(
    clock: FakeClock, side: str, name: str, lost: bool
) -> None:
    plain = {"source": MemoryStore(clock), "target": MemoryStore(clock)}
    await one_of_each(plain["source"])
    await bring(plain["source"], "held", State.PENDING, queue="held")
    await plain["source"].pause("held")
    before = await jobs_of(plain["source"])
    faulty: dict[str, Any] = dict(plain)
    faults = FaultyStore(plain[side])
    for number in range(1, 200):
        faulty[side] = Nth(faults, name, number, lost)
        try:
            await move(faulty["source"], faulty["target"])
        except StoreUnavailable:
            clock.advance(TERM)  # the turn of one that could not resign expires
            continue
        break
    assert await jobs_of(plain["target"]) == before
    assert await jobs_of(plain["source"]) == {}
    held = {queue for queue, is_paused in (await paused(plain["target"])).items() if is_paused}
    assert held == {"held"}


class Nth:
    """A store whose n-th call of a name fails, or is carried out without an answer."""

    def __init__(self, store: FaultyStore, name: str, number: int, lost: bool) -> None:
        self._store, self._name, self._number, self._lost = store, name, number, lost

    def __getattr__(self, name: str) -> Any:
        if name == self._name:
            self._number -= 1
            if self._number == 0:
                (self._store.lose if self._lost else self._store.fail)[name] = 1
        return getattr(self._store, name)


async def test_a_note_is_a_job_that_is_never_due(source: MemoryStore) -> None:
    holds = Holds(source)
    await holds.take("default")
    [note] = await listing(source)
    assert (note.queue, note.state) == (NOTES, State.SCHEDULED)
    assert await source.claim({NOTES: 1}, 1, 1_000, "w") == []
    await source.insert([new_job("a")])
    assert await claim(source) == []
    await holds.release("default")
    assert ids(await claim(source)) == ["a"]
    assert await notes(source) == frozenset()
