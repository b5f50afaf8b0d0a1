"""What was kept of attempts moves along with their jobs."""

from typing import Any

import pytest

from windlass.admin import transfer as module
from windlass.admin.move import move
from windlass.core.attempts import AttemptRecord, LogLine
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import FakeClock
from windlass.testing.faults import FaultyStore
from windlass.testing.jobs import bring, job_of, put

HOUR = 3_600_000


@pytest.fixture
def source(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)


@pytest.fixture
def target(clock: FakeClock) -> MemoryStore:
    return MemoryStore(clock)


async def tried(store: MemoryStore, *ids: str, text: str = "hello") -> list[AttemptRecord]:
    """Jobs that were tried once, and what was kept of it."""
    records = []
    for id in ids:
        await bring(store, id, State.RETRY)
        fence = (await job_of(store, id)).fence
        lines = (LogLine(2, "INFO", "work", text),)
        records.append(AttemptRecord(id, "default", fence, 1, "w1", 1, lines=lines))
    await store.note_attempts(records, HOUR)
    return records


async def test_attempts_are_where_their_jobs_are(source: MemoryStore, target: MemoryStore) -> None:
    one, other = await tried(source, "a", "b")
    await put(source, "new")
    await move(source, target)
    assert await target.attempts(["a", "b", "new"]) == {"a": [one], "b": [other]}
    assert await source.attempts(["a", "b"]) == {}


async def test_large_ones_move_a_few_at_a_time(
    source: MemoryStore, target: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LARGEST", 25)
    records = await tried(source, "a", "b", "c", text="ten chars.")
    noted: list[list[str]] = []
    note = target.note_attempts

    async def counted(records: list[AttemptRecord], keep: int) -> None:
        noted.append([record.id for record in records])
        await note(records, keep)

    monkeypatch.setattr(target, "note_attempts", counted)
    await move(source, target)
    assert noted == [["a", "b"], ["c"]]
    assert await target.attempts(["a", "b", "c"]) == {each.id: [each] for each in records}


async def test_they_are_not_lost_if_the_move_dies_before_they_are_there(
    source: MemoryStore, target: MemoryStore
) -> None:
    records = await tried(source, "a")
    faulty: Any = FaultyStore(target)
    faulty.fail["note_attempts"] = 1
    with pytest.raises(StoreUnavailable):
        await move(source, faulty)
    assert await source.attempts(["a"]) == {"a": records}
    await move(source, target)
    assert await target.attempts(["a"]) == {"a": records}
    assert await source.attempts(["a"]) == {}


async def test_a_job_whose_priority_was_changed_between_two_runs_is_the_same_job(
    source: MemoryStore, target: MemoryStore
) -> None:
    await put(source, "a")
    faulty: Any = FaultyStore(source)
    faulty.fail["delete"] = 1
    with pytest.raises(StoreUnavailable):
        await move(faulty, target)
    assert await source.prioritize(["a"], 90) == {"a"}
    report = await move(source, target)
    assert report.left == []
    assert (await job_of(target, "a")).priority == 90
