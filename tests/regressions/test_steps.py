"""Faults of the steps of a queue: lost, doubled, stuck. Each is impossible here, and the proof."""

import asyncio

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import NewJob, Spec
from windlass.scheduler.rescuer import Rescuer
from windlass.stores.contract import Store
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import (
    claim,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    listing,
    put,
)
from windlass.testing.work import work

ONE = WorkerSettings(concurrency=1)


async def test_no_job_counts_as_done_before_its_handler_has_ended(
    store: Store, clock: FakeClock, rescuer: Rescuer
) -> None:
    """A mark of success that is written first loses the job in a crash."""
    await put(store, "a")
    claimed = await claim_one(store)
    assert (await job_of(store, "a")).state is State.ACTIVE
    clock.advance(60)
    assert await rescuer.rescue() == 1
    clock.advance(60)
    again = await claim_one(store)
    assert (again.id, again.attempt, again.lost, again.result) == ("a", 1, 1, None)
    assert again.fence > claimed.fence


async def test_a_claim_is_one_step_and_no_job_is_ever_without_a_lease_or_a_place_in_line(
    store: Store,
) -> None:
    """Taken off the line in one step and leased in another, it is lost in between."""
    await put(store, *(f"j{n}" for n in range(20)))
    taken = await asyncio.gather(*(claim(store, 3, worker=f"w{n}") for n in range(5)))
    claimed = [job for jobs in taken for job in jobs]
    assert len(set(ids(claimed))) == len(claimed) == 15
    for job in (await store.get(ids(claimed))).values():
        assert (job.state, job.lease_until is not None) == (State.ACTIVE, True)
    assert await counts(store) == {State.ACTIVE: 15, State.PENDING: 5}


async def test_a_retry_is_one_step_and_leaves_the_job_in_one_state(store: Store) -> None:
    """Removed first and added again second, it is lost in between."""
    await put(store, "a")
    job = await claim_one(store)
    assert await finish(store, job, State.RETRY, delay=1_000)
    assert await counts(store) == {State.RETRY: 1}
    assert ids(await listing(store)) == ["a"]
    await finish(store, job, State.RETRY, delay=1_000)
    assert await counts(store) == {State.RETRY: 1}


async def test_two_who_move_the_same_job_move_it_once(store: Store, clock: FakeClock) -> None:
    """Who does not ask whether it was the one that took the job away makes two of it."""
    await put(store, *(f"j{n}" for n in range(10)), delay=1_000)
    clock.advance(1)
    first, second = await asyncio.gather(claim(store, 10), claim(store, 10))
    assert len({*ids(first), *ids(second)}) == len(first) + len(second) == 10
    clock.advance(60)
    one, two = await asyncio.gather(store.rescue(6, 1_000, "r1"), store.rescue(6, 1_000, "r2"))
    assert len({*ids(one), *ids(two)}) == len(one) + len(two) == 10


async def test_what_a_dead_worker_had_is_found_by_whoever_lives(
    app: Windlass, store: Store, clock: FakeClock
) -> None:
    """Claimed jobs that nobody looks for stay claimed for ever."""

    @app.task
    async def orphan() -> str:
        return "home"

    handle = await orphan.aenqueue()
    await claim_one(store, worker="killed")
    clock.advance(60)
    worker = await app.worker(WorkerSettings(rescue_interval=0.05))
    await worker.start()
    try:
        assert await handle.aresult(timeout=20) == "home"
    finally:
        await worker.stop()


async def test_a_late_worker_can_neither_renew_nor_finish_what_another_has(
    store: Store, clock: FakeClock
) -> None:
    """Without a fence a worker that wakes up late overwrites the work of the next one."""
    await put(store, "a")
    late = await claim_one(store)
    clock.advance(60)
    [owned] = await store.rescue(1, 60_000, "next")
    assert await store.renew([late.lease], 60_000) == frozenset()
    assert not await finish(store, late, State.COMPLETED, result=b"late")
    assert await store.renew([owned.lease], 60_000) == {"a"}
    assert await finish(store, owned, State.COMPLETED, result=b"mine")
    assert (await job_of(store, "a")).result == b"mine"


async def test_a_job_that_kills_its_worker_every_time_is_dead_in_the_end(
    store: Store, clock: FakeClock, rescuer: Rescuer
) -> None:
    """A rescue that counts nothing lets it kill workers for ever."""
    await put(store, "a", spec=Spec("killer", b"", max_retries=2))
    for _ in range(3):
        clock.advance(3_600)
        await claim_one(store)
        clock.advance(60)
        assert await rescuer.rescue() == 1
    assert (await job_of(store, "a")).state is State.DEAD
    clock.advance(3_600)
    assert await claim(store) == []


async def test_a_job_that_cannot_be_read_dies_with_its_reason_and_blocks_nobody(
    app: Windlass, store: Store
) -> None:
    """Poison that stops the line, leaks from it, or vanishes."""

    @app.task
    async def fine() -> str:
        return "fine"

    await store.insert([NewJob("poison", Spec("fine", b"\xc1\xff"))])
    after = await fine.aenqueue()
    await work(app, ONE)
    dead = await job_of(store, "poison")
    assert dead.state is State.DEAD
    assert dead.error is not None and dead.error.kind == "CorruptRecord"
    assert await after.aresult(timeout=5) == "fine"
