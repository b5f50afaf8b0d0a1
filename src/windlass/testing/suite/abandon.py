"""Workers that are known to be gone: their leases run out at once."""

from __future__ import annotations

from ...core.model import Transition
from ...core.states import State
from ...core.workers import WorkerInfo
from ...stores.contract import ABANDON_BATCH, Store
from ..clock import FakeClock
from ..jobs import LEASE, claim, claim_one, counts, ids, job_of, new_job, put, state_of

INFO = WorkerInfo("w1", "host", 42, ("default",), 100, 1_000)
OTHER = WorkerInfo("w2", "host", 43, ("default",), 100, 1_000)


async def test_the_leases_of_a_worker_that_is_gone_run_out(store: Store, clock: FakeClock) -> None:
    await put(store, "a", "b", "c")
    claimed = await claim(store, 2, worker="w1")
    await claim(store, 1, worker="w2")
    assert list(await store.rescue(10, LEASE, "w3")) == []
    assert await store.abandon("w1") == 2
    assert (await job_of(store, "a")).lease_until == clock()
    rescued = await store.rescue(10, LEASE, "w3")
    assert sorted(ids(rescued)) == ["a", "b"]
    assert {job.attempt for job in rescued} == {1}
    assert min(job.fence for job in rescued) > max(job.fence for job in claimed)
    assert await state_of(store, "c") is State.ACTIVE


async def test_a_worker_can_be_abandoned_twice(store: Store) -> None:
    await put(store, "a")
    await claim_one(store, worker="w1")
    assert await store.abandon("w1") == 1
    assert await store.abandon("w1") == 0
    assert ids(await store.rescue(10, LEASE, "w2")) == ["a"]
    assert await store.abandon("w1") == 0
    assert list(await store.rescue(10, LEASE, "w3")) == []


async def test_nobody_is_abandoned(store: Store) -> None:
    await put(store, "a")
    await claim_one(store, worker="w1")
    assert await store.abandon("w") == 0
    assert await store.abandon("w11") == 0
    assert await store.abandon("") == 0
    assert list(await store.rescue(10, LEASE, "w2")) == []


async def test_what_a_rescuer_had_taken_over_is_its_own(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await claim_one(store, worker="w1")
    clock.advance(60)
    await store.rescue(10, LEASE, "w2")
    assert await store.abandon("w1") == 0
    assert await store.abandon("w2") == 1
    assert ids(await store.rescue(10, LEASE, "w3")) == ["a"]


async def test_a_lease_that_ran_out_before_is_not_counted(store: Store, clock: FakeClock) -> None:
    await put(store, "a")
    await claim_one(store, lease=1_000, worker="w1")
    clock.advance(60)
    assert await store.abandon("w1") == 0
    assert ids(await store.rescue(10, LEASE, "w2")) == ["a"]


async def test_one_that_lives_after_all_is_late_and_not_locked_out(store: Store) -> None:
    await put(store, "a", "b")
    first, second = await claim(store, worker="w1")
    assert await store.abandon("w1") == 2
    move = Transition("a", first.fence, State.COMPLETED, queue=first.queue, ref=first.ref)
    assert await store.finish([move]) == {"a"}
    assert await store.renew([second.lease], LEASE) == {"b"}
    assert list(await store.rescue(10, LEASE, "w2")) == []


async def test_jobs_of_several_claims_and_queues_run_out(store: Store) -> None:
    queues = [f"queue-{n}" for n in range(8)]
    for queue in queues:
        await put(store, f"in-{queue}", f"too-{queue}", queue=queue)
        await claim_one(store, queue=queue, worker="w1")
        await claim_one(store, queue=queue, worker="w2")
    assert await store.abandon("w1") == len(queues)
    rescued = await store.rescue(100, LEASE, "w3")
    assert sorted(ids(rescued)) == [f"in-{queue}" for queue in queues]


async def test_finished_and_waiting_jobs_stay_as_they_are(store: Store) -> None:
    await put(store, "done", "back", "waits")
    done, back = await claim(store, 2, worker="w1")
    moves = [
        Transition("done", done.fence, State.COMPLETED, queue=done.queue, ref=done.ref),
        Transition("back", back.fence, State.RETRY, 60_000, queue=back.queue, ref=back.ref),
    ]
    assert await store.finish(moves) == {"done", "back"}
    before = await store.get(["done", "back", "waits"])
    assert await store.abandon("w1") == 0
    assert await store.get(["done", "back", "waits"]) == before


async def test_very_many_leases_take_several_calls(store: Store) -> None:
    number = ABANDON_BATCH + 200
    await store.insert([new_job(f"job-{n}") for n in range(number)])
    while await claim(store, 500, worker="w1"):
        pass
    total = 0
    while answered := await store.abandon("w1"):
        total += answered
    assert total == number
    rescued = 0
    while jobs := await store.rescue(500, LEASE, "w2"):
        rescued += len(jobs)
    assert rescued == number
    assert await counts(store) == {State.ACTIVE: number}


async def test_its_leaderships_are_given_up(store: Store) -> None:
    for role in ("one", "two"):
        assert await store.elect(role, "w1", 60_000)
    assert await store.elect("three", "w2", 60_000)
    await store.abandon("w1")
    for role in ("one", "two"):
        term = await store.elect(role, "w3", 60_000)
        assert term is not None
        assert term.term > 1
    assert await store.elect("three", "w3", 60_000) is None


async def test_it_leaves_the_list_with_its_order(store: Store) -> None:
    await store.beat(INFO, 30_000)
    await store.beat(OTHER, 30_000)
    assert await store.direct(["w1"], "quiet") == {"w1"}
    await store.abandon("w1")
    assert [info.id for info in await store.workers()] == ["w2"]
    assert await store.beat(INFO, 30_000) is None
