"""Requests that do not wait for answers: each is answered, in its order, however they are cut."""

import asyncio
import random
from contextlib import suppress

import pytest

from tests.server.conftest import Serve
from tests.server.serving import Served
from tests.server.wire import Wire, wire

SEEDS = (1, 2, 3)
NUMBER = 300


def drawn(random: random.Random, number: int) -> tuple[bytes, int]:
    """A request that says who it is, and the status that it gets."""
    job = b'{"task":"x","id":"job-%d"}' % number
    head = b"Host: localhost\r\nContent-Type: application/json\r\n"
    match random.randrange(7):
        case 0:
            return b"GET /livez HTTP/1.1\r\n%b\r\n" % head, 200
        case 1:
            return b"\r\nGET /nowhere HTTP/1.1\r\n%b\r\n" % head, 404
        case 2:
            length = b"Content-Length: %d\r\n\r\n" % len(job)
            return b"POST /api/v1/jobs HTTP/1.1\r\n%b%b%b" % (head, length, job), 201
        case 3:
            parts = [job[at : at + 7] for at in range(0, len(job), 7)]
            chunks = b"".join(b"%x;a=b\r\n%b\r\n" % (len(part), part) for part in parts)
            coding = b"Transfer-Encoding: chunked\r\n\r\n"
            end = b"0\r\nX-Trailer: y\r\n\r\n"
            return b"POST /api/v1/jobs HTTP/1.1\r\n" + head + coding + chunks + end, 201
        case 4:
            body = b"\r\n\r\n" * random.randrange(1, 9)
            length = b"Content-Length: %d\r\n\r\n" % len(body)
            return b"POST /api/v1/jobs HTTP/1.1\r\n%b%b%b" % (head, length, body), 400
        case 5:
            upgrade = b"Connection: Upgrade\r\nUpgrade: h2c\r\n"
            length = b"Content-Length: %d\r\n\r\n" % len(job)
            return b"POST /api/v1/jobs HTTP/1.1\r\n%b%b%b%b" % (head, upgrade, length, job), 201
        case _:
            body = b"GET /smuggled HTTP/1.1\r\n\r\n"
            length = b"Content-Length: %d\r\n\r\n" % len(body)
            return b"GET /readyz HTTP/1.1\r\n%b%b%b" % (head, length, body), 200


async def send_in_pieces(line: Wire, data: bytes, random: random.Random) -> None:
    at = 0
    while at < len(data):
        size = random.choice((1, 2, 3, 5, 40, 700, 5_000))
        await line.send(data[at : at + size])
        at += size
        if random.random() < 0.2:
            await asyncio.sleep(0)


@pytest.mark.parametrize("seed", SEEDS)
async def test_mixed_requests_cut_anywhere_are_answered_in_order(bare: Served, seed: int) -> None:
    chance = random.Random(seed)
    made = [drawn(chance, number) for number in range(NUMBER)]
    async with wire(bare) as line, asyncio.TaskGroup() as group:
        group.create_task(send_in_pieces(line, b"".join(data for data, _ in made), chance))
        for number, (data, status) in enumerate(made):
            answer = await line.answer()
            assert answer.status == status, (number, data, answer)
            if status == 201:
                assert answer.json["id"] == f"job-{number}"
    assert await bare.number() == sum(status == 201 for _, status in made)


async def test_whoever_says_no_more_gets_the_answers_to_what_was_said(bare: Served) -> None:
    async with wire(bare) as line:
        for _ in range(40):
            await line.request(
                "POST /api/v1/jobs", b'{"task":"x"}', Content_Type="application/json"
            )
        line.writer.write_eof()
        assert [(await line.answer()).status for _ in range(40)] == [201] * 40
        assert await line.ended() == b""
    assert await bare.number() == 40


async def test_clients_that_leave_a_pipeline_are_forgotten_without_a_word(
    bare: Served, caplog: pytest.LogCaptureFixture
) -> None:
    async def leave(number: int) -> None:
        async with wire(bare) as line:
            await line.send(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 30)
            for _ in range(number % 4):
                await line.answer()
            if number % 2:
                line.writer.transport.abort()

    for _ in range(3):
        with suppress(EOFError):
            await asyncio.gather(*map(leave, range(40)))
    connections = bare.server._http.connections
    async with asyncio.timeout(30):
        while connections.open or connections.tasks:
            await asyncio.sleep(0.01)
    assert connections.held == 0
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= 30]
    assert (await bare.get("/readyz")).status == 200


async def test_one_pipeline_does_not_go_before_everybody_else(bare: Served) -> None:
    requests = 2_000
    async with wire(bare) as line, wire(bare) as other:
        await line.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * requests)
        await line.answer()
        # It is answered while the other one still has most of its answers to come.
        await other.request("GET /readyz")
        assert (await other.answer()).status == 200
        left = asyncio.create_task(drain(line, requests - 1))
        assert not left.done()
        await left


async def drain(line: Wire, number: int) -> None:
    for _ in range(number):
        assert (await line.answer()).status == 200


async def test_what_is_held_of_a_pipeline_is_a_piece(serve: Serve) -> None:
    bare = await serve()
    id = await bare.enqueue("x")
    async with wire(bare) as line:
        await line.request(f"GET /api/v1/jobs/{id}/result?wait=60")
        sending = asyncio.create_task(
            line.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200_000)
        )
        connections = bare.server._http.connections
        async with asyncio.timeout(30):
            while not connections.held:
                await asyncio.sleep(0.01)
        await asyncio.wait([sending], timeout=0.3)
        assert not sending.done()
        assert 0 < connections.held <= 2 * 32 * 1024
        sending.cancel()
        line.writer.transport.abort()


async def test_clients_that_leave_while_they_are_refused_are_forgotten_without_a_word(
    bare: Served, caplog: pytest.LogCaptureFixture
) -> None:
    large = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 40_000 + b"\r\n\r\n"
    body = b"POST /nowhere HTTP/1.1\r\nConnection: close\r\nContent-Length: 9\r\n\r\n"

    async def leave(number: int) -> None:
        async with wire(bare) as line:
            await line.send((b"nonsense\r\n\r\n", large, body)[number % 3])
            if number % 2:
                await asyncio.sleep(0)
            line.writer.transport.abort()

    for _ in range(5):
        await asyncio.gather(*map(leave, range(30)))
    connections = bare.server._http.connections
    async with asyncio.timeout(30):
        while connections.open or connections.tasks:
            await asyncio.sleep(0.01)
    assert not [record for record in caplog.records if record.exc_info or record.levelno >= 30]
