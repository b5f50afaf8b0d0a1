"""Orders to workers on Redis: they go with the worker, and none is misread."""

from tests.servers.server import Server
from tests.stores.redis.watch import contents, fresh, fresh_namespace
from windlass.core.workers import WorkerInfo
from windlass.testing.clock import FakeClock

TTL = 30_000


def worker(id: str) -> WorkerInfo:
    return WorkerInfo(id, "host", 1, ("*",), 4, 1)


async def test_nothing_is_left_of_workers_that_are_gone(redis_server: Server) -> None:
    namespace, clock = fresh_namespace(), FakeClock()
    async with fresh(redis_server.url, clock, namespace=namespace) as store:
        for id in ("leaves", "lost", "last"):
            await store.beat(worker(id), TTL)
        assert await store.direct(["leaves", "lost", "last"], "quiet") == {"leaves", "lost", "last"}
        await store.leave("leaves")
        clock.advance(60)
        assert await store.beat(worker("last"), TTL) is None
        await store.leave("last")
    keys = {key.decode().rsplit(":", 1)[1] for key in contents(redis_server.port, namespace)}
    assert keys == {"meta"}


async def test_an_order_of_a_later_version_is_none(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await store.beat(worker("w"), TTL)
        await store._shards[0].send("HSET", "orders", "w", "dance")
        assert await store.beat(worker("w"), TTL) is None
        assert await store.direct(["w"], "stop") == {"w"}
        assert await store.beat(worker("w"), TTL) == "stop"


async def test_many_workers_are_told_at_once(redis_server: Server) -> None:
    ids = [f"w{n}" for n in range(1_200)]
    async with fresh(redis_server.url) as store:
        for id in ids[:700]:
            await store.beat(worker(id), TTL)
        assert await store.direct(ids, "stop") == set(ids[:700])
        assert await store.beat(worker("w699"), TTL) == "stop"
