"""A step whose answer was lost is made again, and does no harm by it."""

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.mysql.site import fresh, opened
from windlass.core.model import Receipt, Spec, Transition
from windlass.core.states import State
from windlass.stores.mysql.insert import insert
from windlass.testing.jobs import claim_one, counts, job_of, new_job, put, state_of


@pytest.fixture
def direct(mariadb_server: Server) -> str:
    return fresh(mariadb_server.url)


@pytest.fixture
def through(direct: str, mariadb_proxy: Proxy) -> str:
    return mariadb_proxy.through(direct)


async def test_an_insert_finds_its_own_jobs(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "first")
        jobs = [new_job("lost-reply", fresh=True), new_job("beside", fresh=True)]
        mariadb_proxy.drop_replies(1, after=b"lost-reply")
        assert await store.insert(jobs) == [Receipt("lost-reply"), Receipt("beside")]
        assert mariadb_proxy.counts.dropped == 1
        assert await counts(observer) == {State.PENDING: 3}


async def test_an_insert_that_is_repeated_does_not_run_again_what_has_run(direct: str) -> None:
    """A worker was quicker than the second try."""
    async with opened(direct) as store:
        await put(store, "done")
        job = await claim_one(store)
        assert await store.finish([Transition(job.id, job.fence, State.COMPLETED)])
        jobs = [new_job("done", fresh=True), new_job("more", fresh=True)]
        receipts = await store._mysql.write(lambda now: insert(jobs, now, again=True))
        assert receipts == [Receipt("done"), Receipt("more")]
        assert await counts(store) == {State.COMPLETED: 1, State.PENDING: 1}


async def test_an_id_said_to_be_new_that_is_there_does_no_harm(direct: str) -> None:
    async with opened(direct) as store:
        jobs = [new_job("twice", fresh=True), new_job("once", fresh=True)]
        assert await store.insert(jobs[:1]) == [Receipt("twice")]
        assert await store.insert(jobs) == [Receipt("twice"), Receipt("once")]
        assert await counts(store) == {State.PENDING: 2}


async def test_the_jobs_of_a_claim_whose_reply_was_lost_come_at_once(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a", "b", "c")
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        jobs = await store.claim({"default": 2}, 2, 60_000, "w")
        assert mariadb_proxy.counts.dropped == 1
        assert [(job.id, job.attempt) for job in jobs] == [("a", 1), ("b", 1)]
        for job in jobs:
            kept = await job_of(observer, job.id)
            assert (kept.fence, kept.attempt, kept.state) == (job.fence, 1, State.ACTIVE)
        assert (await claim_one(observer)).id == "c"
        ends = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in jobs]
        assert await observer.finish(ends) == {"a", "b"}


@pytest.mark.parametrize("state", [State.COMPLETED, State.DEAD, State.RETRY, State.PENDING])
async def test_a_finish_that_was_carried_out_counts_as_held(
    direct: str, through: str, mariadb_proxy: Proxy, state: State
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a", spec=Spec("work", b""))
        job = await claim_one(store)
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        move = Transition(job.id, job.fence, state, delay=60_000, queue=job.queue, ref=job.ref)
        assert await store.finish([move]) == {"a"}
        assert mariadb_proxy.counts.dropped == 1
        assert await state_of(observer, "a") is state
        assert await counts(observer) == {state: 1}


async def test_a_finish_that_came_too_late_is_told_so_though_it_was_tried_twice(
    direct: str, through: str, mariadb_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "a")
        job = await claim_one(store)
        await observer.cancel(["a"])
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        end = Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref)
        assert await store.finish([end]) == frozenset()
        assert await state_of(observer, "a") is State.CANCELLED
