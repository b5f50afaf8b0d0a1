"""Workers that are lost with a job: counted with it, apart from its attempts."""

from __future__ import annotations

from ...core.model import Job
from ...core.outcome import Failed, Lost, Outcome, Released, Snoozed, Succeeded, decide
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, LEASE, claim_one, foreign, job_of, listing, put


async def end(store: Store, job: Job, outcome: Outcome) -> None:
    move = decide(job, outcome, uniform=lambda: 0.5)
    assert await store.finish([move]) == {job.id}


async def lose(store: Store, clock: FakeClock, times: int = 1) -> Job:
    """Lose so many workers with the next job; it as a rescuer leaves it."""
    for _ in range(times):
        clock.advance(3600)
        id = (await claim_one(store, lease=1_000)).id
        clock.advance(5)
        [job] = await store.rescue(10, LEASE, "rescuer")
        await end(store, job, Lost())
    return await job_of(store, id)


async def test_a_lost_worker_is_counted_and_costs_no_attempt(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    job = await lose(store, clock)
    assert (job.state, job.attempt, job.lost) == (State.RETRY, 0, 1)
    again = await claim_one(store)
    assert (again.attempt, again.lost) == (1, 1)
    assert again == await job_of(store, "a")


async def test_a_job_whose_workers_are_lost_again_and_again_is_dead(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    job = await lose(store, clock, 3)
    assert (job.state, job.attempt, job.lost) == (State.DEAD, 0, 3)
    assert job.error is not None
    assert "lost 3 times in a row" in job.error.message
    assert [each.lost for each in await listing(store, states=(State.DEAD,))] == [3]


async def test_a_replay_begins_to_count_anew(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await lose(store, clock, 3)
    assert await store.replay(["a"]) == {"a"}
    assert (await job_of(store, "a")).lost == 0
    assert (await claim_one(store)).lost == 0


async def test_an_attempt_that_ends_by_itself_begins_to_count_anew(
    store: Store, clock: FakeClock
) -> None:
    for id, outcome in (("failed", Failed(BOOM)), ("snoozed", Snoozed(1_000))):
        await put(store, id, queue=id)
        job = await claim_one(store, queue=id, lease=1_000)
        clock.advance(5)
        [job] = await store.rescue(10, LEASE, "rescuer")
        await end(store, job, Lost())
        await end(store, await claim_one(store, queue=id), outcome)
        assert (await job_of(store, id)).lost == 0
        clock.advance(3600)
        assert (await claim_one(store, queue=id)).lost == 0


async def test_a_job_that_was_given_back_keeps_its_count(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await lose(store, clock)
    await end(store, await claim_one(store), Released())
    assert (await job_of(store, "a")).lost == 1
    assert (await claim_one(store)).lost == 1


async def test_a_completed_job_counts_none(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await lose(store, clock)
    await end(store, await claim_one(store), Succeeded(b"r"))
    job = await job_of(store, "a")
    assert (job.state, job.lost) == (State.COMPLETED, 0)
    assert job.error is not None


async def test_a_cancelled_job_keeps_its_count_until_it_is_replayed(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    await lose(store, clock, 2)
    assert await store.cancel(["a"]) == {"a"}
    assert (await job_of(store, "a")).lost == 2
    assert await store.replay(["a"]) == {"a"}
    assert (await job_of(store, "a")).lost == 0


async def test_a_rescued_job_and_its_journal_tell_the_count(store: Store, clock: FakeClock) -> None:
    await store.keep_journal(True)
    await put(store, "a")
    await lose(store, clock, 2)
    entries = await store.read_journal(10)
    assert sorted(entry.job.lost for entry in entries) == [1, 2]
    clock.advance(3600)
    await claim_one(store, lease=1_000)
    clock.advance(5)
    [job] = await store.rescue(10, LEASE, "rescuer")
    assert job.lost == 2


async def test_a_restored_job_keeps_its_count(store: Store) -> None:
    jobs = [
        foreign("waits", lost=2, error=BOOM),
        foreign("retries", State.RETRY, lost=1, error=BOOM, attempt=1),
        foreign("dead", State.DEAD, lost=300, error=BOOM, finished_at=1_600_000_000_001),
    ]
    await store.restore(jobs)
    found = await store.get([job.id for job in jobs])
    assert {id: job.lost for id, job in found.items()} == {"waits": 2, "retries": 1, "dead": 300}


async def test_another_job_of_the_same_id_counts_from_the_beginning(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    await lose(store, clock)
    assert await store.delete(["a"]) == {"a"}
    await put(store, "a")
    assert (await claim_one(store)).lost == 0
