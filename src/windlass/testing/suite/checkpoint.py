"""What one attempt leaves for the next."""

from __future__ import annotations

from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BOOM, LEASE, claim_one, finish, job_of, put


async def test_the_next_attempt_gets_what_the_last_one_left(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert job.checkpoint is None
    assert await store.checkpoint([(job.lease, b"half")]) == {"a"}
    assert (await job_of(store, "a")).checkpoint == b"half"
    for state in (State.RETRY, State.SCHEDULED, State.PENDING):
        assert await finish(store, job, state, delay=0)
        job = await claim_one(store)
        assert job.checkpoint == b"half", state


async def test_the_last_word_counts(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    for state in (b"one", b"", bytes(range(256)), b"x" * 100_000):
        assert await store.checkpoint([(job.lease, state)]) == {"a"}
        assert (await job_of(store, "a")).checkpoint == state


async def test_many_are_kept_in_one_step(store: Store) -> None:
    await put(store, "a", "b", "c")
    jobs = [await claim_one(store) for _ in range(3)]
    states = [(job.lease, job.id.encode()) for job in jobs]
    assert await store.checkpoint(states) == {"a", "b", "c"}
    assert (await job_of(store, "b")).checkpoint == b"b"
    assert await store.checkpoint([]) == frozenset()


async def test_a_worker_that_lost_its_lease_leaves_nothing(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    late = await claim_one(store)
    assert await store.checkpoint([(late.lease, b"good")]) == {"a"}
    clock.advance(LEASE / 1000 + 1)
    (rescued,) = await store.rescue(1, LEASE, "w2")
    assert rescued.checkpoint == b"good"
    assert await store.checkpoint([(late.lease, b"late")]) == frozenset()
    assert (await job_of(store, "a")).checkpoint == b"good"


async def test_it_goes_with_the_completion_and_stays_with_the_dead(store: Store) -> None:
    await put(store, "done", "dead")
    for id, state in (("done", State.COMPLETED), ("dead", State.DEAD)):
        job = await claim_one(store)
        assert await store.checkpoint([(job.lease, b"half")]) == {id}
        assert await finish(store, job, state, error=BOOM if id == "dead" else None)
    assert (await job_of(store, "done")).checkpoint is None
    assert (await job_of(store, "dead")).checkpoint == b"half"
    assert await store.replay(["dead"]) == {"dead"}
    assert (await claim_one(store)).checkpoint == b"half"
