"""The HTTP server with apps of other makes: all of ASGI, as far as HTTP goes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, NamedTuple

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from tests.server.wire import Wire
from windlass.config import ServerSettings
from windlass.errors import ConfigError
from windlass.server.http.serving import HttpServer

Start = Callable[..., Awaitable["Served"]]


class Site(NamedTuple):
    """As much of one as it takes to serve."""

    settings: ServerSettings


class Served(NamedTuple):
    server: HttpServer

    @asynccontextmanager
    async def wire(self) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        try:
            yield Wire(reader, writer)
        finally:
            writer.transport.abort()

    async def said(self, data: bytes) -> bytes:
        """All that is answered until the connection ends."""
        async with self.wire() as line:
            await line.send(data)
            return await line.ended()


@pytest.fixture
async def start() -> AsyncIterator[Start]:
    async with AsyncExitStack() as stack:

        async def start(app: Any, **settings: Any) -> Served:
            given = ServerSettings(http_port=0, grpc_port=-1, **settings)
            server = HttpServer(Site(given), app)  # type: ignore[arg-type]
            await server.start()
            stack.push_async_callback(server.stop)
            return Served(server)

        yield start


async def echo(request: Request) -> PlainTextResponse:
    return PlainTextResponse(await request.body())


async def stream(request: Request) -> StreamingResponse:
    async def parts() -> AsyncIterator[bytes]:
        for part in (b"one", b"", b"two"):
            yield part

    return StreamingResponse(parts())


async def tell(request: Request) -> PlainTextResponse:
    scope = request.scope
    names = ("http_version", "method", "scheme", "root_path", "path", "raw_path", "query_string")
    return PlainTextResponse(repr([scope[name] for name in names]))


async def fail(request: Request) -> PlainTextResponse:
    raise ZeroDivisionError("of the app")


ROUTES = [
    Route("/echo", echo, methods=["GET", "POST"]),
    Route("/stream", stream),
    Route("/tell/{name}", tell),
    Route("/fail", fail),
]
GET = b"GET %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def test_an_answer_without_a_length_goes_in_chunks_or_ends_the_connection(
    start: Start,
) -> None:
    served = await start(Starlette(routes=ROUTES))
    said = await served.said(GET % b"/stream")
    assert b"transfer-encoding: chunked" in said
    assert said.endswith(b"\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
    said = await served.said(b"GET /stream HTTP/1.0\r\n\r\n")
    assert b"chunked" not in said and b"connection: close" in said
    assert said.endswith(b"\r\n\r\nonetwo")
    said = await served.said(GET.replace(b"GET", b"HEAD") % b"/stream")
    assert said.endswith(b"\r\n\r\n") and b"200 OK" in said


async def test_a_body_comes_whole_however_it_is_sent(start: Start) -> None:
    served = await start(Starlette(routes=ROUTES))
    body = bytes(range(256)) * 1_000
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    said = await served.said(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    assert said.partition(b"\r\n\r\n")[2] == body
    chunks = b"".join(
        b"%x\r\n%b\r\n" % (len(part), part)
        for part in (body[at : at + 10_000] for at in range(0, len(body), 10_000))
    )
    said = await served.said(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
    assert said.partition(b"\r\n\r\n")[2] == body


async def test_an_app_is_told_what_was_asked(start: Start) -> None:
    served = await start(Starlette(routes=ROUTES))
    said = await served.said(GET % b"/tell/a%2Fb%20c?d=%20e")
    # As servers do, with the slash that was written as %2F.
    assert said.startswith(b"HTTP/1.1 404 ")
    said = await served.said(GET % b"/tell/b%20c?d=%20e")
    told = ["1.1", "GET", "http", "", "/tell/b c", b"/tell/b%20c", b"d=%20e"]
    assert said.endswith(repr(told).encode())


async def test_an_app_that_fails_is_500_and_others_are_answered(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan" or scope["path"] == "/fail":
            raise ZeroDivisionError("of the app")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/part":
            await send({"type": "http.response.body", "body": b"part", "more_body": True})
            raise ZeroDivisionError("of the app")
        if scope["path"] == "/split":
            headers = [(b"x", b"a\r\nset-cookie: b=c")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"all"})

    served = await start(app)
    with caplog.at_level(logging.ERROR):
        said = await served.said(GET % b"/fail")
        assert said.startswith(b"HTTP/1.1 500 ") and b"of the app" not in said
        # Without the last chunk a client knows that more is missing.
        assert (await served.said(GET % b"/part")).endswith(b"4\r\npart\r\n")
        assert b"set-cookie" not in await served.said(GET % b"/split")
        assert (await served.said(GET % b"/")).endswith(b"all")
    assert sum(record.exc_info is not None for record in caplog.records) == 3


async def test_a_client_that_waits_to_be_told_to_send_is_told_once(start: Start) -> None:
    served = await start(Starlette(routes=ROUTES))
    head = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    async with served.wire() as line:
        await line.send(head % b"/echo")
        assert (await line.answer()).status == 100
        await line.send(b"ab")
        answer = await line.answer()
        assert (answer.status, answer.body) == (200, b"ab")
        # Who is answered before may send its body or not: only the end makes that plain.
        await line.send(head % b"/nowhere")
        answer = await line.answer()
        assert (answer.status, answer.headers["Connection"]) == (404, "close")
        assert await line.ended() == b""


async def test_an_app_hears_of_its_start_its_end_and_of_clients_that_leave(start: Start) -> None:
    heard: list[str] = []
    gone = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for _ in range(2):
                kind = (await receive())["type"]
                heard.append(kind)
                await send({"type": f"{kind}.complete"})
            return
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    served = await start(app)
    assert heard == ["lifespan.startup"]
    async with served.wire() as line:
        await line.request("GET /")
        while not served.server.connections.tasks:
            await asyncio.sleep(0.01)
    async with asyncio.timeout(10):
        await gone.wait()
    await served.server.stop()
    assert heard == ["lifespan.startup", "lifespan.shutdown"]


async def test_an_app_that_cannot_start_is_not_served(start: Start) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no database"})

    with pytest.raises(ConfigError, match="The app cannot start: no database"):
        await start(app)


async def test_a_root_path_stands_before_the_path(start: Start) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            text = repr((scope["root_path"], scope["path"], scope["raw_path"])).encode()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": text})

    served = await start(app, root_path="/tools")
    said = await served.said(GET % b"/a%20b")
    assert said.endswith(repr(("/tools", "/tools/a b", b"/tools/a%20b")).encode())
