"""How a server starts and ends, within this process."""

import asyncio
from typing import Any

import pytest

from tests.server.conftest import Serve
from tests.server.serving import V1, Served
from tests.server.shop import Shop
from tests.server.stream import following
from tests.server.wire import wire
from windlass.testing.work import until


class Held:
    """A method of the store that waits until it is let go."""

    def __init__(self, method: Any) -> None:
        self._method = method
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()

    async def __call__(self, *args: Any) -> Any:
        self.entered.set()
        await self.opened.wait()
        return await self._method(*args)


@pytest.fixture
async def held(bare: Served, monkeypatch: pytest.MonkeyPatch) -> Held:
    held = Held(bare.store.insert)
    monkeypatch.setattr(bare.store, "insert", held)
    return held


async def test_requests_under_way_finish_and_new_ones_are_told_to_go_elsewhere(
    bare: Served, held: Held
) -> None:
    under_way = asyncio.create_task(bare.post("jobs", {"task": "x"}))
    await held.entered.wait()
    stopping = asyncio.create_task(bare.server.stop())
    await bare.site.draining.wait()
    ready = await bare.get("/readyz")
    assert (ready.status, ready.json["error"]) == (503, "Draining")
    assert ready.headers["Connection"] == "close"
    assert (await bare.get("/livez")).status == 200
    assert not stopping.done()
    held.opened.set()
    assert (await under_way).status == 201
    await stopping
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", bare.port)
    assert await bare.number() == 1


async def test_a_request_that_does_not_finish_in_time_is_told_so(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bare = await serve(shutdown_timeout=0.1)
    held = Held(bare.store.queues)
    monkeypatch.setattr(bare.store, "queues", held)
    under_way = asyncio.create_task(bare.get("queues"))
    await held.entered.wait()
    await bare.server.stop()
    answer = await under_way
    assert (answer.status, answer.json["error"]) == (503, "Draining")
    assert "Traceback" not in caplog.text


async def test_long_polls_and_streams_end_at_once(serve: Serve, shop: Shop) -> None:
    api = await serve(shop)
    id = await api.enqueue("add", 1)
    polls = [
        asyncio.create_task(api.get(f"jobs/{id}/result", params={"wait": "60"})) for _ in range(5)
    ]
    async with following(api, id) as stream:
        await stream.next()
        await until(lambda: len(api.site.watcher._watched[id].waiting) == 6)
        async with asyncio.timeout(10):
            await api.server.stop()
            assert [(await poll).status for poll in polls] == [202] * 5
            assert await stream.rest() == []


async def test_a_poll_that_comes_while_it_stops_does_not_wait(bare: Served, held: Held) -> None:
    under_way = asyncio.create_task(bare.post("jobs", {"task": "x"}))
    await held.entered.wait()
    stopping = asyncio.create_task(bare.server.stop())
    await bare.site.draining.wait()
    async with asyncio.timeout(10):
        assert (await bare.get("jobs/none/result", params={"wait": "60"})).status == 404
    held.opened.set()
    await asyncio.gather(under_way, stopping)


async def test_idle_connections_and_half_sent_requests_do_not_hold_it_up(bare: Served) -> None:
    async with wire(bare) as idle, wire(bare) as half, wire(bare) as used:
        await used.request("GET /livez")
        assert (await used.answer()).status == 200
        await half.send(f"POST {V1}/jobs HTTP/1.1\r\nHost: loc".encode())
        async with asyncio.timeout(10):
            await bare.server.stop()
        for line in (idle, half, used):
            assert await line.ended() == b""


async def test_stopping_twice_or_before_the_start_is_allowed(serve: Serve, bare: Served) -> None:
    await bare.server.stop()
    await bare.server.stop()
