"""Lanes as they are listed: in order, in short pages, and over all shards."""

from collections.abc import AsyncIterator

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import contents, counted, fresh, fresh_namespace
from windlass.core.ids import new_id
from windlass.core.lane import Lane, LaneStats
from windlass.core.model import DEFAULT_QUEUE, NewJob, Spec
from windlass.core.states import State
from windlass.stores.redis.lanes import LARGEST_PAGE
from windlass.stores.redis.scripts import script
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import BOOM, claim_one, finish, put
from windlass.testing.suite.lanes import lanes_of

ONE = Lane("l", slots=1)


def spec_in(lane: Lane) -> Spec:
    return Spec("work", b"", lane=lane)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(redis_server: Server, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_server.url, clock) as store:
        yield store


async def names(store: RedisStore, limit: int = 100) -> list[tuple[str, str]]:
    return [(each.queue, each.lane.name) for each in await lanes_of(store, limit)]


async def test_the_default_queue_has_its_place_among_the_others(store: RedisStore) -> None:
    assert f"and '{DEFAULT_QUEUE}' or" in script("insert").source.decode()
    queues = ["a", "d", DEFAULT_QUEUE, "default2", "z"]
    for queue in reversed(queues):
        await put(store, *(f"{queue}-{n}" for n in range(2)), spec=spec_in(ONE), queue=queue)
    for limit in (1, 2, 100):
        assert await names(store, limit) == [(queue, "l") for queue in queues]
    assert await lanes_of(store) == [LaneStats(queue, ONE, 1, 1) for queue in queues]


async def test_a_page_is_short_however_many_there_are(
    store: RedisStore, redis_server: Server
) -> None:
    lanes = [Lane(f"lane-{n:04}", slots=1) for n in range(2 * LARGEST_PAGE)]
    await store.insert([NewJob(new_id(), spec_in(lane), fresh=True) for lane in lanes])
    await store.lanes(1)  # the server knows the script from now on
    with counted(redis_server.port) as calls:
        page = await store.lanes(10_000)
    assert [each.lane for each in page.lanes] == lanes[:LARGEST_PAGE]
    assert calls["zlexcount"] <= 3 * (LARGEST_PAGE + 1)
    assert calls["hmget"] == calls["evalsha"] == 1
    assert len(await lanes_of(store, 10_000)) == len(lanes)


async def test_jobs_without_a_lane_leave_no_trace_of_one(redis_server: Server) -> None:
    namespace = fresh_namespace()
    async with fresh(redis_server.url, namespace=namespace) as store:
        await put(store, "a", "b")
        await put(store, "g", spec=Spec("work", b"", group="g"))
        assert await finish(store, await claim_one(store), State.RETRY, error=BOOM)
        await store.prune(100)
    kept = {key.decode().rsplit(":", 1)[1] for key in contents(redis_server.port, namespace)}
    assert not kept & {"lanes", "entered", "idle"}


@pytest.mark.parametrize("change", ["delete", "cancel", "replay"])
async def test_a_lane_that_was_dropped_does_not_come_back_for_good(
    store: RedisStore, clock: FakeClock, change: str
) -> None:
    """Jobs that were in it, or are to be, are kept longer than the lane."""
    await put(store, "done", "dead", spec=spec_in(ONE))
    await put(store, "later", spec=spec_in(ONE), delay=60_000)
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await finish(store, await claim_one(store), State.DEAD, error=BOOM)
    await store.prune(100)
    assert await lanes_of(store) == []
    match change:
        case "delete":
            assert await store.delete(["done", "dead", "later"])
        case "cancel":
            assert await store.cancel(["later"])
        case _:
            assert await store.replay(["dead"])
            assert await lanes_of(store) == [LaneStats("default", ONE, 1, 0)]
            assert await finish(store, await claim_one(store), State.COMPLETED)
    await store.prune(100)
    assert await lanes_of(store) == []
    assert await store._shards[0].exist("lanes", "entered", "idle") == 0


@pytest.mark.parametrize("damage", [b"", b"short"])
async def test_a_damaged_lane_is_left_out_and_the_listing_goes_on(
    store: RedisStore, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    for name in "abc":
        await put(store, name, spec=spec_in(Lane(name, slots=1)))
    await store._shards[0].send("HSET", "lanes", b"\0\0b", damage)
    for limit in (1, 2, 3):
        assert await names(store, limit) == [("default", "a"), ("default", "c")]
    assert any("the lane b of the queue default is damaged" in line for line in caplog.messages)


async def test_lanes_of_a_cluster_are_one_listing(redis_cluster: Cluster) -> None:
    async with fresh(redis_cluster.url, partitions="hot:8") as store:
        keys = sorted(
            (queue, f"lane-{n}") for queue in ("hot", "cold", DEFAULT_QUEUE) for n in range(10)
        )
        for queue, name in keys:
            lane = Lane(name, slots=2)
            await put(store, *(new_id() for _ in range(5)), spec=spec_in(lane), queue=queue)
        whole = [LaneStats(queue, Lane(name, slots=2), 2, 3) for queue, name in keys]
        homes = [await shard.send("HLEN", "lanes") for shard in store._shards]
        assert sum(number > 0 for number in homes) > 3
        for limit in (1, 7, 30, 100):
            assert await lanes_of(store, limit) == whole


async def test_a_lane_whose_queue_was_divided_is_one_with_what_is_left_elsewhere(
    redis_cluster: Cluster,
) -> None:
    namespace = fresh_namespace()
    lanes = [Lane(f"lane-{n}", slots=1) for n in range(10)]
    wider = [Lane(lane.name, slots=2) for lane in lanes]
    async with fresh(redis_cluster.url, namespace=namespace) as store:
        for lane in lanes:
            await put(store, *(new_id() for _ in range(3)), spec=spec_in(lane), queue="hot")
    async with fresh(redis_cluster.url, namespace=namespace, partitions="hot:8") as store:
        for lane in wider:
            await put(store, *(new_id() for _ in range(3)), spec=spec_in(lane), queue="hot")
        moved = [
            len({*store._spread.of_queue("hot")[:1], store._spread.of_job("hot", lane.name)}) > 1
            for lane in wider
        ]
        assert any(moved)
        expected = [
            LaneStats("hot", lane, *((3, 3) if apart else (2, 4)))
            for lane, apart in zip(wider, moved, strict=True)
        ]
        for limit in (1, 3, 100):
            assert await lanes_of(store, limit) == expected
