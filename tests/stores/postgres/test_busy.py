"""Jobs that a user's open transaction has are in nobody's way but their own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened, schema_of
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.lane import Lane
from windlass.core.model import Job, Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import claim, counts, ids, job_of, new_job, put
from windlass.testing.work import until

UNKEPT = Spec("work", b"", keep=0)


@pytest.fixture
def url(postgres_server: Server) -> str:
    return emptied(postgres_server.url)


@asynccontextmanager
async def user_enqueued(store: PostgresStore, spec: Spec) -> AsyncIterator[None]:
    """In a transaction that is open meanwhile and rolled back afterwards."""
    user = await store._base.connect()
    await user.raw.execute("BEGIN")
    now = await store.now()
    await user.each(store.inserting([new_job("users", spec=spec)])(now))
    try:
        yield
    finally:
        await user.raw.execute("ROLLBACK")
        await user.raw.close()


def done(jobs: list[Job]) -> list[Transition]:
    return [Transition(job.id, job.fence, State.COMPLETED, queue=job.queue) for job in jobs]


def mixed(jobs: list[Job]) -> list[Transition]:
    states = [State.COMPLETED, State.RETRY, State.DEAD]
    return [
        Transition(job.id, job.fence, states[n % 3], delay=60_000) for n, job in enumerate(jobs)
    ]


@pytest.mark.parametrize("ends", [done, mixed])
async def test_all_are_ended_but_the_one_that_others_will_wait_for(url: str, ends: object) -> None:
    async with opened(url) as store:
        await put(store, *[f"job-{n}" for n in range(6)])
        moves = ends(await claim(store, 6))  # type: ignore[operator]
        for _ in range(2):
            async with user_enqueued(store, Spec("work", b"", parents=("job-3",))):
                with pytest.raises(StoreUnavailable, match="end it") as raised:
                    await store.finish(moves)
            error = raised.value
            assert error.busy
            assert error.settled == {(move.id, move.fence) for move in moves if move.id != "job-3"}
            assert error.held == {move.id for move in moves} - {"job-3"}
            assert (await job_of(store, "job-3")).state is State.ACTIVE
        assert await store.finish(moves) == {move.id for move in moves}
        assert State.ACTIVE not in await counts(store)


async def test_jobs_beside_a_lane_are_ended(url: str) -> None:
    laned = Spec("work", b"", lane=Lane("narrow", slots=5))
    async with opened(url) as store:
        await put(store, *[f"plain-{n}" for n in range(9)])
        await put(store, "laned", spec=laned)
        jobs = await claim(store, 10)
        assert "laned" in ids(jobs)
        async with user_enqueued(store, laned):
            with pytest.raises(StoreUnavailable) as raised:
                await store.finish(done(jobs))
            assert raised.value.held == set(ids(jobs)) - {"laned"}
        assert await store.finish(done(jobs)) == set(ids(jobs))
        assert await counts(store) == {State.COMPLETED: 10}


@pytest.mark.parametrize("spec", [Spec("work", b""), UNKEPT], ids=["kept", "unkept"])
async def test_who_is_not_answered_and_asks_again_is_told_that_it_held(
    url: str, postgres_proxy: Proxy, spec: Spec
) -> None:
    through = postgres_proxy.through(url) + "&patience=0"
    async with opened(url) as observer, opened(through) as store:
        await put(observer, *[f"job-{n}" for n in range(5)], spec=spec)
        moves = done(await claim(observer, 5))
        await store.ping()
        postgres_proxy.drop_replies(1, after=b"job-0")
        with pytest.raises(StoreUnavailable):
            await store.finish(moves)
        await until(lambda: postgres_proxy.counts.dropped == 1)
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
    assert isinstance(store, PostgresStore)
    parent = await work.aenqueue(0)
    worker = await app.worker(WorkerSettings(concurrency=4))
    await worker.start()
    await until(lambda: 0 in ran)
    async with user_enqueued(store, Spec("work", b"", parents=(parent.id,))):
        open_by_now.set()
        for n in range(1, 200):
            await work.aenqueue(n)
        done = f"SELECT count(*) FROM {schema_of(url)}.windlass_finished WHERE state = 'completed'"
        await until_equal(url, done, 199)
    await until_equal(url, done, 200)
    await worker.stop()
    await app.aclose()
    assert len(ran) == 200
    assert "was lost" not in caplog.text


async def until_equal(url: str, query: str, number: int) -> None:
    while await ask(url, query) != number:
        pass


async def test_a_default_isolation_of_the_role_is_not_ours(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    await ask(url, "ALTER ROLE windlass SET default_transaction_isolation = 'serializable'")
    try:
        async with opened(url) as store, store._base._pool.connection() as connection:  # type: ignore[union-attr]
            found = await connection.raw.fetchval("SHOW transaction_isolation")
            assert found == "read committed"
    finally:
        await ask(url, "ALTER ROLE windlass RESET default_transaction_isolation")


async def test_an_enqueue_that_waits_for_a_users_transaction_is_refused_in_the_end(
    url: str,
) -> None:
    """Only the end of that transaction tells whether its key is taken."""
    async with opened(url) as store, opened(f"{url}&timeout=0.5&patience=0.2") as other:
        user = await store._base.connect()
        await user.raw.execute("BEGIN")
        await user.each(store.inserting([new_job("users", unique="key")])(await store.now()))
        with pytest.raises(StoreUnavailable, match=r"has not ended for too long .* a unique key"):
            await other.insert([new_job("second", unique="key")])
        await put(other, "beside")
        await user.raw.execute("ROLLBACK")
        await user.raw.close()
        assert not (await other.insert([new_job("second", unique="key")]))[0].duplicate
        assert ids(await claim(other)) == ["beside", "second"]
