"""Jobs that a user's open transaction has are in nobody's way but their own."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.mysql.site import emptied, opened
from tests.stores.mysql.user import begun
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Job, NewJob, Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.guest.mysql import AsyncmyGuest
from windlass.stores.mysql.store import MysqlStore
from windlass.testing.jobs import claim, counts, ids, job_of, new_job, put
from windlass.testing.work import until


@pytest.fixture
def url(mariadb_server: Server) -> str:
    return emptied(mariadb_server.url)


@asynccontextmanager
async def user_enqueued(store: MysqlStore, url: str, job: NewJob) -> AsyncIterator[None]:
    """In a transaction that is open meanwhile and rolled back afterwards."""
    async with begun(url) as connection:
        await AsyncmyGuest(connection).perform(store.dialect, store.inserting([job]))
        yield
        await connection.rollback()


def child(parent: str) -> NewJob:
    return new_job(new_id(), Spec("work", b"", parents=(parent,)), fresh=True)


def done(jobs: Sequence[Job]) -> list[Transition]:
    return [Transition(j.id, j.fence, State.COMPLETED, queue=j.queue, ref=j.ref) for j in jobs]


def mixed(jobs: Sequence[Job]) -> list[Transition]:
    states = [State.COMPLETED, State.RETRY, State.DEAD]
    return [
        Transition(job.id, job.fence, states[n % 3], delay=60_000, ref=job.ref)
        for n, job in enumerate(jobs)
    ]


@pytest.mark.parametrize("ends", [done, mixed])
async def test_all_are_ended_but_the_one_that_others_will_wait_for(
    url: str, ends: Callable[[Sequence[Job]], list[Transition]]
) -> None:
    async with opened(url) as store:
        await put(store, *[f"job-{n}" for n in range(6)])
        moves = ends(await claim(store, 6))
        async with user_enqueued(store, url, child("job-3")):
            with pytest.raises(StoreUnavailable, match="end it") as raised:
                await store.finish(moves)
            error = raised.value
            assert error.busy
            assert error.settled == {(move.id, move.fence) for move in moves if move.id != "job-3"}
            assert error.held == {move.id for move in moves} - {"job-3"}
            assert (await job_of(store, "job-3")).state is State.ACTIVE
        left = [move for move in moves if move.id == "job-3"]
        assert await store.finish(left) == {"job-3"}
        assert State.ACTIVE not in await counts(store)


async def test_a_job_whose_lease_is_lost_is_not_taken_for_one_that_others_have(url: str) -> None:
    async with opened(url) as store:
        await put(store, "a", "b")
        jobs = await claim(store, 2)
        await store.cancel(["a"])
        assert await store.finish(done(jobs)) == {"b"}


async def test_jobs_beside_a_lane_are_ended(url: str) -> None:
    laned = Spec("work", b"", lane=Lane("narrow", slots=5))
    async with opened(url) as store:
        await put(store, *[f"plain-{n}" for n in range(9)])
        await put(store, "laned", spec=laned)
        jobs = await claim(store, 10)
        assert "laned" in ids(jobs)
        async with user_enqueued(store, url, new_job(new_id(), laned, fresh=True)):
            with pytest.raises(StoreUnavailable) as raised:
                await store.finish(done(jobs))
            assert raised.value.held == set(ids(jobs)) - {"laned"}
        assert await store.finish([m for m in done(jobs) if m.id == "laned"]) == {"laned"}
        assert await counts(store) == {State.COMPLETED: 10}


async def test_who_is_not_answered_and_asks_again_is_told_that_it_held(
    url: str, mariadb_proxy: Proxy
) -> None:
    through = mariadb_proxy.through(url) + "&patience=0"
    async with opened(url) as observer, opened(through) as store:
        await put(observer, *[f"job-{n}" for n in range(5)])
        moves = done(await claim(observer, 5))
        await store.ping()
        mariadb_proxy.drop_replies(1, after=b"COMMIT")
        with pytest.raises(StoreUnavailable):
            await store.finish(moves)
        assert mariadb_proxy.counts.dropped == 1
        assert await store.finish(moves) == {move.id for move in moves}
        assert await store.finish(moves) == frozenset()


async def test_a_worker_goes_on_and_counts_every_attempt(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    app = Windlass(url)
    ran: list[int] = []
    open_by_now = asyncio.Event()

    @app.task
    async def work(number: int) -> None:
        ran.append(number)
        await open_by_now.wait()

    store = await app.client.store()
    assert isinstance(store, MysqlStore)
    parent = await work.aenqueue(0)
    worker = await app.worker(WorkerSettings(concurrency=4))
    await worker.start()
    await until(lambda: 0 in ran)
    async with user_enqueued(store, url, child(parent.id)):
        open_by_now.set()
        for n in range(1, 100):
            await work.aenqueue(n)
        await until_completed(store, 99)
    await until_completed(store, 100)
    await worker.stop()
    await app.aclose()
    assert len(ran) == 100
    assert "was lost" not in caplog.text


async def until_completed(store: MysqlStore, number: int) -> None:
    while (await counts(store)).get(State.COMPLETED) != number:
        await asyncio.sleep(0.01)
