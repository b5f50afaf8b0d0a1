"""Keys of the API on Redis: in one place for all shards, and a damaged one harms no other."""

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import fresh
from windlass.core.apikey import ApiKey, Role
from windlass.stores.redis.record import encode
from windlass.stores.redis.store import RedisStore


def key(id: str) -> ApiKey:
    return ApiKey(id, id.encode().ljust(32), (Role.READ,), ("mail",), "Zoë")


async def write(store: RedisStore, id: str, record: bytes) -> None:
    await store._shards[0].send("HSET", "keys", id, record)


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"\xff",
        encode(key("b"))[:-3],
        encode({"id": "b"}),
        encode({"id": "b", "digest": b"x", "roles": ["king"]}),
        encode({"id": "b", "digest": b"x", "roles": ["read"]}).replace(b"\xa4read", b"\xa4\xffead"),
    ],
    ids=["nothing", "noise", "half", "too little", "an unknown role", "no text"],
)
async def test_a_damaged_key_is_left_out(
    redis_server: Server, record: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with fresh(redis_server.url) as store:
        await store.put_keys([key("a"), key("b"), key("c")])
        await write(store, "b", record)
        assert list(await store.keys()) == [key("a"), key("c")]
        assert any("the key 'b' is damaged" in line for line in caplog.messages)
        # And it can be mended or dropped as any other.
        await store.put_keys([key("b")])
        assert list(await store.keys()) == [key("a"), key("b"), key("c")]
        await write(store, "b", record)
        assert await store.drop_keys(["b"]) == {"b"}


async def test_what_a_later_version_adds_to_a_key_is_no_damage(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await write(store, "a", encode({"id": "a", "digest": b"x", "roles": ["read"], "more": 1}))
        assert list(await store.keys()) == [ApiKey("a", b"x", (Role.READ,))]


async def test_all_shards_have_the_same(redis_cluster: Cluster) -> None:
    ids = [f"key-{n:02}" for n in range(40)]
    async with fresh(redis_cluster.url) as store:
        await store.put_keys([key(id) for id in ids])
        sizes = [await shard.send("HLEN", "keys") for shard in store._shards]
        # With what is remembered of there being some.
        assert sizes == [41, *[0] * (len(sizes) - 1)]
        assert [kept.id for kept in await store.keys()] == ids


async def test_a_store_whose_only_key_is_damaged_has_had_keys(redis_server: Server) -> None:
    async with fresh(redis_server.url) as store:
        await write(store, "a", b"\xff")
        assert (list(await store.keys()), await store.had_keys()) == ([], True)
