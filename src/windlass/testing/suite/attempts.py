"""What attempts came to and logged: kept for a time, by job and fence, whatever the job does."""

from __future__ import annotations

import asyncio

import msgspec

from ...core.attempts import MOST_ATTEMPTS, AttemptRecord, LogLine
from ...core.model import Failure
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import FLEETING, bring, claim_one, finish, put

replace = msgspec.structs.replace

HOUR = 3_600_000

WHOLE = AttemptRecord(
    "a",
    "büro",
    2**40,
    3,
    "w1",
    1_700_000_000_123,
    1_700_000_000_456,
    State.RETRY,
    Failure("ValueError", "böse 💥", "Traceback …\n  line", 7),
    (
        LogLine(1_700_000_000_200, "INFO", "shop.mail", "sending to Zoë"),
        LogLine(1_700_000_000_300, "ERROR", "root", "two\nlines\x00 and a NUL"),
    ),
    17,
)
"""A record with something in each of its fields."""


def record(id: str, fence: int, text: str = "") -> AttemptRecord:
    lines = (LogLine(1, "INFO", "work", text),) if text else ()
    return AttemptRecord(id, "default", fence, fence, "w1", 1_000, lines=lines)


async def kept(store: Store, *ids: str) -> dict[str, list[AttemptRecord]]:
    return {id: list(records) for id, records in (await store.attempts(ids)).items()}


async def test_a_record_is_kept_as_it_was_noted(store: Store, another_store: Store) -> None:
    await store.note_attempts([WHOLE], HOUR)
    assert await kept(another_store, "a") == {"a": [WHOLE]}


async def test_a_job_without_any_is_missing(store: Store) -> None:
    await put(store, "b")
    await store.note_attempts([record("a", 1)], HOUR)
    await store.note_attempts([], HOUR)
    assert await kept(store, "a", "b", "unknown", "a") == {"a": [record("a", 1)]}
    assert await kept(store) == {}


async def test_they_come_oldest_first(store: Store) -> None:
    await store.note_attempts([record("a", 30), record("b", 2), record("a", 4)], HOUR)
    await store.note_attempts([record("a", 100), record("a", 5)], HOUR)
    found = await kept(store, "b", "a")
    assert [each.fence for each in found["a"]] == [4, 5, 30, 100]
    assert found["b"] == [record("b", 2)]


async def test_one_of_the_same_fence_takes_the_place_of_the_one_before(store: Store) -> None:
    await store.note_attempts([record("a", 1, "begun"), record("a", 2)], HOUR)
    ended = replace(record("a", 1, "done"), ended_at=2_000, state=State.COMPLETED)
    for _ in range(2):
        await store.note_attempts([record("a", 1, "passed over"), ended], HOUR)
        assert await kept(store, "a") == {"a": [ended, record("a", 2)]}


async def test_each_goes_when_its_time_is_over(store: Store, clock: FakeClock) -> None:
    await store.note_attempts([record("a", 1), record("b", 1)], 10_000)
    await store.note_attempts([record("a", 2)], 30_000)
    clock.advance(5)
    await store.note_attempts([record("b", 1, "later")], 10_000)
    clock.advance(5)
    for _ in range(2):
        assert await kept(store, "a", "b") == {
            "a": [record("a", 2)],
            "b": [record("b", 1, "later")],
        }
        assert await store.prune(100) == 0
    clock.advance(20)
    assert await kept(store, "a", "b") == {}
    await store.prune(100)
    assert await kept(store, "a", "b") == {}


async def test_pruning_is_bounded_and_comes_to_an_end(store: Store, clock: FakeClock) -> None:
    await store.note_attempts([record(f"job-{n}", 1) for n in range(8)], 1_000)
    clock.advance(2)
    await store.note_attempts([record("job-3", 2)], HOUR)
    for _ in range(8):
        assert await store.prune(1) == 0
    assert await kept(store, *(f"job-{n}" for n in range(8))) == {"job-3": [record("job-3", 2)]}


async def test_only_the_newest_of_a_job_are_kept(store: Store) -> None:
    many = [record("a", fence) for fence in range(1, MOST_ATTEMPTS + 11)]
    await store.note_attempts([*many[:20], record("b", 1)], HOUR)
    await store.note_attempts(many[20:], HOUR)
    found = await kept(store, "a", "b")
    assert found["a"] == many[10:]
    assert found["b"] == [record("b", 1)]
    await store.note_attempts([record("a", 1_000), many[0]], HOUR)
    assert (await kept(store, "a"))["a"] == [*many[11:], record("a", 1_000)]


async def test_more_than_are_kept_can_be_noted_at_once(store: Store) -> None:
    many = [record("a", fence) for fence in range(1, 2 * MOST_ATTEMPTS)]
    await store.note_attempts(many, HOUR)
    assert (await kept(store, "a"))["a"] == many[-MOST_ATTEMPTS:]


async def test_they_go_with_a_job_that_is_deleted(store: Store) -> None:
    for id in ("done", "waits"):
        await put(store, id, queue=id)
    await bring(store, "runs", State.ACTIVE, queue="runs")
    await store.note_attempts([record(id, 1) for id in ("done", "waits", "runs", "gone")], HOUR)
    assert await finish(store, await claim_one(store, queue="done"), State.COMPLETED)
    assert await store.delete(["done", "waits", "runs"]) == {"done", "waits"}
    assert set(await kept(store, "done", "waits", "runs")) == {"runs"}


async def test_they_outlast_a_job_that_is_not_kept(store: Store) -> None:
    await put(store, "a", spec=FLEETING)
    job = await claim_one(store)
    await store.note_attempts([record("a", job.fence, "begun")], HOUR)
    assert await finish(store, job, State.COMPLETED)
    assert await store.get(["a"]) == {}
    assert set(await kept(store, "a")) == {"a"}
    await store.note_attempts([record("a", job.fence, "late")], HOUR)
    assert await kept(store, "a") == {"a": [record("a", job.fence, "late")]}


async def test_an_attempt_that_lost_its_lease_is_heard(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await store.cancel(["a"]) == {"a"}
    late = replace(record("a", job.fence, "still here"), ended_at=2_000)
    await store.note_attempts([late], HOUR)
    assert await kept(store, "a") == {"a": [late]}


async def test_large_records_are_kept_whole(store: Store) -> None:
    lines = tuple(LogLine(n, "INFO", "work", "x" * 1_000) for n in range(500))
    large = replace(record("a", 1), lines=lines)
    await store.note_attempts([large], HOUR)
    assert await kept(store, "a") == {"a": [large]}


async def test_many_can_note_at_once(store: Store, another_store: Store) -> None:
    stores = [store, another_store] * 5
    jobs = [f"job-{n}" for n in range(8)]
    await asyncio.gather(
        *(
            each.note_attempts([record(id, fence) for id in jobs], HOUR)
            for fence, each in enumerate(stores, 1)
        )
    )
    found = await kept(store, *jobs)
    assert {id: [each.fence for each in found[id]] for id in jobs} == {
        id: [*range(1, 11)] for id in jobs
    }


async def test_they_are_no_jobs_and_no_queues(store: Store) -> None:
    await store.note_attempts([WHOLE], HOUR)
    assert list(await store.queues()) == []
    assert await store.get(["a"]) == {}
