"""The master of the first shard is gone as well as another may be: the rest goes on."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest

from tests.servers.redis_cluster import Cluster
from tests.stores.redis.test_partial_outage import HASTY, Sides, job, moves, outage
from tests.stores.redis.watch import fresh, fresh_namespace
from windlass.core.model import JobQuery
from windlass.errors import StoreUnavailable
from windlass.stores.open import open_store
from windlass.stores.redis.store import RedisStore
from windlass.sync import drive
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import LEASE, claim_all, state_of

PARTITIONS: Any = {"partitions": "hot:4"}


@pytest.fixture
async def store(redis_cluster: Cluster) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, **HASTY, **PARTITIONS) as store:
        yield store


@pytest.fixture
def sides(store: RedisStore, redis_cluster: Cluster) -> Sides:
    return Sides(store, redis_cluster)


def namespace_of(store: RedisStore) -> str:
    return store._channel.partition(":")[0]


async def test_a_store_can_be_opened_and_used(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    await store.insert([job(queue) for queue in (*sides.there[:2], *sides.gone[:2])])
    options = {**HASTY, "namespace": namespace_of(store)}
    async with outage(redis_cluster), fresh(redis_cluster.url, **options) as late:
        assert late._spread.partitions == {"hot": 4}
        await late.ping()
        assert await late.now() > 0
        claimed = await claim_all(late, *sides.there[:2], *sides.gone[:2])
        assert sorted(each.queue for each in claimed) == sorted(sides.there[:2])
        assert await late.finish(moves(claimed)) == {each.id for each in claimed}


async def test_somebody_leads(redis_cluster: Cluster, store: RedisStore) -> None:
    assert await store.elect("upkeep", "one", LEASE)
    async with outage(redis_cluster):
        # Who led is forgotten with the shard that knew of it; from now on another one knows.
        assert await store.elect("upkeep", "two", LEASE)
        assert await store.elect("upkeep", "three", LEASE) is None
        assert await store.elect("upkeep", "two", LEASE)
        await store.resign("upkeep", "two")
        assert await store.elect("upkeep", "three", LEASE)


async def test_what_is_there_is_listed_and_changed(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    there, gone = job(sides.there[0]), job(sides.gone[0])
    await store.insert([there, gone])
    async with outage(redis_cluster):
        page = await store.find(JobQuery())
        assert [each.id for each in page.jobs] == [there.id]
        assert await store.prioritize([there.id], 70) == {there.id}
        assert await store.cancel([there.id]) == {there.id}
        assert await store.replay([there.id]) == {there.id}
        assert await store.cancel([there.id]) == {there.id}
        with pytest.raises(StoreUnavailable):
            await store.cancel([gone.id])


async def test_partitions_that_a_shard_missed_are_told_to_it(
    redis_cluster: Cluster, store: RedisStore
) -> None:
    shard = store._shards[3]
    await shard.drop("partitions")
    async with fresh(redis_cluster.url, namespace=namespace_of(store)):
        assert await shard.send("HGETALL", "partitions") == [b"hot", b"4"]


@contextmanager
def blocking(url: str, **options: str) -> Iterator[RedisStore]:
    query = "&".join(f"{name}={value}" for name, value in options.items())
    store = open_store(f"{url}?{query}", blocking=True)
    assert isinstance(store, RedisStore)
    drive(store.open())
    try:
        yield store
    finally:
        drive(store.close())


async def test_blocking_code_does_not_wait_for_each_shard(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    there, gone = job(sides.there[0]), job(sides.gone[0])
    await store.insert([there, gone])
    url, namespace = redis_cluster.url, namespace_of(store)
    async with outage(redis_cluster):
        took, states = await asyncio.to_thread(looks, url, namespace, there.id, gone.id)
    # The usual patience of five seconds, and about five shards that are gone.
    assert states == ["pending", "unavailable", "pending", "pending"]
    assert took[0] < 15 and took[1] < 15
    # It knows now which shards are silent.
    assert took[2] < 2 and took[3] < 2


def looks(url: str, namespace: str, there: str, gone: str) -> tuple[list[float], list[str]]:
    took, states = [], []
    with blocking(url, namespace=namespace) as store:
        for id in (there, gone, there, there):
            began = monotonic()
            try:
                states.append(str(drive(state_of(store, id))))
            except StoreUnavailable:
                states.append("unavailable")
            took.append(monotonic() - began)
    return took, states


async def test_a_new_namespace_is_of_this_version_in_all_shards(redis_cluster: Cluster) -> None:
    async with fresh(redis_cluster.url, FakeClock(), namespace=fresh_namespace()) as store:
        for shard in store._shards:
            assert await shard.send("HGET", "meta", "version") == b"1"
