"""What is found out about a job, from a real store."""

import pytest

from windlass.admin import facts
from windlass.admin.facts import Line, look, served_by
from windlass.core.model import NewJob, Spec
from windlass.core.states import State
from windlass.core.workers import WorkerInfo
from windlass.errors import UnknownJob
from windlass.stores.contract import SCAN_BATCH
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import bring, claim, put


async def test_a_pending_job_has_its_place_in_the_line_of_its_queue(store: MemoryStore) -> None:
    await put(store, "other", queue="a")
    await put(store, "first", "second", "third", queue="mail")
    await put(store, "urgent", queue="mail", priority=90)
    await put(store, "idle", queue="mail", priority=10)
    found = [
        (await look(store, id, 0)).line for id in ("urgent", "first", "third", "idle", "other")
    ]
    assert found == [Line(0), Line(1), Line(3), Line(4), Line(0)]


async def test_a_line_is_counted_over_pages_and_not_for_ever(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, *(f"j{n:05}" for n in range(2 * SCAN_BATCH + 2)))
    last = f"j{2 * SCAN_BATCH + 1:05}"
    assert (await look(store, last, 0)).line == Line(2 * SCAN_BATCH + 1)
    monkeypatch.setattr(facts, "MOST_COUNTED", 2 * SCAN_BATCH)
    assert (await look(store, last, 0)).line == Line(2 * SCAN_BATCH, more=True)


async def test_a_job_that_is_claimed_while_its_line_is_counted_is_looked_at_again(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(store, "j")
    find = store.find

    async def find_too_late(query: object) -> object:
        await claim(store)
        return await find(query)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "find", find_too_late)
    found = await look(store, "j", 0)
    assert (found.job.state, found.line) == (State.ACTIVE, None)


@pytest.mark.parametrize("state", [State.SCHEDULED, State.ACTIVE, State.DEAD])
async def test_a_job_that_is_not_pending_has_no_line(store: MemoryStore, state: State) -> None:
    await bring(store, "j", state)
    found = await look(store, "j", 7)
    assert (found.job.state, found.line, found.now, found.paused) == (state, None, 7, False)


async def test_only_its_own_queue_is_paused(store: MemoryStore) -> None:
    await put(store, "a", queue="a")
    await put(store, "b", queue="b")
    await store.pause("b")
    assert [(await look(store, id, 0)).paused for id in ("a", "b")] == [False, True]


async def test_workers_are_those_that_are_heard_of(store: MemoryStore, clock: FakeClock) -> None:
    await bring(store, "j", State.ACTIVE)
    await store.beat(WorkerInfo("w1", "h", 1, ("default",), 10, clock.now), 5_000)
    await store.beat(WorkerInfo("w2", "h", 2, ("other",), 10, clock.now), 60_000)
    found = await look(store, "j", clock.now)
    assert [worker.id for worker in found.workers] == ["w1", "w2"]
    assert [worker.id for worker in found.serving] == ["w1"]
    assert found.owner is not None and found.owner.id == "w1"
    clock.advance(10)
    found = await look(store, "j", clock.now)
    assert [worker.id for worker in found.workers] == ["w2"]
    assert (found.serving, found.owner) == ([], None)


async def test_active_jobs_are_counted_for_the_queue_and_for_the_worker(
    store: MemoryStore,
) -> None:
    await put(store, "a", "b", "c", queue="mail")
    await put(store, "d", queue="other")
    await claim(store, 2, queue="mail", worker="w1")
    await claim(store, queue="other", worker="w1")
    await claim(store, queue="mail", worker="w2")
    found = [await look(store, id, 0) for id in ("a", "c", "d")]
    assert [(each.active, each.held) for each in found] == [(3, 3), (3, 1), (1, 3)]


async def test_an_unknown_id(store: MemoryStore) -> None:
    with pytest.raises(UnknownJob, match="There is no job nobody"):
        await look(store, "nobody", 0)


async def test_a_blocked_job_is_looked_at_with_those_that_it_waits_for(store: MemoryStore) -> None:
    await put(store, "a", "b")
    await store.insert([NewJob("j", Spec("t", b"", parents=("a", "b")))])
    found = await look(store, "j", 0)
    assert {id: job.state for id, job in found.awaited.items()} == {
        "a": State.PENDING,
        "b": State.PENDING,
    }


def test_each_queue_has_the_workers_that_name_it_and_those_of_every_queue() -> None:
    def worker(id: str, *queues: str) -> WorkerInfo:
        return WorkerInfo(id, "h", 1, queues, 10, 0)

    crew = [worker("all", "*"), worker("a", "mail:3", "films"), worker("both", "mail", "*")]
    found = served_by(crew, ["mail", "films", "other"])
    assert {name: [each.id for each in workers] for name, workers in found.items()} == {
        "mail": ["a", "all", "both"],
        "films": ["a", "all", "both"],
        "other": ["all", "both"],
    }
