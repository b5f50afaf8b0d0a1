"""Accepting jobs: receipts, duplicates, and the state that a job starts in."""

from __future__ import annotations

from ...core.model import DEFAULT_PRIORITY, DEFAULT_QUEUE, Receipt, Spec
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    FLEETING,
    REACHABLE,
    WORK,
    bring,
    claim_all,
    claim_one,
    counts,
    finish,
    job_of,
    new_job,
    put,
    state_of,
)


async def test_a_new_job_is_pending_and_as_asked(store: Store, clock: FakeClock) -> None:
    spec = Spec("work", b"\x01", max_retries=7, timeout=5_000, labels={"k": "v"})
    assert await store.insert([new_job("a", spec)]) == [Receipt("a")]
    job = await job_of(store, "a")
    assert (job.id, job.spec, job.queue) == ("a", spec, DEFAULT_QUEUE)
    assert (job.state, job.priority) == (State.PENDING, DEFAULT_PRIORITY)
    assert (job.created_at, job.due, job.attempt) == (clock(), clock(), 0)
    assert (job.worker, job.lease_until, job.started_at, job.finished_at) == (None,) * 4
    assert (job.unique, job.result, job.error) == (None, None, None)


async def test_options_are_kept(store: Store) -> None:
    await store.insert([new_job("a", queue="mail", priority=99, unique="k")])
    job = await job_of(store, "a")
    assert (job.queue, job.priority, job.unique) == ("mail", 99, "k")


async def test_an_empty_batch_is_no_work(store: Store) -> None:
    assert list(await store.insert([])) == []
    assert list(await store.queues()) == []


async def test_receipts_come_in_the_order_asked(store: Store) -> None:
    await put(store, "b")
    receipts = await store.insert([new_job("c"), new_job("b"), new_job("a")])
    assert receipts == [Receipt("c"), Receipt("b", duplicate=True), Receipt("a")]


async def test_a_duplicate_id_changes_nothing(store: Store, clock: FakeClock) -> None:
    await put(store, "a", priority=10)
    before = await job_of(store, "a")
    clock.advance(1)
    other = Spec("other", b"other")
    receipts = await store.insert([new_job("a", other, queue="other", priority=90, delay=500)])
    assert receipts == [Receipt("a", duplicate=True)]
    assert await job_of(store, "a") == before
    assert await counts(store, "other") == {}


async def test_an_id_is_a_duplicate_in_every_state(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    receipts = await store.insert([new_job(state) for state in REACHABLE])
    assert receipts == [Receipt(state, duplicate=True) for state in REACHABLE]
    for state in REACHABLE:
        assert await state_of(store, state) is state


async def test_the_first_of_two_in_a_batch_wins(store: Store) -> None:
    receipts = await store.insert([new_job("a", priority=1), new_job("a", priority=2)])
    assert receipts == [Receipt("a"), Receipt("a", duplicate=True)]
    assert (await job_of(store, "a")).priority == 1
    assert await counts(store) == {State.PENDING: 1}


async def test_a_duplicate_does_not_affect_the_others(store: Store) -> None:
    await put(store, "b")
    await store.insert([new_job("a"), new_job("b"), new_job("c")])
    assert set(await store.get(["a", "b", "c"])) == {"a", "b", "c"}
    assert await counts(store) == {State.PENDING: 3}


async def test_an_id_that_left_can_come_again(store: Store) -> None:
    await put(store, "a", spec=FLEETING)
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await store.insert([new_job("a")]) == [Receipt("a")]
    assert (await job_of(store, "a")).attempt == 0


async def test_a_delay_makes_it_scheduled(store: Store, clock: FakeClock) -> None:
    await put(store, "a", delay=1)
    job = await job_of(store, "a")
    assert (job.state, job.due) == (State.SCHEDULED, clock() + 1)


async def test_a_moment_to_come_makes_it_scheduled(store: Store, clock: FakeClock) -> None:
    await put(store, "a", due=clock() + 1)
    job = await job_of(store, "a")
    assert (job.state, job.due) == (State.SCHEDULED, clock() + 1)


async def test_the_present_moment_makes_it_pending(store: Store, clock: FakeClock) -> None:
    await put(store, "a", due=clock())
    job = await job_of(store, "a")
    assert (job.state, job.due) == (State.PENDING, clock())


async def test_a_moment_gone_by_makes_it_pending(store: Store, clock: FakeClock) -> None:
    await put(store, "a", due=clock() - 5_000)
    job = await job_of(store, "a")
    assert (job.state, job.due) == (State.PENDING, clock() - 5_000)


async def test_a_batch_of_a_thousand(store: Store) -> None:
    names = [f"job-{n:04}" for n in range(1_000)]
    receipts = await store.insert([new_job(name) for name in names])
    assert receipts == [Receipt(name) for name in names]
    assert [job.id for job in await claim_all(store)] == names


async def test_a_mixed_batch_of_a_thousand(store: Store) -> None:
    known = {f"job-{n:04}" for n in range(0, 1_000, 7)}
    await put(store, *sorted(known))
    names = [f"job-{n:04}" for n in range(1_000)]
    receipts = await store.insert(
        [new_job(name, delay=n % 2, queue=f"q{n % 5}") for n, name in enumerate(names)]
    )
    assert receipts == [Receipt(name, duplicate=name in known) for name in names]
    assert len(await store.get(names)) == 1_000
    assert sum(sum(stats.counts.values()) for stats in await store.queues()) == 1_000


async def test_repeating_an_insert_is_harmless(store: Store) -> None:
    batch = [new_job(f"job-{n}", WORK, unique=f"key-{n}") for n in range(10)]
    await store.insert(batch)
    receipts = await store.insert(batch)
    assert receipts == [Receipt(job.id, duplicate=True) for job in batch]
    assert await counts(store) == {State.PENDING: 10}


async def test_get_leaves_out_the_unknown(store: Store) -> None:
    await put(store, "a", "b")
    assert set(await store.get(["b", "nobody", "a", "a"])) == {"a", "b"}
    assert dict(await store.get([])) == {}
