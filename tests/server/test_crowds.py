"""Thousands of connections at once."""

import asyncio
import socket

import pytest

from tests.server.conftest import Serve
from tests.server.serving import Served
from tests.server.wire import wire
from windlass.server.http import connections

MANY = 2_000


def opened(api: Served) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", api.port))
    made.setblocking(False)
    return made


async def closed(sock: socket.socket) -> None:
    assert await asyncio.get_running_loop().sock_recv(sock, 1) == b""


async def test_thousands_of_idle_connections_keep_nobody_out_and_are_closed(serve: Serve) -> None:
    api = await serve(header_timeout=3.0)
    connections = api.server._http.connections.open
    idle: list[socket.socket] = []
    try:
        while len(idle) < MANY:
            # In parts, so that the server has its turn: it is in the same process.
            idle += [opened(api) for _ in range(100)]
            await asyncio.sleep(0)
        assert (await api.post("jobs", {"task": "x"})).status == 201
        assert len(connections) > MANY / 2
        async with asyncio.timeout(60):
            await asyncio.gather(*map(closed, idle))
        assert len(connections) < 10
        assert (await api.get("/readyz")).status == 200
    finally:
        for sock in idle:
            sock.close()


async def test_connections_over_the_bound_are_told_so_and_others_are_served(serve: Serve) -> None:
    api = await serve(max_connections=3)
    async with wire(api) as first, wire(api) as second, wire(api) as third:
        for line in (first, second, third):
            await line.request("GET /livez")
            assert (await line.answer()).status == 200
        async with wire(api) as fourth:
            answer = await fourth.answer()
            assert (answer.status, answer.json["error"]) == (503, "TooMany")
            assert await fourth.ended() == b""
        await first.request("GET /livez")
        assert (await first.answer()).status == 200
    async with asyncio.timeout(20):
        while len(api.server._http.connections.open):
            await asyncio.sleep(0.01)
    assert (await api.get("/livez")).status == 200


async def test_a_full_server_gives_up_silent_connections_for_new_ones(serve: Serve) -> None:
    api = await serve(max_connections=3)
    async with wire(api) as busy:
        await busy.request("GET /livez")
        assert (await busy.answer()).status == 200
        async with wire(api) as first, wire(api) as second, wire(api) as third:
            # Of those who said nothing, the one that has been there for the longest time goes.
            assert await first.ended() == b""
            await third.request("GET /livez")
            assert (await third.answer()).status == 200
            async with wire(api) as fourth:
                await fourth.request("GET /livez")
                assert (await fourth.answer()).status == 200
                assert await second.ended() == b""
            await busy.request("GET /livez")
            assert (await busy.answer()).status == 200


async def test_strangers_make_room_for_others_before_a_server_is_full(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_STRANGERS", 2)
    api = await serve()
    async with wire(api) as known:
        # Until then it was a stranger as well.
        await known.request("GET /api/v1/me")
        assert (await known.answer()).status == 200
        async with wire(api) as first:
            await first.request("GET /livez")
            assert (await first.answer()).status == 200
            async with wire(api) as second, wire(api) as third:
                await third.request("GET /livez")
                assert (await third.answer()).status == 200
                assert await second.ended() == b""
        await known.request("GET /api/v1/me")
        assert (await known.answer()).status == 200


async def test_a_full_server_gives_up_who_was_idle_for_long_and_nobody_who_is_served(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "RECENT", 0.0)
    api = await serve(max_connections=2)
    id = await api.enqueue("x")
    await api.session.close()
    async with wire(api) as waiting, wire(api) as idle:
        await waiting.request(f"GET /api/v1/jobs/{id}/result?wait=60")
        await idle.request("GET /livez")
        assert (await idle.answer()).status == 200
        while len(api.server._http.connections.tasks) != 1:
            await asyncio.sleep(0.01)
        async with wire(api) as new:
            await new.request("GET /livez")
            assert (await new.answer()).status == 200
        assert await idle.ended() == b""
        async with wire(api) as last:
            await last.request(f"GET /api/v1/jobs/{id}/result?wait=60")
            while len(api.server._http.connections.tasks) != 2:
                await asyncio.sleep(0.01)
            async with wire(api) as other:
                answer = await other.answer()
                assert (answer.status, answer.json["error"]) == (503, "TooMany")
            await api.store.cancel([id])
            assert (await waiting.answer()).status == (await last.answer()).status == 200
