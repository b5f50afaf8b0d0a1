"""The journal: a note of everything that ends, made in the step that ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ...core.model import Entry, Failure, Progress, Spec, Transition, weight
from ...core.states import AFTER_ACTIVE, FINISHED, State
from ...stores.contract import PAGE_BYTES, Store
from ..clock import FakeClock
from ..jobs import (
    BOOM,
    FLEETING,
    LEASE,
    bring,
    claim,
    claim_all,
    claim_one,
    finish,
    job_of,
    new_job,
    put,
)

ALL = 10_000


def ids(entries: Iterable[Entry]) -> list[str]:
    return [entry.job.id for entry in entries]


async def the_entry(store: Store) -> Entry:
    """The one entry that there is, taken out."""
    entries = await store.read_journal(ALL)
    assert len(entries) == 1, ids(entries)
    await store.trim_journal(entries)
    return entries[0]


async def test_it_is_off_until_it_is_switched_on(store: Store) -> None:
    for state in AFTER_ACTIVE:
        await bring(store, state, state, queue=state)
    await bring(store, "waiting", State.SCHEDULED)
    await store.cancel(["waiting"])
    assert list(await store.read_journal(ALL)) == []


async def test_every_end_of_an_attempt_is_noted(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    for state in AFTER_ACTIVE:
        await put(store, state, queue=state, priority=7, unique=state)
        claimed = await claim_one(store, queue=state, worker="w7")
        clock.advance(2)
        assert await finish(store, claimed, state, delay=60_000, error=BOOM)
        entry = await the_entry(store)
        assert (entry.at, entry.ran) == (clock(), True)
        assert (entry.job.started_at, entry.job.worker) == (claimed.started_at, "w7")
        assert entry.job == await job_of(store, state)
        assert entry.job.fence == claimed.fence


async def test_a_result_is_noted_with_its_job(store: Store) -> None:
    await store.keep_journal(True)
    for n, result in enumerate([b"42", None, bytes(range(256))]):
        await put(store, f"job-{n}")
        assert await finish(store, await claim_one(store), State.COMPLETED, result=result)
        assert (await the_entry(store)).job.result == result


async def test_a_job_that_is_not_kept_is_noted_whole(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    large = Spec("work", b"x" * 20_000, keep=0, labels={"tenant": "a"})
    failure = Failure("ValueError", "naïve 💥", "line 1\nline 2")
    for state in (State.COMPLETED, State.CANCELLED):
        await put(store, state, spec=large)
        first = await claim_one(store)
        assert await finish(store, first, State.PENDING, error=failure)
        await the_entry(store)
        job = await claim_one(store)
        await store.report([(job.lease, Progress(50.0, "half"))])
        assert await finish(store, job, state, result=b"done")
        assert await store.get([state]) == {}
        noted = (await the_entry(store)).job
        assert (noted.spec, noted.error, noted.result) == (large, failure, b"done")
        assert (noted.state, noted.finished_at, noted.attempt) == (state, clock(), 2)
        assert noted.progress == Progress(50.0, "half")


async def test_the_error_of_a_former_attempt_is_noted_too(store: Store) -> None:
    await store.keep_journal(True)
    await put(store, "a")
    assert await finish(store, await claim_one(store), State.RETRY, error=BOOM)
    assert (await the_entry(store)).job.error == BOOM
    assert await finish(store, await claim_one(store), State.COMPLETED, result=b"at last")
    noted = (await the_entry(store)).job
    assert (noted.result, noted.error, noted.attempt) == (b"at last", BOOM, 2)


async def test_cancelling_an_active_job_ends_its_attempt(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    await bring(store, "a", State.ACTIVE)
    clock.advance(1)
    assert await store.cancel(["a"]) == {"a"}
    entry = await the_entry(store)
    assert (entry.ran, entry.at, entry.job.state) == (True, clock(), State.CANCELLED)
    assert entry.job == await job_of(store, "a")


async def test_cancelling_a_waiting_job_ends_the_job_alone(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    for state in (State.PENDING, State.SCHEDULED, State.RETRY):
        await bring(store, state, state, queue=state)
        await store.trim_journal(await store.read_journal(ALL))
        assert await store.cancel([state]) == {state}
        entry = await the_entry(store)
        assert (entry.ran, entry.at, entry.job.state) == (False, clock(), State.CANCELLED)
        assert entry.job == await job_of(store, state)


async def test_a_waiting_job_that_is_not_kept_is_noted_when_cancelled(store: Store) -> None:
    await store.keep_journal(True)
    await bring(store, "a", State.PENDING, FLEETING)
    assert await store.cancel(["a"]) == {"a"}
    assert (await the_entry(store)).job.spec == FLEETING


async def test_a_lost_attempt_is_noted_when_it_is_settled(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    await bring(store, "a", State.ACTIVE)
    clock.advance(31)
    rescued = await store.rescue(10, LEASE, "rescuer")
    assert list(await store.read_journal(ALL)) == []
    assert await finish(store, rescued[0], State.RETRY, error=BOOM)
    entry = await the_entry(store)
    assert (entry.job.state, entry.job.fence) == (State.RETRY, rescued[0].fence)


async def test_what_is_refused_is_not_noted(store: Store) -> None:
    await store.keep_journal(True)
    await put(store, "a")
    late = await claim_one(store)
    assert await finish(store, late, State.PENDING)
    await the_entry(store)
    owner = await claim_one(store)
    assert not await finish(store, late, State.COMPLETED)
    assert await finish(store, owner, State.COMPLETED)
    assert not await finish(store, owner, State.COMPLETED)
    assert await store.cancel(["a", "nobody"]) == frozenset()
    assert (await the_entry(store)).job.fence == owner.fence


async def test_nothing_but_an_end_is_noted(store: Store) -> None:
    await store.keep_journal(True)
    await bring(store, "a", State.DEAD)
    await the_entry(store)
    assert await store.replay(["a"]) == {"a"}
    assert await store.reschedule(["a"], 60_000) == {"a"}
    assert await store.delete(["a"]) == {"a"}
    await bring(store, "b", State.ACTIVE)
    assert list(await store.read_journal(ALL)) == []


async def test_entries_stay_until_they_are_trimmed(store: Store) -> None:
    await store.keep_journal(True)
    await put(store, "a", "b", "c")
    for job in await claim(store):
        assert await finish(store, job, State.COMPLETED)
    first = await store.read_journal(ALL)
    assert list(await store.read_journal(ALL)) == list(first)
    assert len({entry.key for entry in first}) == 3
    await store.trim_journal(first[:2])
    assert list(await store.read_journal(ALL)) == list(first[2:])
    await store.trim_journal(first)
    assert list(await store.read_journal(ALL)) == []


async def test_the_oldest_come_first_and_no_more_than_asked(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    for n in range(6):
        await put(store, f"job-{n}", queue=f"q{n % 3}")
        assert await finish(store, await claim_one(store, queue=f"q{n % 3}"), State.COMPLETED)
        clock.advance(1)
    seen: list[str] = []
    while entries := await store.read_journal(2):
        assert len(entries) <= 2
        seen += ids(entries)
        await store.trim_journal(entries)
    assert seen == [f"job-{n}" for n in range(6)]


async def test_trimming_twice_takes_nothing_that_came_since(store: Store) -> None:
    await store.keep_journal(True)
    await bring(store, "a", State.COMPLETED)
    former = await store.read_journal(ALL)
    await store.trim_journal(former)
    await bring(store, "b", State.COMPLETED)
    await store.trim_journal(former)
    await store.trim_journal([])
    assert ids(await store.read_journal(ALL)) == ["b"]


async def test_a_job_that_ends_twice_is_noted_twice(store: Store) -> None:
    await store.keep_journal(True)
    await bring(store, "a", State.DEAD)
    assert await store.replay(["a"]) == {"a"}
    assert await finish(store, await claim_one(store), State.COMPLETED)
    first, second = sorted(await store.read_journal(ALL), key=lambda entry: entry.job.fence)
    assert (first.job.state, second.job.state) == (State.DEAD, State.COMPLETED)
    assert first.job.fence < second.job.fence


async def test_the_switch_holds_for_every_handle(store: Store, another_store: Store) -> None:
    await store.keep_journal(True)
    await bring(another_store, "a", State.COMPLETED)
    assert ids(await store.read_journal(ALL)) == ["a"]
    await another_store.keep_journal(False)
    await bring(store, "b", State.COMPLETED)
    assert ids(await store.read_journal(ALL)) == ["a"]
    assert ids(await another_store.read_journal(ALL)) == ["a"]


async def test_switching_it_off_keeps_what_was_noted(store: Store) -> None:
    await store.keep_journal(True)
    await store.keep_journal(True)
    await bring(store, "a", State.COMPLETED)
    await store.keep_journal(False)
    await bring(store, "b", State.COMPLETED)
    await store.keep_journal(True)
    await bring(store, "c", State.COMPLETED)
    assert sorted(ids(await store.read_journal(ALL))) == ["a", "c"]


async def test_a_batch_of_every_kind_is_noted(store: Store) -> None:
    await store.keep_journal(True)
    states = sorted(AFTER_ACTIVE)
    await put(store, *states)
    jobs = await claim(store)
    await store.finish([Transition(job.id, job.fence, State(job.id), delay=60_000) for job in jobs])
    entries = await store.read_journal(ALL)
    assert {entry.job.id: entry.job for entry in entries} == await store.get(states)
    assert {entry.job.state for entry in entries} == set(states) > FINISHED


async def test_a_thousand_entries_are_read_in_portions(store: Store) -> None:
    await store.keep_journal(True)
    await store.insert([new_job(f"job-{n}", queue=f"q{n % 3}") for n in range(1_000)])
    jobs = await claim_all(store, "q0", "q1", "q2")
    await store.finish([Transition(job.id, job.fence, State.COMPLETED) for job in jobs])
    seen: list[str] = []
    while entries := await store.read_journal(300):
        seen += ids(entries)
        await store.trim_journal(entries)
    assert sorted(seen) == sorted(job.id for job in jobs)


async def test_two_readers_at_once_lose_nothing(store: Store, another_store: Store) -> None:
    await store.keep_journal(True)
    await put(store, *(f"job-{n}" for n in range(100)))
    jobs = await claim_all(store)
    seen: set[str] = set()

    async def hand_over(source: Store) -> None:
        while entries := await source.read_journal(10):
            seen.update(ids(entries))
            await source.trim_journal(entries)

    async def work() -> None:
        for job in jobs:
            assert await finish(store, job, State.COMPLETED)

    await asyncio.gather(work(), hand_over(store), hand_over(another_store))
    await hand_over(store)
    assert seen == {job.id for job in jobs}


async def test_one_look_is_bounded_by_bytes(store: Store) -> None:
    await store.keep_journal(True)
    names = [f"job-{n}" for n in range(12)]
    for name in names:
        await bring(store, name, State.COMPLETED, Spec("work", bytes(PAGE_BYTES // 8)))
    seen = list[str]()
    while entries := await store.read_journal(ALL):
        size = sum(weight(entry.job) for entry in entries)
        assert size <= PAGE_BYTES + PAGE_BYTES // 8
        seen += ids(entries)
        await store.trim_journal(entries)
    assert sorted(seen) == sorted(names)
