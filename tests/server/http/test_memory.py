"""What somebody without a key can send, and what it costs: little memory, and nobody's time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.server.http.victim import MB, Victim, attacked

MOST = 10 * MB
AMOUNT = 25 * MB
PIECE = 64 * 1024
SOON = 10.0
"""Seconds in which an honest caller is answered whatever goes on, on a busy machine."""

GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

Attack = Callable[[Victim], Awaitable[None]]


@pytest.fixture(scope="module")
def victim() -> Iterator[Victim]:
    with TemporaryDirectory() as folder, attacked(Path(folder), "--no-access-log") as victim:
        yield victim


async def pour(victim: Victim, data: bytes, amount: int = AMOUNT, *, first: bytes = b"") -> int:
    """Send so much on one connection, or until it is closed; reads what is answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", victim.port)
    reading = asyncio.create_task(swallow(reader))
    sent = 0
    try:
        writer.write(first)
        while sent < amount and not reading.done():
            writer.write(data)
            sent += len(data)
            await writer.drain()
        if sent >= amount:
            # Who is done says so, and hears the rest.
            writer.write_eof()
        await asyncio.wait([reading], timeout=60)
    except (ConnectionError, OSError):
        # It was closed before all was sent.
        pass
    finally:
        writer.transport.abort()
        reading.cancel()
        await asyncio.wait([reading])
    return sent


async def swallow(reader: asyncio.StreamReader) -> int:
    number = 0
    with suppress(ConnectionError):
        while data := await reader.read(PIECE):
            number += data.count(b"HTTP/1.1 200")
    return number


async def many(victim: Victim, number: int, data: bytes) -> None:
    """The same on many connections at once, each left open until all have sent it."""
    lines = [await asyncio.open_connection("127.0.0.1", victim.port) for _ in range(number)]
    for _, writer in lines:
        writer.write(data)
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(3):
            await asyncio.gather(*(writer.drain() for _, writer in lines), return_exceptions=True)
    await victim.honest()
    for _, writer in lines:
        writer.transport.abort()


async def trailers(victim: Victim) -> None:
    line = b"X-Trailer: " + b"a" * 50 + b"\r\n"
    sent = await pour(victim, line * 1_000, 120 * MB, first=CHUNKED + b"1\r\na\r\n0\r\n")
    assert sent < 20 * MB


async def trailers_on_a_public_address(victim: Victim) -> None:
    head = b"GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    assert await pour(victim, b"a: b\r\n" * 10_000, 120 * MB, first=head) < 20 * MB


async def one_trailer_without_an_end(victim: Victim) -> None:
    sent = await pour(victim, b"a" * PIECE, 120 * MB, first=CHUNKED + b"0\r\nX: ")
    assert sent < 20 * MB


async def extensions_of_chunks(victim: Victim) -> None:
    sent = await pour(victim, b"e" * PIECE, 120 * MB, first=CHUNKED + b"5;")
    assert sent < 20 * MB


async def pipelines(victim: Victim) -> None:
    await asyncio.gather(*(pour(victim, GET * 7_900, 252_800) for _ in range(6)))


async def one_long_pipeline(victim: Victim) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(3):
            await pour(victim, GET * 7_900)


async def many_pipelines(victim: Victim) -> None:
    await many(victim, 200, GET * 7_900)


async def heads_without_an_end(victim: Victim) -> None:
    await many(victim, 800, b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Large: " + b"a" * 32_000)


async def heads_of_small_headers(victim: Victim) -> None:
    await many(victim, 800, b"GET /livez HTTP/1.1\r\n" + b"a:b\r\n" * 6_400)


async def bodies_of_nobody(victim: Victim) -> None:
    head = POST + b"Content-Length: 62500\r\n\r\n"
    await many(victim, 400, head + b"[" * 62_500)


async def large_bodies_of_nobody(victim: Victim) -> None:
    head = POST + b"Content-Length: 8000000\r\n\r\n"
    await asyncio.gather(*(pour(victim, b"[" * PIECE, 7_900_000, first=head) for _ in range(4)))


async def logins_that_are_large(victim: Victim) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 8000000\r\n\r\n"
    await asyncio.gather(*(pour(victim, b"[" * PIECE, 7_900_000, first=head) for _ in range(4)))


async def logins_in_chunks(victim: Victim) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    first = head + b"Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%b\r\n" % (PIECE, b"[" * PIECE)
    await asyncio.gather(*(pour(victim, chunk, 7_900_000, first=first) for _ in range(4)))


async def logins_that_never_end(victim: Victim) -> None:
    head = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    await many(victim, 2_500, head + b"Content-Length: 4096\r\n\r\n" + b"x" * 4_000)


async def many_heads_that_never_end(victim: Victim) -> None:
    await many(victim, 5_000, b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 100)


async def chunks_of_nobody(victim: Victim) -> None:
    await asyncio.gather(*(pour(victim, b"1\r\nx\r\n" * 10_000, first=CHUNKED) for _ in range(4)))


@pytest.mark.parametrize(
    "attack",
    [
        trailers,
        trailers_on_a_public_address,
        one_trailer_without_an_end,
        extensions_of_chunks,
        pipelines,
        one_long_pipeline,
        many_pipelines,
        heads_without_an_end,
        heads_of_small_headers,
        bodies_of_nobody,
        large_bodies_of_nobody,
        logins_that_are_large,
        logins_in_chunks,
        logins_that_never_end,
        many_heads_that_never_end,
        chunks_of_nobody,
    ],
)
async def test_what_is_sent_without_a_key_fills_no_memory_and_stops_nobody(
    victim: Victim, attack: Attack
) -> None:
    await asyncio.gather(*(victim.honest() for _ in range(20)))
    with victim.watched(MOST):
        under_way = asyncio.ensure_future(attack(victim))
        while not under_way.done():
            assert await victim.honest() < SOON
            await asyncio.wait([under_way], timeout=0.05)
        await under_way
    assert "Traceback" not in victim.log
