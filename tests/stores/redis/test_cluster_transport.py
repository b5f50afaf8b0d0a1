"""Commands find the master of their slot, wherever it has gone."""

import asyncio

import pytest

from tests.servers.process import wait_until
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_node import Node, myself, view
from tests.servers.server import Server
from tests.stores.redis.transports import COUNT_ONCE, ECHO, connected
from windlass.errors import StoreError, StoreUnavailable
from windlass.stores.redis.cluster import slot_of
from windlass.stores.redis.transport import open_transport
from windlass.stores.redis.url import parse

TAGS = ("a", "b", "c", "d", "e", "f")


def key(tag: str) -> str:
    return f"test:{{{tag}}}:once"


async def count(url: str, name: str) -> list[bytes]:
    async with connected(url) as transport:
        return [await transport.send(slot_of(t.encode()), "HGET", key(t), name) for t in TAGS]


def test_slots_are_counted_as_redis_does(redis_cluster: Cluster) -> None:
    for tag in ("user1000", "a", "", "ä"):
        theirs = tell(redis_cluster.nodes[0].port, "CLUSTER", "KEYSLOT", tag)
        assert slot_of(tag.encode()) == theirs


async def test_each_key_is_reached_and_each_master_asked(redis_cluster: Cluster) -> None:
    redis_cluster.flush()
    async with connected(redis_cluster.url) as transport:
        for tag in TAGS:
            slot = slot_of(tag.encode())
            assert await transport.run(slot, COUNT_ONCE, [key(tag)], ["x"]) == b"first"
        ids = await transport.everywhere("CLUSTER", "MYID")
        assert len(set(ids)) == 3
    assert await count(redis_cluster.url, "x") == [b"1"] * len(TAGS)


async def test_one_seed_is_enough(redis_cluster: Cluster) -> None:
    async with connected(f"redis+cluster://127.0.0.1:{redis_cluster.nodes[-1].port}") as transport:
        assert len(await transport.everywhere("PING")) == 3


async def test_a_slot_that_moved_is_followed(redis_cluster: Cluster) -> None:
    redis_cluster.flush()
    slot = slot_of(b"a")
    async with connected(redis_cluster.url) as transport:
        assert await transport.run(slot, COUNT_ONCE, [key("a")], ["before"]) == b"first"
        master = redis_cluster.master_of(slot)
        await asyncio.to_thread(redis_cluster.failover, redis_cluster.replica_of(master))
        assert redis_cluster.master_of(slot) is not master
        assert await transport.run(slot, COUNT_ONCE, [key("a")], ["after"]) == b"first"
        assert await transport.send(slot, "HLEN", key("a")) == 2


async def test_calls_during_a_failover_lose_and_double_nothing(redis_cluster: Cluster) -> None:
    redis_cluster.flush()
    async with connected(redis_cluster.url + "?patience=30") as transport:
        going = True

        async def work(tag: str) -> int:
            number = 0
            while going:
                number += 1
                slot = slot_of(tag.encode())
                await transport.run(slot, COUNT_ONCE, [key(tag)], [number])
            return number

        working = [asyncio.create_task(work(tag)) for tag in TAGS]
        replica = redis_cluster.replica_of(redis_cluster.master_of(slot_of(b"a")))
        await asyncio.to_thread(redis_cluster.failover, replica)
        going = False
        for tag, task in zip(TAGS, working, strict=True):
            counts = await transport.send(slot_of(tag.encode()), "HVALS", key(tag))
            assert await task == len(counts) > 0
            assert set(counts) == {b"1"}


async def test_a_slot_under_migration_is_asked_for_where_it_goes(redis_cluster: Cluster) -> None:
    redis_cluster.flush()
    slot = slot_of(b"moving")
    source = redis_cluster.master_of(slot)
    goal = redis_cluster.master_of((slot + 8_000) % 16_384)
    tell(goal.port, "SCRIPT", "FLUSH")  # the script has to be loaded there, too
    async with connected(redis_cluster.url) as transport:
        begin_move(slot, source, goal)
        try:
            assert await transport.run(slot, COUNT_ONCE, [key("moving")], ["x"]) == b"first"
            assert tell(goal.port, "CLUSTER", "COUNTKEYSINSLOT", slot) == 1
            assert tell(source.port, "CLUSTER", "COUNTKEYSINSLOT", slot) == 0
        finally:
            end_move(redis_cluster, slot, source, goal)
        try:
            # What is known of the slot is wrong now; whoever is asked says where to go.
            assert await transport.run(slot, ECHO, [key("moving")], ["y"]) == [b"0", b"y"]
            assert await transport.send(slot, "HGET", key("moving"), "x") == b"1"
        finally:
            tell(goal.port, "FLUSHALL")
            begin_move(slot, goal, source)
            end_move(redis_cluster, slot, goal, source)


def begin_move(slot: int, source: Server, goal: Server) -> None:
    tell(goal.port, "CLUSTER", "SETSLOT", slot, "IMPORTING", myself(source.port).id)
    tell(source.port, "CLUSTER", "SETSLOT", slot, "MIGRATING", myself(goal.port).id)


def end_move(cluster: Cluster, slot: int, source: Server, goal: Server) -> None:
    owner = myself(goal.port).id
    for server in (goal, source):
        tell(server.port, "CLUSTER", "SETSLOT", slot, "NODE", owner)

    def agreed() -> bool:
        views = [view(node.port) for node in cluster.nodes]
        holders = [node.id for each in views for node in each if holds(node, slot)]
        return holders == [owner] * len(cluster.nodes)

    assert wait_until(agreed)


def holds(node: Node, slot: int) -> bool:
    return any(slot in slots for slots in node.slots)


async def test_a_killed_master_is_replaced_by_its_replica(redis_cluster: Cluster) -> None:
    redis_cluster.flush()
    slot = slot_of(b"a")
    async with connected(redis_cluster.url + "?patience=30") as transport:
        redis_cluster.master_of(slot).kill()
        try:
            assert await transport.run(slot, COUNT_ONCE, [key("a")], ["x"]) == b"first"
            assert len(await transport.everywhere("PING")) == 3
        finally:
            await asyncio.to_thread(redis_cluster.heal)


async def test_a_cluster_that_is_none_is_told(redis_server: Server) -> None:
    url = f"redis+cluster://127.0.0.1:{redis_server.port}"
    with pytest.raises(StoreError, match="is no Cluster: write redis://"):
        await open_transport(parse(url), blocking=False).open()


async def test_a_node_that_is_taken_for_a_single_server_is_told(redis_cluster: Cluster) -> None:
    slot = slot_of(b"a")
    stranger = redis_cluster.master_of((slot + 8_000) % 16_384)
    async with connected(f"redis://127.0.0.1:{stranger.port}") as transport:
        with pytest.raises(StoreError, match=r"belongs to a Cluster: write redis\+cluster://"):
            await transport.run(slot, COUNT_ONCE, [key("a")], ["x"])


async def test_no_node_that_answers_is_told(redis_cluster: Cluster) -> None:
    url = "redis+cluster://127.0.0.1:1,127.0.0.1:2?patience=0.2"
    with pytest.raises(StoreUnavailable, match=r"127.0.0.1:1, 127.0.0.1:2 .*refused"):
        await open_transport(parse(url), blocking=False).open()
