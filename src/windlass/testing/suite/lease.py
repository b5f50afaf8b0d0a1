"""Leases: how long a claim holds, and who takes over when it no longer does.

A lease that ran out is still the worker's until somebody rescued the job: being late is
not yet being dead.
"""

from __future__ import annotations

from ...core.model import Lease
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import (
    LEASE,
    bring,
    claim,
    claim_one,
    counts,
    finish,
    ids,
    job_of,
    put,
)


async def test_renewing_extends_the_lease_from_now(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    job = await claim_one(store, lease=10_000)
    clock.advance(4)
    assert await store.renew([job.lease], 10_000) == {"a"}
    renewed = await job_of(store, "a")
    assert renewed.lease_until == clock() + 10_000
    assert (renewed.fence, renewed.attempt, renewed.worker) == (job.fence, 1, "w1")
    assert renewed.started_at == job.started_at


async def test_a_lease_can_be_renewed_to_a_shorter_one(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    job = await claim_one(store, lease=60_000)
    assert await store.renew([job.lease], 1_000) == {"a"}
    clock.advance(1)
    assert ids(await store.rescue(10, LEASE, "w2")) == ["a"]


async def test_nothing_is_rescued_while_its_lease_holds(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await claim_one(store, lease=1_000)
    clock.now += 999
    assert list(await store.rescue(10, LEASE, "w2")) == []
    clock.now += 1
    assert ids(await store.rescue(10, LEASE, "w2")) == ["a"]


async def test_a_renewed_job_is_not_rescued(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b")
    kept, _ = await claim(store, lease=1_000)
    clock.now += 999
    assert await store.renew([kept.lease], 1_000) == {"a"}
    clock.now += 1
    assert ids(await store.rescue(10, LEASE, "w2")) == ["b"]
    clock.now += 999
    assert ids(await store.rescue(10, LEASE, "w2")) == ["a"]


async def test_a_lease_that_ran_out_can_be_renewed_until_rescued(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    job = await claim_one(store, lease=1_000)
    clock.advance(3600)
    assert await store.renew([job.lease], 1_000) == {"a"}
    assert list(await store.rescue(10, LEASE, "w2")) == []


async def test_a_lease_that_ran_out_can_be_finished_until_rescued(
    store: Store, clock: FakeClock
) -> None:
    await put(store, "a")
    job = await claim_one(store, lease=1_000)
    clock.advance(3600)
    assert await finish(store, job, State.COMPLETED, result=b"late but first")
    assert list(await store.rescue(10, LEASE, "w2")) == []


async def test_a_rescue_takes_over_the_lost_attempt(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    lost = await claim_one(store, lease=1_000)
    clock.advance(5)
    [job] = await store.rescue(10, 2_000, "rescuer")
    assert (job.id, job.state, job.attempt) == ("a", State.ACTIVE, lost.attempt)
    assert (job.worker, job.lease_until) == ("rescuer", clock() + 2_000)
    assert job.fence > lost.fence
    assert job.spec == lost.spec
    assert await job_of(store, "a") == job


async def test_a_rescue_locks_the_former_owner_out(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    lost = await claim_one(store, lease=1_000)
    clock.advance(5)
    [rescued] = await store.rescue(10, LEASE, "w2")
    assert await store.renew([lost.lease], LEASE) == frozenset()
    assert not await finish(store, lost, State.COMPLETED)
    assert await job_of(store, "a") == rescued
    assert await finish(store, rescued, State.COMPLETED)


async def test_a_rescuer_can_be_rescued_from(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await claim_one(store, lease=1_000)
    clock.advance(1)
    [first] = await store.rescue(10, 1_000, "w2")
    assert list(await store.rescue(10, LEASE, "w3")) == []
    clock.advance(1)
    [second] = await store.rescue(10, LEASE, "w3")
    assert (second.worker, second.attempt) == ("w3", 1)
    assert second.fence > first.fence


async def test_the_longest_lost_is_rescued_first(store: Store, clock: FakeClock) -> None:
    for id, lease in (("c", 3_000), ("a", 1_000), ("d", 4_000), ("b", 2_000)):
        await put(store, id)
        await claim_one(store, lease=lease)
    clock.advance(10)
    assert ids(await store.rescue(3, LEASE, "w2")) == ["a", "b", "c"]
    assert ids(await store.rescue(3, LEASE, "w2")) == ["d"]
    assert list(await store.rescue(3, LEASE, "w2")) == []


async def test_the_limit_of_a_rescue_holds_among_equals(store: Store, clock: FakeClock) -> None:
    names = {f"job-{n}" for n in range(10)}
    await put(store, *names)
    await claim(store)
    clock.advance(60)
    rescued = [id for _ in range(4) for id in ids(await store.rescue(3, LEASE, "w2"))]
    assert sorted(rescued) == sorted(names)
    assert list(await store.rescue(0, LEASE, "w2")) == []


async def test_a_rescue_reaches_every_queue(store: Store, clock: FakeClock) -> None:
    for queue in ("one", "two", "three"):
        await bring(store, queue, State.ACTIVE, queue=queue)
    await store.pause("two")
    clock.advance(60)
    assert sorted(ids(await store.rescue(10, LEASE, "w2"))) == ["one", "three", "two"]


async def test_only_active_jobs_are_rescued(store: Store, clock: FakeClock) -> None:
    for state in set(State) - {State.BLOCKED, State.ACTIVE, State.PENDING}:
        await bring(store, state, state)
    await put(store, "pending")
    clock.advance(3600)
    assert list(await store.rescue(10, LEASE, "w2")) == []


async def test_a_lease_ends_with_its_attempt(store: Store) -> None:
    for state in (State.RETRY, State.DEAD, State.COMPLETED, State.CANCELLED, State.PENDING):
        await put(store, state)
        assert await finish(store, await claim_one(store), state, delay=60_000)
        assert (await job_of(store, state)).lease_until is None, state


async def test_renewing_many_says_which_were_held(store: Store) -> None:
    await put(store, *"abcd")
    a, b, c, d = await claim(store)
    assert await finish(store, b, State.COMPLETED)
    assert await store.cancel(["c"]) == {"c"}
    leases = [a.lease, b.lease, c.lease, d.lease, Lease("nobody", 1)]
    assert await store.renew(leases, LEASE) == {"a", "d"}


async def test_renewing_nothing(store: Store) -> None:
    assert await store.renew([], LEASE) == frozenset()


async def test_renewing_changes_no_count(store: Store) -> None:
    await put(store, "a", "b")
    jobs = await claim(store)
    for _ in range(3):
        assert await store.renew([job.lease for job in jobs], LEASE) == {"a", "b"}
    assert await counts(store) == {State.ACTIVE: 2}
