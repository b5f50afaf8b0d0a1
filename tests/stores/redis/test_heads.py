"""Since when jobs wait: one look for each priority, over all parts of a queue."""

from collections.abc import AsyncIterator

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import counted, fresh
from windlass.core.ids import new_id
from windlass.core.model import NewJob
from windlass.stores.redis.sight import HEADS_AT_ONCE
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import WORK, claim_one, put

PRIORITIES = (0, 1, 49, 50, 51, 99, 100)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(redis_server: Server, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_server.url, clock) as store:
        yield store


async def test_it_takes_one_look_for_each_priority(
    store: RedisStore, clock: FakeClock, redis_server: Server
) -> None:
    for queue in ("a", "b"):
        for priority in PRIORITIES:
            new = [NewJob(new_id(), WORK, queue, priority, fresh=True) for _ in range(500)]
            await store.insert(new)
    await store.oldest(["a"])  # the server knows the script from now on
    with counted(redis_server.port) as calls:
        assert await store.oldest(["a", "b", "nobody's"]) == {"a": clock(), "b": clock()}
    # And one more in each queue, to see that there are no others.
    assert calls["zrangebyscore"] == 2 * len(PRIORITIES) + 3
    assert calls["hmget"] == calls["evalsha"] == 1


async def test_many_queues_are_looked_at_in_short_calls(
    store: RedisStore, clock: FakeClock, redis_server: Server
) -> None:
    queues = [f"queue-{n}" for n in range(3 * HEADS_AT_ONCE)]
    await store.insert([NewJob(new_id(), WORK, queue, fresh=True) for queue in queues])
    await store.oldest(["a"])
    with counted(redis_server.port) as calls:
        assert await store.oldest(queues) == dict.fromkeys(queues, clock())
    assert calls["evalsha"] == 3


@pytest.mark.parametrize("damage", [b"", b"noise" * 20])
async def test_a_damaged_job_hides_no_other(
    store: RedisStore, clock: FakeClock, damage: bytes
) -> None:
    await put(store, "harmed", priority=90)
    await put(store, "alone", queue="other")
    clock.advance(1)
    begun = clock()
    await put(store, "whole")
    clock.advance(1)
    for id in ("harmed", "alone"):
        await store._shards[0].send("HSET", "jobs", id, damage)
    assert await store.oldest(["default", "other"]) == {"default": begun, "other": clock()}


async def test_the_parts_of_a_queue_are_one(redis_cluster: Cluster, clock: FakeClock) -> None:
    async with fresh(redis_cluster.url, clock, partitions="hot:4") as store:
        begun = clock()
        left = {f"job-{n}": begun + n for n in range(20)}
        for id, clock.now in left.items():
            await put(store, id, queue="hot")
        assert len({store._spread.of_job("hot", id) for id in left}) == 4
        assert await store.oldest(["hot", "cold"]) == {"hot": begun}
        while left:
            assert await store.oldest(["hot"]) == {"hot": min(left.values())}
            del left[(await claim_one(store, queue="hot")).id]
        assert await store.oldest(["hot"]) == {}


async def test_only_shards_that_have_the_queues_are_asked(
    redis_cluster: Cluster, clock: FakeClock
) -> None:
    async with fresh(redis_cluster.url, clock) as store:
        await put(store, "job", queue="cold")
        assert await store.oldest(["cold"]) == {"cold": clock()}
        with counted(*(node.port for node in redis_cluster.nodes)) as calls:
            await store.oldest(["cold"])
        assert calls["evalsha"] == 1
