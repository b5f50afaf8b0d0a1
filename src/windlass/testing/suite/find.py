"""Listing jobs: the order of each state, and the filters."""

from __future__ import annotations

from collections import Counter

from ...core.model import JobQuery, Spec
from ...core.states import FINISHED, State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    LEASE,
    REACHABLE,
    bring,
    claim,
    claim_one,
    finish,
    ids,
    listing,
    new_job,
    put,
)


async def test_nothing_in_an_empty_store(store: Store) -> None:
    page = await store.find(JobQuery())
    assert (list(page.jobs), page.cursor) == ([], None)
    assert await listing(store, states=(State.PENDING,)) == []


async def test_a_listed_job_is_the_whole_job(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state, unique=state)
    jobs = await listing(store)
    assert {job.id: job for job in jobs} == await store.get(list(REACHABLE))
    assert len(jobs) == len(REACHABLE)


async def test_one_state(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    for state in REACHABLE:
        assert ids(await listing(store, states=(state,))) == [state]


async def test_states_come_in_the_order_asked(store: Store) -> None:
    for state in REACHABLE:
        await bring(store, state, state, queue=state)
    for states in (REACHABLE, tuple(reversed(REACHABLE))):
        assert ids(await listing(store, states=states, limit=2)) == list(states)


async def test_pending_jobs_in_the_order_in_which_they_run(store: Store) -> None:
    await put(store, "c", "a", priority=10)
    await put(store, "b", priority=90)
    await put(store, "d", priority=10)
    expected = ["b", "c", "a", "d"]
    assert ids(await listing(store, states=(State.PENDING,))) == expected
    assert ids(await claim(store)) == expected


async def test_a_released_job_is_listed_at_the_front(store: Store) -> None:
    await put(store, *"abc")
    job = await claim_one(store)
    assert await finish(store, job, State.PENDING, refund=True)
    assert ids(await listing(store, states=(State.PENDING,))) == ["a", "b", "c"]


async def test_scheduled_jobs_by_their_time(store: Store) -> None:
    for id, delay in (("b", 2_000), ("c", 3_000), ("a", 1_000)):
        await put(store, id, delay=delay, queue=f"queue-{id}", priority=delay // 100)
    assert ids(await listing(store, states=(State.SCHEDULED,))) == ["a", "b", "c"]


async def test_retries_by_their_time(store: Store) -> None:
    for id, delay in (("b", 2_000), ("c", 3_000), ("a", 1_000)):
        await put(store, id, queue=f"queue-{id}")
        job = await claim_one(store, queue=f"queue-{id}")
        assert await finish(store, job, State.RETRY, delay=delay)
    assert ids(await listing(store, states=(State.RETRY,))) == ["a", "b", "c"]


async def test_active_jobs_in_the_order_of_their_claims_and_by_id_in_one(store: Store) -> None:
    await put(store, "d", "c", "a", "b")
    assert ids(await claim(store, 1)) == ["d"]
    assert ids(await claim(store, 2)) == ["c", "a"]
    assert ids(await claim(store, 1)) == ["b"]
    for limit in range(1, 6):
        listed = await listing(store, states=(State.ACTIVE,), limit=limit)
        assert ids(listed) == ["d", "a", "c", "b"]


async def test_a_renewed_job_keeps_its_place_and_a_rescued_one_goes_behind(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a", "b", "c")
    renewed = await claim_one(store)
    await claim_one(store, lease=1_000)
    await claim_one(store)
    assert await store.renew([renewed.lease], LEASE) == {"a"}
    clock.advance(1)
    assert ids(await store.rescue(9, LEASE, "w2")) == ["b"]
    assert ids(await listing(store, states=(State.ACTIVE,))) == ["a", "c", "b"]


async def test_a_job_that_is_claimed_again_is_listed_behind(store: Store) -> None:
    await put(store, "a", "b")
    job = await claim_one(store)
    await claim_one(store)
    assert await finish(store, job, State.PENDING, refund=True)
    await claim_one(store)
    assert ids(await listing(store, states=(State.ACTIVE,))) == ["b", "a"]


async def test_finished_jobs_newest_first(store: Store, clock: FakeClock) -> None:
    for state in FINISHED:
        for id in ("b", "a", "c"):
            await bring(store, f"{state}-{id}", state)
            clock.advance(1)
        expected = [f"{state}-{id}" for id in ("c", "a", "b")]
        assert ids(await listing(store, states=(state,))) == expected


async def test_by_queue(store: Store) -> None:
    for n in range(9):
        await put(store, f"job-{n}", queue=f"q{n % 3}", delay=n % 2)
    for q in range(3):
        found = ids(await listing(store, queue=f"q{q}"))
        assert sorted(found) == [f"job-{n}" for n in range(9) if n % 3 == q]
    assert await listing(store, queue="nobody knows it") == []


async def test_by_task(store: Store) -> None:
    for n in range(9):
        await store.insert([new_job(f"job-{n}", Spec(f"task-{n % 3}", b""))])
    for t in range(3):
        found = ids(await listing(store, task=f"task-{t}", limit=2))
        assert found == [f"job-{n}" for n in range(9) if n % 3 == t]
    assert await listing(store, task="nobody knows it") == []


async def test_by_everything_at_once(store: Store) -> None:
    for n in range(24):
        spec = Spec(f"task-{n % 3}", b"")
        await store.insert([new_job(f"job-{n:02}", spec, queue=f"q{n % 2}", delay=n % 4)])
    found = await listing(store, states=(State.SCHEDULED,), queue="q1", task="task-1")
    assert sorted(ids(found)) == ["job-01", "job-07", "job-13", "job-19"]
    assert {job.state for job in found} == {State.SCHEDULED}


async def test_counts_equal_what_is_listed(store: Store, clock: FakeClock) -> None:
    """After a mixed history the counters, which are kept and not counted, must still agree."""
    for n in range(60):
        await put(store, f"job-{n:02}", queue=f"q{n % 3}", delay=0 if n % 5 else 60_000)
    jobs = await store.claim({"q0": 9, "q1": 9, "q2": 9}, 24, LEASE, "w")
    ends = (*FINISHED, State.RETRY, State.SCHEDULED, State.PENDING)
    for job, state in zip(jobs, ends * 3, strict=False):
        assert await finish(store, job, state, delay=60_000)
    await store.cancel(["job-40", "job-41", "job-00"])
    await store.delete(["job-43", "job-44", "job-05"])
    await store.replay(ids(await listing(store, states=(State.DEAD,)))[:1])
    clock.advance(60)
    await store.claim({"q1": 2}, 2, LEASE, "w")
    await store.rescue(3, LEASE, "w")
    listed = Counter((job.queue, job.state) for job in await listing(store, limit=7))
    counted = {
        (stats.name, state): n
        for stats in await store.queues()
        for state, n in stats.counts.items()
    }
    assert counted == listed


async def test_queues_come_by_name(store: Store) -> None:
    for name in ("b", "c", "a", "B", "a2"):
        await put(store, name, queue=name)
    assert [stats.name for stats in await store.queues()] == ["B", "a", "a2", "b", "c"]


async def test_a_queue_without_jobs_is_not_listed(store: Store) -> None:
    await put(store, "a")
    await store.delete(["a"])
    assert list(await store.queues()) == []
