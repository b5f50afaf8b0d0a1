"""Clients that send too much, too slowly, or not at all."""

import asyncio
import json

import pytest

from tests.server.conftest import Serve
from tests.server.serving import Served
from tests.server.wire import Wire, wire

SOON = {"header_timeout": 0.3, "body_timeout": 0.3, "keep_alive": 1.0}
JOB = json.dumps({"task": "x"}).encode()
JSON = {"Content_Type": "application/json"}


async def still_up(api: Served) -> None:
    assert (await api.get("/readyz")).status == 200


async def test_half_a_head_is_waited_for_so_long_and_no_longer(serve: Serve) -> None:
    api = await serve(**SOON)
    async with wire(api) as line:
        await line.send(b"GET /livez HTTP/1.1\r\nHost: local")
        assert await line.ended() == b""
    await still_up(api)


async def test_a_head_that_comes_in_drops_is_not_waited_for_either(serve: Serve) -> None:
    api = await serve(**SOON)
    async with wire(api) as line:
        ended = asyncio.create_task(line.ended())
        await line.send(b"GET /livez HTTP/1.1\r\n")
        while not ended.done():
            await line.send(b"X-Drop: 1\r\n")
            await asyncio.wait([ended], timeout=0.05)
        assert await ended == b""
    await still_up(api)


async def test_a_second_head_is_waited_for_no_longer_than_the_first(serve: Serve) -> None:
    api = await serve(**SOON | {"keep_alive": 60.0})
    async with wire(api) as line:
        await line.request("GET /livez")
        assert (await line.answer()).status == 200
        await line.send(b"GET /livez HTTP/1.1\r\n")
        assert await line.ended() == b""


async def test_blank_lines_do_not_keep_a_connection_alive(serve: Serve) -> None:
    api = await serve(**SOON | {"keep_alive": 60.0})
    async with wire(api) as line:
        await line.request("GET /livez")
        assert (await line.answer()).status == 200
        ended = asyncio.create_task(line.ended())
        while not ended.done():
            await line.send(b"\r\n")
            await asyncio.wait([ended], timeout=0.05)


async def test_half_a_body_is_408_and_stores_nothing(serve: Serve) -> None:
    api = await serve(**SOON)
    async with wire(api) as line:
        await line.request("POST /api/v1/jobs", JOB[:5], Content_Length=str(len(JOB)), **JSON)
        answer = await line.answer()
        assert (answer.status, answer.json["error"]) == (408, "TooSlow")
        # The rest is not waited for either.
        assert await line.ended() == b""
    assert await api.number() == 0
    await still_up(api)


async def test_a_body_that_comes_in_drops_is_408(serve: Serve) -> None:
    api = await serve(**SOON)
    async with wire(api) as line:
        await line.request("POST /api/v1/jobs", b"", Content_Length="1000", **JSON)
        answer = asyncio.create_task(line.answer())
        while not answer.done():
            await line.send(b" ")
            await asyncio.wait([answer], timeout=0.05)
        assert (await answer).status == 408
        assert await line.ended() == b""
    assert await api.number() == 0


async def test_a_client_that_leaves_within_its_body_stores_nothing(bare: Served) -> None:
    async with wire(bare) as line:
        await line.request("POST /api/v1/jobs", JOB[:5], Content_Length=str(len(JOB)), **JSON)
    await still_up(bare)
    assert await bare.number() == 0


async def test_a_body_that_nobody_wants_is_not_read_for_ever(serve: Serve) -> None:
    api = await serve(**SOON, max_body=100)
    for request in ("POST /api/v1/jobs", "GET /livez", "POST /nowhere"):
        async with wire(api) as line:
            await line.request(request, b"", Content_Length=str(10**9), **JSON)
            answer = await line.answer()
            assert answer.status in (200, 404, 413)
            ended = asyncio.create_task(line.ended())
            try:
                while not ended.done():
                    await line.send(b"a" * 10_000)
                    await asyncio.wait([ended], timeout=0.02)
            except ConnectionError:
                await ended
            # Nothing but the one answer came.
            assert await ended == b""
    await still_up(api)


@pytest.mark.parametrize("size", [40_000, 200_000, 2_000_000])
@pytest.mark.parametrize("kind", ["value", "names", "address"])
async def test_a_head_that_is_too_large_is_431(bare: Served, size: int, kind: str) -> None:
    head = {
        "value": b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Large: " + b"a" * size,
        "names": b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"X-Many: 1\r\n" * (size // 11),
        "address": b"GET /livez?" + b"a" * size + b" HTTP/1.1\r\nHost: localhost",
    }[kind]
    async with wire(bare) as line:
        try:
            await line.send(head + b"\r\n\r\n")
            answer = await line.answer()
            assert (answer.status, answer.json["error"]) == (431, "HeadTooLarge")
        except (ConnectionError, EOFError):
            # It was closed while most of it was still to come.
            assert size > 1_000_000
    await still_up(bare)


async def test_a_head_that_is_too_large_and_does_not_end_is_431(bare: Served) -> None:
    async with wire(bare) as line:
        await line.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Large: ")
        for _ in range(5):
            await line.send(b"a" * 10_000)
        assert (await line.answer()).status == 431
        assert await line.ended() == b""


async def test_the_bound_of_heads_holds_behind_a_request_that_waits(bare: Served) -> None:
    id = await bare.enqueue("x")
    async with wire(bare) as line:
        await line.request(f"GET /api/v1/jobs/{id}/result?wait=60")
        await line.send(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Large: ")
        try:
            for _ in range(50):
                await line.send(b"a" * 10_000)
        except ConnectionError:
            pass
        assert await line.ended() == b""
    await still_up(bare)


async def test_a_head_within_its_bound_is_read(bare: Served) -> None:
    async with wire(bare) as line:
        await line.request("GET /livez", X_Large="a" * 30_000)
        assert (await line.answer()).status == 200


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"\x00\x01\x02\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /livez HTTP/9.9\r\n\r\n",
        b"GET  HTTP/1.1\r\n\r\n",
        b"get /livez HTTP/1.1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET /livez HTTP/1.1\r\nBad Header: x\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nX: a\r\n b: c\x00\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\n\r\n",
        b"GET http:// HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_4xx_and_ends_the_connection(bare: Served, data: bytes) -> None:
    async with wire(bare) as line:
        await line.send(data)
        answer = await line.answer()
        assert 400 <= answer.status < 500, answer
        assert answer.detail
    await still_up(bare)


async def test_a_body_of_chunks_is_read(bare: Served) -> None:
    async with wire(bare) as line:
        head = (
            b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        )
        await line.send(head + b"Transfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(JOB), 4):
            part = JOB[start : start + 4]
            await line.send(b"%x\r\n%s\r\n" % (len(part), part))
        await line.send(b"0\r\n\r\n")
        assert (await line.answer()).status == 201


async def test_a_client_that_asks_before_it_sends_is_told_to_go_on(bare: Served) -> None:
    async with wire(bare) as line:
        await line.request(
            "POST /api/v1/jobs", b"", Content_Length=str(len(JOB)), Expect="100-continue", **JSON
        )
        assert (await line.answer()).status == 100
        await line.send(JOB)
        assert (await line.answer()).status == 201


async def test_a_connection_serves_many_requests_one_after_the_other(bare: Served) -> None:
    async with wire(bare) as line:
        for _ in range(5):
            await line.request("POST /api/v1/jobs", JOB, **JSON)
            assert (await line.answer()).status == 201
        await line.request("GET /nowhere")
        assert (await line.answer()).status == 404
        await line.request("GET /livez")
        assert (await line.answer()).status == 200
    assert await bare.number() == 5


async def test_an_answer_is_the_same_on_a_connection_that_ends_with_it(bare: Served) -> None:
    answers = []
    for kept in ("keep-alive", "close"):
        async with wire(bare) as line:
            body = b'{"task": "x", "id": "one"}'
            await line.request("POST /api/v1/jobs", body, Connection=kept, **JSON)
            answers.append(await line.answer())
            if kept == "close":
                assert await line.ended() == b""
    usual, last = answers
    assert (usual.status, last.status) == (201, 200)
    assert (usual.json["id"], last.json["id"]) == ("one", "one")
    assert last.headers["Connection"] == "close"
    changing = {"Connection", "Date", "Content-Length"}
    first, second = ({*answer.headers.items()} for answer in answers)
    assert {name for name, _ in first ^ second} <= changing
    assert {*usual.headers} == {*last.headers} - {"Connection"}


async def test_a_body_that_was_refused_leaves_nothing_for_the_next_request(serve: Serve) -> None:
    api = await serve(max_body=100)
    async with wire(api) as line:
        # In one go, so that the second is read before the first is answered.
        large, head = b"x" * 200, "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
        head += "Content-Type: application/json\r\nContent-Length: "
        await line.send(
            f"{head}200\r\n\r\n".encode() + large + f"{head}{len(JOB)}\r\n\r\n".encode()
        )
        await line.send(JOB)
        assert [(await line.answer()).status for _ in range(2)] == [413, 201]
    assert await api.number() == 1


async def test_requests_that_do_not_wait_for_answers_are_answered_in_order(bare: Served) -> None:
    async with wire(bare) as line:
        for path in ("livez", "nowhere", "readyz") * 20:
            await line.request(f"GET /{path}")
        statuses = [(await line.answer()).status for _ in range(60)]
    assert statuses == [200, 404, 200] * 20


async def test_an_idle_connection_is_closed(serve: Serve) -> None:
    api = await serve(**SOON)
    async with wire(api) as line:
        await line.request("GET /livez")
        assert (await line.answer()).status == 200
        assert await line.ended() == b""


async def test_options_and_head_are_answered(bare: Served) -> None:
    async with wire(bare) as line:
        await line.request("OPTIONS /api/v1/jobs")
        answer = await line.answer()
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, POST")
        await line.request("OPTIONS *")
        assert (await line.answer()).status == 404
        await line.request("HEAD /livez")
        head = await line.reader.readuntil(b"\r\n\r\n")
        assert b"200 OK" in head
        await line.request("GET /livez")
        # Right behind it: no body came.
        assert (await line.answer()).json["status"] == "alive"


async def test_an_upgrade_is_not_taken(bare: Served) -> None:
    async with wire(bare) as line:
        await line.request("GET /livez", Connection="Upgrade", Upgrade="websocket")
        assert (await line.answer()).status == 200


async def test_a_client_that_does_not_read_its_answer_is_cut_off(serve: Serve) -> None:
    api = await serve(**SOON)
    big = json.dumps({"task": "x", "args": ["a" * 900_000]}).encode()
    for number in range(8):
        async with wire(api) as line:
            head = json.dumps({"id": f"big-{number}"})[1:-1].encode()
            await line.request("POST /api/v1/jobs", b"{" + head + b", " + big[1:], **JSON)
            assert (await line.answer()).status == 201
    reader, writer = await asyncio.open_connection("127.0.0.1", api.port, limit=1_024)
    line = Wire(reader, writer)
    for number in range(8):
        await line.request(f"GET /api/v1/jobs/big-{number}")
    connections = api.server._http.connections.open
    async with asyncio.timeout(20):
        while any(each._transport.get_write_buffer_size() for each in connections):
            await asyncio.sleep(0.05)
    assert len(connections) <= 1
    writer.close()
    await still_up(api)
