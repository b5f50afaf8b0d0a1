"""One shared connection: order, cancellation, silence, and what it starts with."""

import asyncio
import os
import signal
import ssl
import time

import pytest

from tests.servers.certificates import Tls
from tests.servers.proxy import Proxy
from tests.servers.redis import tell
from tests.servers.server import Server
from windlass.errors import StoreError
from windlass.stores.redis.connection import AsyncIo, Connection
from windlass.stores.redis.fault import Lost
from windlass.stores.redis.io import pack
from windlass.stores.redis.login import Login
from windlass.stores.redis.url import Address, parse

PLAIN = Login(None, None, 0, None, 5.0)


async def connect(port: int, login: Login = PLAIN) -> Connection:
    return await AsyncIo().connect(Address("127.0.0.1", port), login, ())


def echo(word: object) -> bytes:
    return pack(("ECHO", str(word)))


async def test_many_callers_share_a_connection_and_each_gets_its_reply(
    redis_server: Server,
) -> None:
    link = await connect(redis_server.port)
    words = [f"word {number}" for number in range(1_000)]
    replies = await asyncio.gather(*(link.send(echo(word)) for word in words))
    assert [reply.decode() for reply in replies] == words
    link.close("done")
    await link.wait_closed()


async def test_cancelled_callers_do_not_disturb_the_order(redis_server: Server) -> None:
    link = await connect(redis_server.port)

    async def ask(word: int) -> int:
        return int(await link.send(echo(word)))

    tasks = [asyncio.create_task(ask(number)) for number in range(300)]
    await asyncio.sleep(0)  # all have sent
    for task in tasks[::3]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    for number, outcome in enumerate(outcomes):
        if number % 3:
            assert outcome == number
        else:
            assert isinstance(outcome, asyncio.CancelledError)
    assert await ask(7) == 7
    link.close("done")
    await link.wait_closed()


async def test_a_batch_has_one_reply_for_each_command(redis_server: Server) -> None:
    link = await connect(redis_server.port)
    batch = asyncio.create_task(link.send_all([echo(1), pack(("NONSENSE",)), echo(3)]))
    await asyncio.sleep(0)
    after = link.send(echo(4))
    first, fault, third = await batch
    assert (first, third, await after) == (b"1", b"3", b"4")
    assert isinstance(fault, Exception) and "unknown command" in str(fault)
    link.close("done")
    await link.wait_closed()


async def test_large_values_pass_in_both_directions(redis_server: Server) -> None:
    link = await connect(redis_server.port)
    value = os.urandom(5_000_000)
    big, small = link.send(pack(("ECHO", value))), link.send(echo("small"))
    assert await big == value
    assert await small == b"small"
    link.close("done")
    await link.wait_closed()


async def test_a_closed_connection_says_so_to_those_who_wait_and_those_who_come(
    redis_server: Server,
) -> None:
    link = await connect(redis_server.port)
    waiting = link.send(echo(1))
    link.close("enough")
    lost = await waiting
    assert isinstance(lost, Lost) and lost.sent and lost.reason == "enough"
    late = await link.send(echo(2))
    assert isinstance(late, Lost) and not late.sent
    assert [type(each) for each in await link.send_all([echo(3), echo(4)])] == [Lost, Lost]
    assert not link.alive
    await link.wait_closed()


async def test_a_reply_that_never_comes_ends_the_connection(redis_server: Server) -> None:
    link = await connect(redis_server.port, PLAIN._replace(timeout=0.3))
    os.kill(redis_server.pid, signal.SIGSTOP)
    try:
        lost = await asyncio.wait_for(link.send(echo(1)), 20)
    finally:
        os.kill(redis_server.pid, signal.SIGCONT)
    assert isinstance(lost, Lost) and lost.sent and "no reply within" in lost.reason
    await link.wait_closed()


async def test_a_connection_is_not_blamed_while_our_own_loop_stands_still(
    redis_server: Server,
) -> None:
    link = await connect(redis_server.port, PLAIN._replace(timeout=0.2))
    waiting = link.send(echo(1))
    await asyncio.sleep(0)
    time.sleep(0.5)
    assert await waiting == b"1"
    link.close("done")
    await link.wait_closed()


async def test_what_was_given_up_is_never_carried_out_late(
    redis_server: Server, redis_proxy: Proxy
) -> None:
    tell(redis_server.port, "DEL", "late")
    through = await connect(redis_proxy.port)
    redis_proxy.silence()
    given_up = through.send(pack(("INCR", "late")))
    await asyncio.sleep(0.05)
    through.close("no patience")
    assert isinstance(await given_up, Lost)
    await through.wait_closed()
    address = Address("127.0.0.1", redis_server.port)
    successor = await AsyncIo().connect(address, PLAIN, through.abandoned)
    redis_proxy.resume()  # delivers what it kept, to a connection that is gone
    assert await successor.send(echo(1)) == b"1"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            while tell(redis_server.port, "GET", "late") is None:
                await asyncio.sleep(0.02)
    successor.close("done")
    await successor.wait_closed()


async def test_a_connection_has_a_name_and_its_database(redis_server: Server) -> None:
    link = await connect(redis_server.port, PLAIN._replace(db=3))
    info = (await link.send(pack(("CLIENT", "INFO")))).decode()
    assert "name=windlass" in info and "db=3" in info
    link.close("done")
    await link.wait_closed()


async def test_a_database_that_does_not_exist_is_told(redis_server: Server) -> None:
    with pytest.raises(StoreError, match="DB index is out of range"):
        await connect(redis_server.port, PLAIN._replace(db=999))


async def test_a_refused_connection_was_not_sent_anything(redis_server: Server) -> None:
    redis_server.stop()
    try:
        with pytest.raises(Lost) as caught:
            await connect(redis_server.port)
    finally:
        redis_server.start()
    assert not caught.value.sent


async def test_tls_with_user_and_password(redis_tls: Tls) -> None:
    settings = parse(f"{redis_tls.url}?ca={redis_tls.certificates.authority}")
    login = Login(settings.username, settings.password, 0, settings.tls, 5.0)
    link = await connect(settings.addresses[0].port, login)
    assert await link.send(pack(("ACL", "WHOAMI"))) == b"windlass"
    link.close("done")
    await link.wait_closed()


async def test_a_certificate_that_nobody_vouches_for_is_told(redis_tls: Tls) -> None:
    login = PLAIN._replace(tls=ssl.create_default_context())
    with pytest.raises(StoreError, match=r"not trusted .*ca=FILE"):
        await connect(redis_tls.server.port, login)
