"""The store on a Cluster: queues spread over the masters, and queues that are split."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import counted, fresh, fresh_namespace
from windlass.core.ids import new_id
from windlass.core.model import NewJob
from windlass.core.states import State
from windlass.stores.contract import CLAIM_BYTES
from windlass.stores.redis import opening
from windlass.stores.redis.keys import SHARDS
from windlass.stores.redis.shard import Terms
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import (
    LEASE,
    WORK,
    claim_all,
    counts,
    finish,
    ids,
    listing,
    new_job,
    pages,
    put,
)

PARTS = 4


@pytest.fixture
async def store(redis_cluster: Cluster) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, partitions=f"hot:{PARTS}") as store:
        yield store


async def by_shard(store: RedisStore) -> dict[int, int]:
    """How many jobs each shard that has any has."""
    sizes = {shard.number: await shard.send("HLEN", "jobs") for shard in store._shards}
    return {number: size for number, size in sizes.items() if size}


async def put_hot(store: RedisStore, number: int, **options: Any) -> list[str]:
    jobs = [NewJob(new_id(), WORK, queue="hot", fresh=True, **options) for _ in range(number)]
    await store.insert(jobs)
    return [job.id for job in jobs]


async def test_queues_are_spread_over_shards_and_masters(
    redis_cluster: Cluster, store: RedisStore
) -> None:
    queues = [f"queue-{n}" for n in range(200)]
    await store.insert([NewJob(new_id(), WORK, queue=queue, fresh=True) for queue in queues])
    assert set(await by_shard(store)) == set(range(SHARDS))
    homes = Counter(redis_cluster.master_of(shard._keys.slot).port for shard in store._shards)
    assert len(homes) == 3
    assert max(homes.values()) - min(homes.values()) <= 1


async def test_one_queue_is_in_one_shard(store: RedisStore) -> None:
    await put(store, *(f"job-{n}" for n in range(20)), queue="cold")
    assert list((await by_shard(store)).values()) == [20]


async def test_a_claim_asks_no_shard_in_vain(redis_cluster: Cluster, store: RedisStore) -> None:
    ports = [node.port for node in redis_cluster.nodes]
    await put(store, "job", queue="cold")
    await store.claim({"cold": 10}, 10, LEASE, "w")
    with counted(*ports) as calls:
        await store.claim({"cold": 10}, 10, LEASE, "w")
    assert calls["evalsha"] <= 2


async def test_a_lost_answer_to_a_claim_is_given_again(store: RedisStore) -> None:
    await put(store, "a", "b", "c", queue="cold")
    shard = store._shards[store._spread.of_queue("cold")[0]]
    terms = Terms(LEASE, "w", "token", 0, CLAIM_BYTES, 0)
    first = await shard._claim({"cold": 10}, 10, terms)
    again = await shard._claim({"cold": 10}, 10, terms)
    assert [job.lease for job in first.jobs] == [job.lease for job in again.jobs]
    assert ids(first.jobs) == ["a", "b", "c"]


async def test_a_hot_queue_is_split_and_all_of_it_is_run(store: RedisStore) -> None:
    sent = await put_hot(store, 400)
    sizes = await by_shard(store)
    assert len(sizes) == PARTS
    assert min(sizes.values()) > 50
    jobs = await claim_all(store, "hot", limit=70)
    assert sorted(ids(jobs)) == sorted(sent)
    for job in jobs:
        assert await finish(store, job, State.COMPLETED)
    assert await counts(store, "hot") == {State.COMPLETED: 400}


async def test_a_claim_keeps_its_cap_over_all_parts(store: RedisStore) -> None:
    await put_hot(store, 100)
    assert len(await store.claim({"hot": 7}, 50, LEASE, "w")) == 7
    assert len(await store.claim({"hot": 60}, 9, LEASE, "w")) == 9


async def test_order_is_kept_in_each_part(store: RedisStore) -> None:
    low = await put_hot(store, 100, priority=10)
    high = await put_hot(store, 100, priority=90)
    claimed = ids(await claim_all(store, "hot", limit=30))
    spread = store._spread
    for number in spread.of_queue("hot"):
        part = [id for id in claimed if spread.of_job("hot", id) == number]
        expected = [id for id in high + low if spread.of_job("hot", id) == number]
        assert part == expected


async def test_what_people_do_covers_all_parts(store: RedisStore) -> None:
    sent = await put_hot(store, 60)
    assert await counts(store, "hot") == {State.PENDING: 60}
    assert sorted(ids(await listing(store, queue="hot", limit=7))) == sorted(sent)
    assert len(await pages(store, states=(State.PENDING,), limit=7)) == 9
    await store.pause("hot")
    assert [(each.name, each.paused) for each in await store.queues()] == [("hot", True)]
    assert await claim_all(store, "hot") == []
    await store.resume("hot")
    assert await store.cancel(sent[:30]) == set(sent[:30])
    assert await store.replay(sent[:10]) == set(sent[:10])
    assert await store.reschedule(sent[30:40], delay=3_600_000) == set(sent[30:40])
    assert await store.delete(sent[40:50]) == set(sent[40:50])
    assert await counts(store, "hot") == {
        State.PENDING: 20,
        State.SCHEDULED: 10,
        State.CANCELLED: 20,
    }
    assert len(await claim_all(store, "hot")) == 20


async def test_other_clients_learn_of_the_parts(
    redis_cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace = fresh_namespace()
    async with fresh(redis_cluster.url, namespace=namespace) as early:
        async with fresh(redis_cluster.url, namespace=namespace, partitions="hot:4") as splits:
            sent = await put_hot(splits, 100)
        monkeypatch.setattr(opening, "REFRESH", 0.0)
        claimed: list[str] = []
        async with asyncio.timeout(20):
            # It asks for the parts beside its claims, so that the first may still miss some.
            while len(claimed) < len(sent):
                claimed += ids(await claim_all(early, "hot"))
        assert sorted(claimed) == sorted(sent)
        async with fresh(redis_cluster.url, namespace=namespace) as late:
            await put_hot(late, 100)
            assert len(await by_shard(late)) == 4


async def test_the_number_of_parts_only_grows(redis_cluster: Cluster) -> None:
    namespace = fresh_namespace()
    for asked, found in ((2, 2), (5, 5), (1, 5)):
        async with fresh(
            redis_cluster.url, namespace=namespace, partitions=f"hot:{asked}"
        ) as store:
            assert len(store._spread.of_queue("hot")) == found


async def test_jobs_from_before_the_split_are_run(redis_cluster: Cluster) -> None:
    namespace = fresh_namespace()
    async with fresh(redis_cluster.url, namespace=namespace) as store:
        await put(store, *(f"job-{n}" for n in range(50)), queue="hot")
    async with fresh(redis_cluster.url, namespace=namespace, partitions="hot:8") as store:
        # An id of the caller's choice is known wherever it is.
        assert (await store.insert([new_job("job-7", queue="hot")]))[0].duplicate
        assert len(await claim_all(store, "hot")) == 50


async def test_a_queue_that_was_paused_before_the_split_stays_paused(
    redis_cluster: Cluster,
) -> None:
    namespace = fresh_namespace()
    async with fresh(redis_cluster.url, namespace=namespace) as store:
        await store.pause("hot")
    async with fresh(redis_cluster.url, namespace=namespace, partitions="hot:8") as store:
        await put_hot(store, 50)
        assert await claim_all(store, "hot") == []
        await store.resume("hot")
        assert len(await claim_all(store, "hot")) == 50


async def test_due_jobs_of_all_parts_become_pending(redis_cluster: Cluster) -> None:
    clock = FakeClock()
    async with fresh(redis_cluster.url, clock, partitions="hot:4") as store:
        await put_hot(store, 80, delay=1_000)
        assert await claim_all(store, "hot") == []
        clock.advance(1)
        assert len(await claim_all(store, "hot")) == 80


async def test_elsewhere_than_on_a_cluster_nothing_is_split(redis_server: Server) -> None:
    async with fresh(redis_server.url, partitions="hot:4") as store:
        await put_hot(store, 20)
        assert await by_shard(store) == {0: 20}
