"""Single enqueues of many coroutines reach Redis together, and each is still its caller's own."""

import asyncio
from collections.abc import Sequence

from msgspec.structs import replace

from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import counted, fresh
from windlass import Middleware, Windlass
from windlass.core.ids import new_id
from windlass.core.model import NewJob, Receipt
from windlass.errors import StoreError
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import WORK, counts, new_job, put

CALLERS = 200


async def test_each_caller_learns_of_its_own_duplicates(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await put(store, "holder", unique="key")
        asked = [
            store.insert([new_job("holder")]),
            store.insert([new_job("a"), new_job("b", unique="key")]),
            store.insert([new_job("a"), new_job("c")]),
            store.insert([new_job("d", unique="other")]),
            store.insert([new_job("e", unique="other")]),
        ]
        assert await asyncio.gather(*asked) == [
            [Receipt("holder", duplicate=True)],
            [Receipt("a"), Receipt("holder", duplicate=True)],
            [Receipt("a", duplicate=True), Receipt("c")],
            [Receipt("d")],
            [Receipt("d", duplicate=True)],
        ]


async def test_tasks_that_enqueue_at_once_share_a_call(redis_server: Server) -> None:
    app = Windlass(f"{redis_server.url}?namespace={new_id()}")

    @app.task
    async def note(number: int) -> None: ...

    await note.aenqueue(0)
    with counted(redis_server.port) as calls:
        handles = await asyncio.gather(*(note.aenqueue(n) for n in range(CALLERS)))
    assert len({handle.id for handle in handles}) == CALLERS
    assert calls["evalsha"] <= 4
    await app.aclose()


async def test_one_who_gives_up_harms_nobody(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await put(store, "first")
        callers = [
            asyncio.create_task(_insert_one(store, new_job(f"job-{n}"))) for n in range(CALLERS)
        ]
        await asyncio.sleep(0)
        for caller in callers[::10]:
            caller.cancel()
        answers = await asyncio.gather(*callers, return_exceptions=True)
        for n, answer in enumerate(answers):
            if n % 10 == 0:
                assert isinstance(answer, asyncio.CancelledError)
            else:
                assert answer == [Receipt(f"job-{n}")]
        # The store goes on as if nothing had been.
        assert await store.insert([new_job("last")]) == [Receipt("last")]


async def _insert_one(store: RedisStore, job: NewJob) -> Sequence[Receipt]:
    return await store.insert([job])


async def test_an_error_reaches_every_caller(redis_server: Server) -> None:
    async with fresh(redis_server.url, namespace="broken") as store:
        tell(redis_server.port, "SET", "broken:{0}:jobs", "no hash")
        answers = await asyncio.gather(
            *(store.insert([new_job(f"job-{n}")]) for n in range(20)), return_exceptions=True
        )
        assert all(isinstance(answer, StoreError) for answer in answers)
        assert {"jobs in Redis is a string" in str(answer) for answer in answers} == {True}
        tell(redis_server.port, "DEL", "broken:{0}:jobs")
        assert await store.insert([new_job("later")]) == [Receipt("later")]


async def test_a_job_that_cannot_be_written_fails_its_own_caller_alone(
    redis_server: Server,
) -> None:
    class Spoils(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            if job.id != "bad":
                return job
            return replace(job, spec=replace(job.spec, labels={"half": "\ud800"}))

    app = Windlass(f"{redis_server.url}?namespace={new_id()}", middleware=[Spoils()])

    @app.task
    async def note() -> None: ...

    bad = note.using(id="bad")
    answers = await asyncio.gather(
        bad.aenqueue(), *(note.aenqueue() for _ in range(5)), return_exceptions=True
    )
    assert isinstance(answers[0], Exception)
    assert not [answer for answer in answers[1:] if isinstance(answer, BaseException)]
    await app.aclose()


async def test_tasks_that_enqueue_at_once_on_a_cluster_share_calls_too(
    redis_cluster: Cluster,
) -> None:
    app = Windlass(f"{redis_cluster.url}?namespace={new_id()}")

    @app.task
    async def note(number: int) -> None: ...

    await note.aenqueue(0)
    with counted(*(node.port for node in redis_cluster.nodes)) as calls:
        handles = await asyncio.gather(*(note.aenqueue(n) for n in range(CALLERS)))
    assert len({handle.id for handle in handles}) == CALLERS
    assert calls["evalsha"] <= 4
    await app.aclose()


async def test_a_large_insert_is_several_steps(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        # Of two, so that the server knows the script.
        await put(store, "first", "second")
        with counted(redis_server.port) as calls:
            await store.insert([NewJob(new_id(), WORK, fresh=True) for _ in range(1_300)])
        assert calls["evalsha"] == 3
        assert sum((await counts(store)).values()) == 1_302
