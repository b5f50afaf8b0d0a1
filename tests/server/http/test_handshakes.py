"""TLS that never comes: it counts as a connection, and has as long as a head."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.server.conftest import Serve
from tests.server.http.victim import MB, Victim, attacked
from tests.server.serving import Served
from tests.servers.certificates import Certificates, certify

MOST = 20
MOST_MEMORY = 10 * MB


@pytest.fixture(scope="module")
def made() -> Iterator[Certificates]:
    with TemporaryDirectory() as folder:
        yield certify(Path(folder))


@pytest.fixture(scope="module")
def victim(made: Certificates) -> Iterator[Victim]:
    words = (f"--tls-cert={made.certificate('server')}", f"--tls-key={made.key('server')}")
    with TemporaryDirectory() as folder, attacked(Path(folder), *words) as victim:
        yield victim


async def tls(serve: Serve, made: Certificates, **settings: float) -> Served:
    return await serve(
        tls=ssl.create_default_context(cafile=str(made.authority)),
        tls_cert=str(made.certificate("server")),
        tls_key=str(made.key("server")),
        **settings,
    )


async def test_no_more_wait_for_a_handshake_than_may_be_connected(
    serve: Serve, made: Certificates
) -> None:
    api = await tls(serve, made, max_connections=MOST)
    opened = [await asyncio.open_connection("127.0.0.1", api.port) for _ in range(3 * MOST)]
    connections = api.server._http.connections
    # Those that have waited the longest make room for others.
    for _ in range(3):
        async with asyncio.timeout(30):
            assert (await api.get("/readyz")).status == 200
        assert connections.shaking + len(connections.open) <= MOST
    for _, writer in opened:
        writer.transport.abort()
    async with asyncio.timeout(30):
        while connections.shaking:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01\x02\x00\x01"])
async def test_a_handshake_is_waited_for_as_long_as_a_head(
    serve: Serve, made: Certificates, said: bytes
) -> None:
    api = await tls(serve, made, header_timeout=0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    writer.write(said)
    async with asyncio.timeout(30):
        with suppress(ConnectionError):
            assert await reader.read() == b""
    writer.transport.abort()
    assert (await api.get("/readyz")).status == 200


async def test_a_stop_does_not_wait_for_handshakes(serve: Serve, made: Certificates) -> None:
    api = await tls(serve, made)
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    while not api.server._http.connections.shaking:
        await asyncio.sleep(0.01)
    async with asyncio.timeout(10):
        await api.server.stop()
        with suppress(ConnectionError):
            assert await reader.read() == b""
    writer.transport.abort()


@pytest.mark.parametrize("said", [b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"])
async def test_greetings_that_do_not_come_cost_next_to_nothing(
    victim: Victim, made: Certificates, said: bytes
) -> None:
    context = ssl.create_default_context(cafile=str(made.authority))
    await answered(victim, context)
    with victim.watched(MOST_MEMORY):
        lines = [await asyncio.open_connection("127.0.0.1", victim.port) for _ in range(2_000)]
        for _, writer in lines:
            writer.write(said)
        await answered(victim, context)
    for _, writer in lines:
        writer.transport.abort()
    assert "Traceback" not in victim.log


async def test_a_greeting_may_come_byte_by_byte(serve: Serve, made: Certificates) -> None:
    api = await tls(serve, made)
    client = ssl.create_default_context(cafile=str(made.authority))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    side = client.wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
    with suppress(ssl.SSLWantReadError):
        side.do_handshake()
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port)
    for byte in outgoing.read():
        writer.write(bytes([byte]))
        await asyncio.sleep(0)
    incoming.write(await reader.read(1 << 16))
    while True:
        try:
            side.do_handshake()
            break
        except ssl.SSLWantReadError:
            incoming.write(await reader.read(1 << 16))
    side.write(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
    writer.write(outgoing.read())
    answer = b""
    while b"200 OK" not in answer:
        incoming.write(await reader.read(1 << 16))
        with suppress(ssl.SSLWantReadError):
            answer += side.read()
    writer.transport.abort()


async def answered(victim: Victim, context: ssl.SSLContext) -> None:
    async with asyncio.timeout(30), victim.wire(context) as line:
        await line.request("GET /livez")
        assert (await line.answer()).status == 200


@pytest.mark.parametrize("is_finished", [False, True])
async def test_those_who_greet_and_say_no_more_cost_little_and_stop_nobody(
    victim: Victim, made: Certificates, is_finished: bool
) -> None:
    context = ssl.create_default_context(cafile=str(made.authority))
    await answered(victim, context)
    hello = greeting(context)
    with victim.watched(MOST_MEMORY):
        lines = []
        for _ in range(250):
            opening = asyncio.open_connection(
                "127.0.0.1", victim.port, ssl=context if is_finished else None
            )
            with suppress(OSError):
                lines.append(await opening)
                if not is_finished:
                    lines[-1][1].write(hello)
        await answered(victim, context)
    for _, writer in lines:
        writer.transport.abort()
    await answered(victim, context)


async def test_many_who_come_at_once_are_all_answered(victim: Victim, made: Certificates) -> None:
    context = ssl.create_default_context(cafile=str(made.authority))
    await asyncio.gather(*(answered(victim, context) for _ in range(300)))


def greeting(context: ssl.SSLContext) -> bytes:
    outgoing = ssl.MemoryBIO()
    side = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="127.0.0.1")
    with suppress(ssl.SSLWantReadError):
        side.do_handshake()
    return outgoing.read()
