"""A listener hears all that is said, and is told whenever it may have missed something."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.servers.proxy import Proxy
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_sentinel import Sentinels
from tests.servers.server import Server
from tests.stores.redis.transports import ONE, connected, eventually, script
from windlass.stores.redis.transport import Transport

CHANNEL = "test:wake"


@asynccontextmanager
async def listening(transport: Transport) -> AsyncIterator[list[bytes | None]]:
    """What was heard; the first None says that it listens."""
    heard: list[bytes | None] = []
    listener = transport.listen(CHANNEL, heard.append)
    try:
        await eventually(lambda: heard == [None])
        yield heard
    finally:
        await listener.stop()


async def test_every_message_is_heard_in_order(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport, listening(transport) as heard:
        for number in range(100):
            await transport.send(None, "PUBLISH", CHANNEL, number)
        await eventually(lambda: len(heard) == 101)
        assert heard == [None, *(b"%d" % number for number in range(100))]


async def test_nothing_is_heard_after_the_stop(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport:
        async with listening(transport) as heard:
            pass
        assert await transport.send(None, "PUBLISH", CHANNEL, "late") == 0
        assert heard == [None]


async def test_a_killed_listener_comes_back_and_says_so(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport, listening(transport) as heard:
        for times in (2, 3):
            assert tell(redis_server.port, "CLIENT", "KILL", "TYPE", "pubsub") == 1
            await eventually(lambda: heard.count(None) == times)  # noqa: B023
        await transport.send(None, "PUBLISH", CHANNEL, "word")
        await eventually(lambda: heard[-1] == b"word")


async def test_a_listener_survives_a_restart(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport, listening(transport) as heard:
        redis_server.kill()
        await asyncio.sleep(0.3)
        await asyncio.to_thread(redis_server.start)
        await eventually(lambda: heard == [None, None])
        await transport.send(None, "PUBLISH", CHANNEL, "word")
        await eventually(lambda: heard[-1] == b"word")


async def test_connections_whose_packets_are_swallowed_do_not_keep_calls_hanging(
    redis_server: Server, redis_proxy: Proxy
) -> None:
    url = redis_proxy.through(redis_server.url) + "?timeout=60&patience=60"
    async with connected(url) as transport, listening(transport) as heard:
        former = await transport.send(None, "CLIENT", "ID")
        redis_proxy.strand()
        call = asyncio.create_task(transport.run(0, ONE, [], []))
        # It is noticed by the listener: the time-outs are far too long for it.
        assert await asyncio.wait_for(call, 20) == 1
        assert await transport.send(None, "CLIENT", "ID") != former
        await eventually(lambda: heard.count(None) >= 2)


async def test_a_server_that_is_slow_costs_no_connection(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport, listening(transport) as heard:
        former = await transport.send(None, "CLIENT", "ID")
        redis_server.freeze()
        try:
            call = asyncio.create_task(transport.run(0, ONE, [], []))
            # Shorter than `timeout`, which is 5 s, and longer than a ping takes.
            await asyncio.sleep(3.0)
            assert not call.done()
        finally:
            redis_server.thaw()
        assert await asyncio.wait_for(call, 20) == 1
        assert await transport.send(None, "CLIENT", "ID") == former
        await transport.send(None, "PUBLISH", CHANNEL, "word")
        await eventually(lambda: heard == [None, b"word"])


async def test_a_user_who_may_not_listen_is_told_once(
    redis_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    rules = ("on", ">pw", "~*", "resetchannels", "+@all")
    tell(redis_server.port, "ACL", "SETUSER", "deaf", *rules)
    async with connected(f"redis://deaf:pw@127.0.0.1:{redis_server.port}") as transport:
        heard: list[bytes | None] = []
        listener = transport.listen(CHANNEL, heard.append)
        await eventually(lambda: bool(caplog.messages))
        await asyncio.sleep(0.3)
        tell(redis_server.port, "ACL", "SETUSER", "deaf", "allchannels")
        await eventually(lambda: heard == [None])
        await listener.stop()
    tell(redis_server.port, "ACL", "DELUSER", "deaf")
    [message] = caplog.messages
    assert CHANNEL in message and "NOPERM" in message and "ACL SETUSER" in message


async def test_words_of_any_node_of_a_cluster_are_heard(redis_cluster: Cluster) -> None:
    async with connected(redis_cluster.url) as transport, listening(transport) as heard:
        for slot in (0, 8_000, 16_000):
            await transport.send(slot, "PUBLISH", CHANNEL, slot)
        await eventually(lambda: len(heard) == 4)
        assert sorted(filter(None, heard)) == [b"0", b"16000", b"8000"]


async def test_a_listener_follows_the_master_of_sentinels(redis_sentinel: Sentinels) -> None:
    url = redis_sentinel.url + "?patience=30"
    write = script("return redis.call('SET', KEYS[1], 1)")
    async with connected(url) as transport, listening(transport) as heard:
        await asyncio.to_thread(redis_sentinel.failover)
        await transport.run(0, write, ["key"], [])  # finds the new master
        await eventually(lambda: heard.count(None) >= 2)
        assert len(tell(redis_sentinel.master().port, "PUBSUB", "CHANNELS", CHANNEL)) == 1
        await transport.send(None, "PUBLISH", CHANNEL, "word")
        await eventually(lambda: heard[-1] == b"word")
