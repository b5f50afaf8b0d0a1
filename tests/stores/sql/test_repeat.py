"""A call whose answer was lost is made again, and does no harm by it."""

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.sql.engine import Engine
from windlass.core.model import Receipt, Transition
from windlass.core.states import State
from windlass.core.stats import FINE, Tally, summed
from windlass.testing.jobs import claim, claim_one, counts, ids, new_job, put


@pytest.fixture
def direct(name: str, engine: Engine, request: pytest.FixtureRequest) -> str:
    server: Server = request.getfixturevalue(f"{name}_server")
    return engine.emptied(server.url)


@pytest.fixture
def proxy(name: str, request: pytest.FixtureRequest) -> Proxy:
    proxy: Proxy = request.getfixturevalue(f"{name}_proxy")
    return proxy


async def test_it_finds_its_own_jobs(engine: Engine, direct: str, proxy: Proxy) -> None:
    through = proxy.through(direct)
    async with engine.opened(direct) as observer, engine.opened(through) as store:
        await put(store, "first")
        jobs = [new_job("lost-reply", fresh=True), new_job("beside", fresh=True)]
        proxy.drop_replies(1, after=b"lost-reply")
        assert await store.insert(jobs) == [Receipt("lost-reply"), Receipt("beside")]
        assert proxy.counts.dropped == 1
        assert await counts(observer) == {State.PENDING: 3}


async def test_what_was_counted_is_added_once(engine: Engine, direct: str, proxy: Proxy) -> None:
    through = proxy.through(direct)
    async with engine.opened(direct) as observer, engine.opened(through) as store:
        await store.tally("worker", 1, [Tally("mail", {"completed": 1})])
        proxy.drop_replies(1, after=b"lost-reply")
        await store.tally("lost-reply", 1, [Tally("mail", {"completed": 10})])
        assert proxy.counts.dropped == 1
        assert summed(await observer.stats(["mail"], FINE, 0)) == {"completed": 11}


async def test_it_does_not_run_again_what_has_run(engine: Engine, direct: str) -> None:
    """A worker was quicker than the second try."""
    async with engine.opened(direct) as store:
        await put(store, "done")
        job = await claim_one(store)
        assert await store.finish([Transition(job.id, job.fence, State.COMPLETED)])
        jobs = [new_job("done", fresh=True), new_job("more", fresh=True)]
        receipts = await store._write(lambda now: engine.insert(jobs, now, again=True))
        assert receipts == [Receipt("done"), Receipt("more")]
        assert await counts(store) == {State.COMPLETED: 1, State.PENDING: 1}


async def test_an_id_said_to_be_new_that_is_there_does_no_harm(engine: Engine, direct: str) -> None:
    async with engine.opened(direct) as store:
        jobs = [new_job("twice", fresh=True), new_job("once", fresh=True)]
        assert await store.insert(jobs[:1]) == [Receipt("twice")]
        assert await store.insert(jobs) == [Receipt("twice"), Receipt("once")]
        assert await counts(store) == {State.PENDING: 2}


async def test_a_claim_is_given_again(engine: Engine, direct: str, proxy: Proxy) -> None:
    """With the attempt that it was: no lease has to run out for it."""
    through = proxy.through(direct)
    async with engine.opened(direct) as observer, engine.opened(through) as store:
        await put(store, *[f"job-{n}" for n in range(12)])
        await claim(store, 2, worker="lost-worker")
        await claim(observer, 3, worker="another")
        proxy.drop_replies(1, after=engine.claiming)
        again = await claim(store, 4, worker="lost-worker")
        assert proxy.counts.dropped == 1
        assert ids(again) == [f"job-{n}" for n in range(5, 9)]
        assert {job.attempt for job in again} == {1}
        assert ids(await claim(store, 9, worker="lost-worker")) == [f"job-{n}" for n in (9, 10, 11)]
        held = [Transition(job.id, job.fence, State.COMPLETED, ref=job.ref) for job in again]
        assert await store.finish(held) == set(ids(again))
