"""How far an attempt has come, as it says itself."""

from __future__ import annotations

from ...core.model import Lease, Progress
from ...core.states import State
from ...stores.contract import Store
from ..jobs import claim, claim_one, finish, job_of, put


async def test_the_last_report_is_kept(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert job.progress is None
    await store.report([(job.lease, Progress(10.0, "begun"))])
    await store.report([(job.lease, Progress(62.5, "halfway → there"))])
    assert (await job_of(store, "a")).progress == Progress(62.5, "halfway → there")


async def test_a_batch_of_reports(store: Store) -> None:
    await put(store, "a", "b")
    jobs = await claim(store)
    await store.report([(job.lease, Progress(n * 50.0)) for n, job in enumerate(jobs)])
    assert [(await job_of(store, id)).progress for id in "ab"] == [Progress(0.0), Progress(50.0)]


async def test_a_report_without_the_lease_is_left_out(store: Store) -> None:
    await put(store, "a")
    late = await claim_one(store)
    assert await finish(store, late, State.PENDING)
    owner = await claim_one(store)
    await store.report([(owner.lease, Progress(1.0)), (late.lease, Progress(99.0))])
    assert (await job_of(store, "a")).progress == Progress(1.0)
    await store.report([(Lease("nobody", 1), Progress(1.0))])


async def test_it_outlives_the_attempt_until_the_next_one(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    await store.report([(job.lease, Progress(30.0))])
    assert await finish(store, job, State.RETRY)
    assert (await job_of(store, "a")).progress == Progress(30.0)
    assert (await claim_one(store)).progress is None
    assert (await job_of(store, "a")).progress is None


async def test_a_finished_job_takes_no_report(store: Store) -> None:
    await put(store, "a")
    job = await claim_one(store)
    assert await finish(store, job, State.COMPLETED)
    await store.report([(job.lease, Progress(50.0))])
    assert (await job_of(store, "a")).progress is None


async def test_reporting_nothing(store: Store) -> None:
    await store.report([])
    assert list(await store.queues()) == []
