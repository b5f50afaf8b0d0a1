"""What a claim took whose answer was lost comes with the worker's next claim, of any queue."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import fresh
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job
from windlass.core.rotation import Rotation, parse_queues
from windlass.errors import StoreUnavailable
from windlass.stores.redis.shard import Shard
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import LEASE, job_of, put
from windlass.testing.work import until

MANY = {f"empty-{n}": 1 for n in range(100)}


@pytest.fixture(params=["single", "cluster"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[RedisStore]:
    name = {"single": "redis_server", "cluster": "redis_cluster"}[request.param]
    server: Server | Cluster = request.getfixturevalue(name)
    async with fresh(server.url) as store:
        yield store


def losing(shard: Shard, times: int = 1) -> None:
    """Let claims be carried out, and their answers not come."""
    claim = shard._claim
    left = [times]

    async def lossy(*args: Any) -> Any:
        taken = await claim(*args)
        if left[0] == 0:
            return taken
        left[0] -= 1
        raise StoreUnavailable("no answer for a long time")

    shard._claim = lossy  # type: ignore[assignment, method-assign]


def shard_of(store: RedisStore, queue: str) -> Shard:
    return store._shards[store._spread.of_queue(queue)[0]]


async def lose_claim(store: RedisStore, queue: str = "cold", times: int = 1) -> None:
    await put(store, "lost", queue=queue)
    losing(shard_of(store, queue), times)
    for _ in range(times):
        with pytest.raises(StoreUnavailable):
            await claims(store, {queue: 1})


async def claims(store: RedisStore, queues: Mapping[str, int]) -> list[Job]:
    return list(await store.claim(queues, 10, LEASE, "w"))


@pytest.mark.parametrize(
    "queues", [{"cold": 1}, {"other": 5}, {"other": 5, "cold": 1}, {"cold": 1, **MANY}, MANY, {}]
)
async def test_it_comes_with_the_next_claim(store: RedisStore, queues: Mapping[str, int]) -> None:
    await lose_claim(store)
    if "other" in queues:
        await put(store, "next", queue="other")
    [job] = await claims(store, queues)
    assert (job.id, job.attempt, job.lease) == ("lost", 1, (await job_of(store, "lost")).lease)
    assert [job.id for job in await claims(store, queues)] == ["next"] * ("other" in queues)


async def test_it_comes_however_often_the_answer_is_lost(store: RedisStore) -> None:
    await lose_claim(store)
    losing(shard_of(store, "cold"), 1)
    # Of several shards the others are asked all the same.
    if len(store._shards) == 1:
        with pytest.raises(StoreUnavailable):
            await claims(store, {"other": 1})
    else:
        assert await claims(store, {"other": 1}) == []
    [job] = await claims(store, {"other": 1})
    assert (job.id, job.attempt) == ("lost", 1)


async def test_no_other_worker_gets_it(store: RedisStore) -> None:
    await lose_claim(store)
    assert await store.claim({"cold": 1}, 1, LEASE, "other") == []
    assert [job.id for job in await claims(store, {"cold": 1})] == ["lost"]


async def test_a_worker_of_every_queue_asks_for_it(redis_server: Server) -> None:
    async with fresh(redis_server.url) as own:
        namespace = own._channel.partition(":")[0]
        app = Windlass(f"{redis_server.url}?namespace={namespace}")
        ran = asyncio.Event()

        @app.task(queue="cold")
        async def work() -> None:
            ran.set()

        store = await app.client.store()
        assert isinstance(store, RedisStore)
        losing(store._shards[0])
        worker = await app.worker(WorkerSettings(queues=("*",), lease=600))
        await worker.start()
        handle = await work.aenqueue()
        await until(ran.is_set)
        await worker.stop()
        job = await job_of(own, handle.id)
        assert job.attempt == 1
        await app.aclose()


def test_a_rotation_takes_jobs_of_queues_that_were_not_asked() -> None:
    rotation = Rotation(parse_queues(["a", "b"]))
    caps = rotation.caps(10)
    rotation.note(caps, 10, ["a", "c"])
    assert set(rotation.caps(10)) == {"a", "b"}
