"""Calls that get their answer whatever happens to the server, and are carried out once."""

import asyncio
import os
import signal
import threading

import pytest

from tests.servers.certificates import Tls
from tests.servers.ports import ask, free_port
from tests.servers.process import wait_until
from tests.servers.proxy import Proxy
from tests.servers.redis import serve, tell
from tests.servers.server import Server
from tests.stores.redis.transports import COUNT_ONCE, ECHO, ONE, connected, script
from windlass.errors import StoreError, StoreUnavailable
from windlass.stores.redis.transport import open_transport
from windlass.stores.redis.url import parse

ENGINES = ["redis_server", "redis_old", "valkey_server"]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Server:
    server: Server = request.getfixturevalue(request.param)
    return server


async def test_a_script_gets_its_keys_and_arguments_as_they_are(engine: Server) -> None:
    async with connected(engine.url) as transport:
        assert await transport.run(0, ECHO, ["key"], ["word", 7, b"\xff\0"]) == [
            b"0", b"word", b"7", b"\xff\0",
        ]  # fmt: skip
        keys = script("return KEYS")
        assert await transport.run(0, keys, ["ké", b"\xfe"], []) == ["ké".encode(), b"\xfe"]
        assert await transport.run(0, script("return {1, false, 'x'}"), [], []) == [1, None, b"x"]


async def test_a_flushed_script_is_loaded_again(engine: Server) -> None:
    async with connected(engine.url) as transport:
        for _ in range(3):
            tell(engine.port, "SCRIPT", "FLUSH")
            replies = await asyncio.gather(*(transport.run(0, ECHO, [], [n]) for n in range(9)))
            assert replies == [[b"0", b"%d" % n] for n in range(9)]


async def test_large_arguments_and_answers_pass(redis_server: Server) -> None:
    value = os.urandom(5_000_000)
    async with connected(redis_server.url) as transport:
        assert await transport.run(0, ECHO, [], [value]) == [b"0", value]


async def test_a_lost_reply_is_told_to_the_script(redis_server: Server, redis_proxy: Proxy) -> None:
    tell(redis_server.port, "DEL", "once")
    async with connected(redis_proxy.through(redis_server.url)) as transport:
        assert await transport.run(0, COUNT_ONCE, ["once"], ["a"]) == b"first"
        redis_proxy.drop_replies(1, after=b"EVALSHA")
        assert await transport.run(0, COUNT_ONCE, ["once"], ["b"]) == b"again"
        assert await transport.run(0, COUNT_ONCE, ["once"], ["c"]) == b"first"
    assert tell(redis_server.port, "HVALS", "once") == ["1", "1", "1"]


async def test_killed_connections_lose_and_double_nothing(redis_server: Server) -> None:
    tell(redis_server.port, "DEL", "once")
    killing = True

    async def kill() -> int:
        killed = 0
        while killing:
            killed += await asyncio.to_thread(
                tell, redis_server.port, "CLIENT", "KILL", "TYPE", "normal"
            )
        return killed

    async with connected(redis_server.url) as transport:
        killer = asyncio.create_task(kill())

        async def work(name: int) -> None:
            for number in range(100):
                await transport.run(0, COUNT_ONCE, ["once"], [f"{name}.{number}"])

        await asyncio.gather(*(work(name) for name in range(10)))
        killing = False
        assert await killer > 0
    counts = tell(redis_server.port, "HVALS", "once")
    assert len(counts) == 1_000 and set(counts) == {"1"}


async def test_a_cancelled_call_leaves_the_others_alone(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport:
        calls = [asyncio.create_task(transport.run(0, ECHO, [], [n])) for n in range(90)]
        await asyncio.sleep(0)
        for call in calls[::3]:
            call.cancel()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [each for n, each in enumerate(outcomes) if n % 3] == [
            [b"0", b"%d" % n] for n in range(90) if n % 3
        ]
        assert await transport.run(0, ONE, [], []) == 1


async def test_a_call_survives_a_restart(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport:
        await transport.send(None, "SET", "kept", "yes")
        redis_server.kill()
        call = asyncio.create_task(transport.run(0, ONE, [], []))
        await asyncio.to_thread(redis_server.start)
        assert await call == 1
        assert await transport.send(0, "GET", "kept") == b"yes"


async def test_a_call_waits_until_the_server_has_loaded_its_data() -> None:
    slow = ("--key-load-delay 500", "--loading-process-events-interval-bytes 1024")
    with serve(*slow) as server:
        async with connected(server.url + "?patience=30") as transport:
            await transport.run(0, FILL, ["kept"], [])
            server.kill()
            starting = threading.Thread(target=server.start)
            starting.start()
            assert wait_until(lambda: ask(server.port, b"PING\r\n").startswith(b"-LOADING"))
            assert await transport.send(0, "HLEN", "kept") == 2_000
            starting.join()


FILL = script(
    """
    for n = 1, 2000 do redis.call('HSET', KEYS[1], n, string.rep('x', 100)) end
    """
)


async def test_a_busy_server_is_waited_for(redis_server: Server) -> None:
    tell(redis_server.port, "CONFIG", "SET", "lua-time-limit", "10")
    endless = open_transport(parse(redis_server.url + "?timeout=30"), blocking=False)
    async with connected(redis_server.url) as transport:
        spinning = asyncio.create_task(endless.run(0, script("while true do end"), [], []))
        assert await asyncio.to_thread(
            wait_until, lambda: ask(redis_server.port, b"PING\r\n").startswith(b"-BUSY")
        )
        call = asyncio.create_task(transport.run(0, ONE, [], []))
        await asyncio.sleep(0.1)
        assert not call.done()
        tell(redis_server.port, "SCRIPT", "KILL")
        assert await call == 1
        with pytest.raises(StoreError, match="killed"):
            await spinning
        await endless.close()
    tell(redis_server.port, "CONFIG", "SET", "lua-time-limit", "5000")


async def test_a_silent_server_is_given_up_after_all_patience(redis_server: Server) -> None:
    async with connected(redis_server.url + "?timeout=0.3&patience=0.5") as transport:
        os.kill(redis_server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailable, match=r"Redis at 127.0.0.1:\d+ did not answer"):
                await asyncio.wait_for(transport.run(0, ONE, [], []), 20)
        finally:
            os.kill(redis_server.pid, signal.SIGCONT)
        assert await transport.run(0, ONE, [], []) == 1


async def test_a_server_that_falls_silent_and_wakes_does_nothing_twice(
    redis_server: Server,
) -> None:
    tell(redis_server.port, "DEL", "once")
    async with connected(redis_server.url + "?timeout=0.2&patience=30") as transport:
        os.kill(redis_server.pid, signal.SIGSTOP)
        try:
            calls = [
                asyncio.create_task(transport.run(0, COUNT_ONCE, ["once"], [n])) for n in range(20)
            ]
            await asyncio.sleep(1.0)  # several sendings are given up meanwhile
        finally:
            os.kill(redis_server.pid, signal.SIGCONT)
        await asyncio.gather(*calls)
    assert tell(redis_server.port, "HVALS", "once") == ["1"] * 20


async def test_a_server_that_is_not_there_is_told(redis_server: Server) -> None:
    port = free_port()
    transport = open_transport(parse(f"redis://127.0.0.1:{port}?patience=0.2"), blocking=False)
    with pytest.raises(StoreUnavailable, match=rf"127.0.0.1:{port} .*for 0.2 s: .*refused"):
        await transport.open()


async def test_a_replica_is_given_up_and_a_new_master_is_used(engine: Server) -> None:
    nowhere = ("REPLICAOF", "127.0.0.1", free_port())
    write = script("return redis.call('SET', KEYS[1], ARGV[2])")
    async with connected(engine.url + "?patience=0.2") as transport:
        tell(engine.port, *nowhere)
        try:
            with pytest.raises(StoreUnavailable, match=r"READONLY|MASTERDOWN"):
                await transport.run(0, write, ["key"], ["word"])
        finally:
            tell(engine.port, "REPLICAOF", "NO", "ONE")
        assert await transport.run(0, write, ["key"], ["word"]) == b"OK"


async def test_a_server_out_of_memory_says_what_to_do(engine: Server) -> None:
    write = script("return redis.call('SET', KEYS[1], ARGV[2])")
    async with connected(engine.url) as transport:
        tell(engine.port, "CONFIG", "SET", "maxmemory", "1mb")
        try:
            with pytest.raises(StoreError, match=r"out of memory .*nothing was stored") as caught:
                await transport.run(0, write, ["big"], [b"x" * 100_000])
        finally:
            tell(engine.port, "CONFIG", "SET", "maxmemory", "0")
        assert not isinstance(caught.value, StoreUnavailable)
        assert await transport.send(0, "EXISTS", "big") == 0


@pytest.mark.parametrize("blocking", [False, True])
async def test_a_wrong_password_is_told_at_once(redis_tls: Tls, blocking: bool) -> None:
    trust = f"?ca={redis_tls.certificates.authority}"
    wrong = f"rediss://windlass:nonsense@127.0.0.1:{redis_tls.server.port}/0{trust}"
    with pytest.raises(StoreError, match="refused the user name or the password") as caught:
        await open_transport(parse(wrong), blocking).open()
    assert "nonsense" not in str(caught.value)
    missing = f"rediss://127.0.0.1:{redis_tls.server.port}/0{trust}"
    with pytest.raises(StoreError, match="asks for a password"):
        await open_transport(parse(missing), blocking).open()


async def test_a_missing_permission_is_named(engine: Server) -> None:
    tell(engine.port, "ACL", "SETUSER", "few", "on", ">pw", "~*", "+ping", "+evalsha", "+script")
    try:
        url = f"redis://few:pw@127.0.0.1:{engine.port}/0"
        async with connected(url) as transport:
            with pytest.raises(StoreError, match=r"'?get'?.*ACL SETUSER"):
                await transport.send(0, "GET", "key")
            assert await transport.run(0, ONE, [], []) == 1
            with pytest.raises(StoreError, match="does not allow this user enough"):
                await transport.run(0, script("return redis.call('GET', KEYS[1])"), ["k"], [])
    finally:
        tell(engine.port, "ACL", "DELUSER", "few")


async def test_any_other_error_carries_the_servers_words(redis_server: Server) -> None:
    async with connected(redis_server.url) as transport:
        with pytest.raises(StoreError, match="refused: ERR unknown command"):
            await transport.send(None, "NONSENSE")
        with pytest.raises(StoreError, match="my words"):
            await transport.run(0, script("return redis.error_reply('my words')"), [], [])


async def test_a_closed_transport_refuses_calls_and_can_be_opened_again(
    redis_server: Server,
) -> None:
    transport = open_transport(parse(redis_server.url), blocking=False)
    await transport.open()
    call = asyncio.create_task(transport.run(0, script("return 2"), [], []))
    await asyncio.sleep(0)
    await transport.close()
    await transport.close()
    with pytest.raises(StoreError, match="closed"):
        await call
    with pytest.raises(StoreError, match="closed"):
        await transport.run(0, ONE, [], [])
    with pytest.raises(StoreError, match="closed"):
        await transport.send(None, "PING")
    await transport.open()
    assert await transport.everywhere("ECHO", "word") == [b"word"]
    await transport.close()


async def test_callers_that_wait_for_a_dead_server_fail_together(redis_server: Server) -> None:
    port = free_port()
    settings = parse(f"redis://127.0.0.1:{port}?patience=0.5")
    transport = open_transport(settings, blocking=False)
    async with asyncio.timeout(10):
        calls = [transport.run(0, ONE, [], []) for _ in range(200)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(each) for each in outcomes} == {StoreUnavailable}
