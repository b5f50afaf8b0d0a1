"""A statement whose answer was lost is sent again, and does no harm by it."""

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.postgres.site import fresh, opened
from windlass.core.model import Job, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.stores.postgres.insert import insert
from windlass.testing.jobs import claim_one, counts, job_of, new_job, put

KEPT = Spec("work", b"")
UNKEPT = Spec("work", b"", keep=0)


@pytest.fixture
def direct(postgres_server: Server) -> str:
    return fresh(postgres_server.url)


@pytest.fixture
def through(direct: str, postgres_proxy: Proxy) -> str:
    return postgres_proxy.through(direct)


async def test_an_insert_finds_its_own_jobs(
    direct: str, through: str, postgres_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(store, "first")
        jobs = [new_job("lost-reply", fresh=True), new_job("beside", fresh=True)]
        postgres_proxy.drop_replies(1, after=b"lost-reply")
        assert await store.insert(jobs) == [Receipt("lost-reply"), Receipt("beside")]
        assert postgres_proxy.counts.dropped == 1
        assert await counts(observer) == {State.PENDING: 3}


async def test_an_insert_that_is_repeated_does_not_run_again_what_has_run(direct: str) -> None:
    """A worker was quicker than the second call."""
    async with opened(direct) as store:
        await put(store, "done")
        job = await claim_one(store)
        assert await store.finish([Transition(job.id, job.fence, State.COMPLETED)])
        jobs = [new_job("done", fresh=True), new_job("more", fresh=True)]
        receipts = await store._base.write(lambda now: insert(jobs, now, again=True))
        assert receipts == [Receipt("done"), Receipt("more")]
        assert await counts(store) == {State.COMPLETED: 1, State.PENDING: 1}


async def test_an_id_said_to_be_new_that_is_there_does_no_harm(direct: str) -> None:
    async with opened(direct) as store:
        jobs = [new_job("twice", fresh=True), new_job("once", fresh=True)]
        assert await store.insert(jobs[:1]) == [Receipt("twice")]
        assert await store.insert(jobs) == [Receipt("twice"), Receipt("once")]
        assert await counts(store) == {State.PENDING: 2}


@pytest.mark.parametrize("spec", [KEPT, UNKEPT], ids=["kept", "unkept"])
async def test_a_completion_that_was_carried_out_counts_as_held(
    direct: str, through: str, postgres_proxy: Proxy, spec: Spec
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "lost-reply", spec=spec)
        job = await claim_one(observer)
        move = Transition(job.id, job.fence, State.COMPLETED, result=b"r")
        await store.ping()
        postgres_proxy.drop_replies(1, after=b"lost-reply")
        assert await store.finish([move]) == {"lost-reply"}
        assert postgres_proxy.counts.dropped == 1
        assert await counts(observer) == ({State.COMPLETED: 1} if spec is KEPT else {})


async def test_a_commit_whose_answer_was_lost_is_asked_for_and_not_repeated(
    direct: str, through: str, postgres_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "a")
        postgres_proxy.drop_replies(1, after=b"COMMIT")
        assert await store.cancel(["a"]) == {"a"}
        assert postgres_proxy.counts.dropped == 1
        job = await claim_one(observer) if await observer.replay(["a"]) else None
        assert job is not None
        postgres_proxy.drop_replies(1, after=b"COMMIT")
        retry = Transition(job.id, job.fence, State.RETRY, delay=60_000)
        assert await store.finish([retry]) == {"a"}
        assert (await job_of(observer, "a")).state is State.RETRY
        assert await counts(observer) == {State.RETRY: 1}


async def test_a_claim_whose_answer_was_lost_is_left_to_its_lease(
    direct: str, through: str, postgres_proxy: Proxy
) -> None:
    async with opened(direct) as observer, opened(through) as store:
        await put(observer, "a", "b")
        await store.ping()
        postgres_proxy.drop_replies(1, after=b"lost-worker")
        again = await store.claim({"default": 1}, 1, 1, "lost-worker")
        assert [job.id for job in again] == ["b"]
        rescued: list[Job] = []
        while not rescued:
            rescued = list(await observer.rescue(1, 1_000, "w"))
        assert rescued[0].id == "a"
