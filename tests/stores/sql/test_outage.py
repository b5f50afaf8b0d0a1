"""The server goes away: no worker exits or goes deaf, and nothing that was accepted is lost."""

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

from tests.servers.server import Server
from tests.stores.site import words, working
from tests.stores.sql.engine import Engine
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import claim, counts, new_job, put

SOON = 20.0
"""In seconds: far less than any lease or fallback, and room for a busy machine."""


@pytest.fixture(scope="module")
def server(engine: Engine) -> Iterator[Server]:
    with engine.serve_small() as server:
        yield server


@pytest.mark.parametrize("end", [Server.stop, Server.kill], ids=["restart", "kill"])
async def test_an_end_and_a_new_start_cost_nothing(
    engine: Engine, server: Server, end: Callable[[Server], None]
) -> None:
    url = engine.emptied(server.url)
    async with working(url, url) as site:
        kept = await site.enqueue(*words("kept", 20), delay=1.0)
        await asyncio.to_thread(end, server)
        await asyncio.to_thread(server.start)
        assert await site.proves_well(time.monotonic()) < SOON
        for handle in kept:
            await handle.aresult(timeout=SOON)
        assert {n for word, n in site.runs.items() if word.startswith("kept")} == {1}


async def test_ending_every_connection_again_and_again_costs_nothing(
    engine: Engine, server: Server
) -> None:
    url = engine.emptied(server.url)
    async with working(url, url) as site:
        for n in range(5):
            kept = await site.enqueue(*words(f"kept-{n}", 10))
            assert await engine.hang_up(server.url) > 0
            for handle in kept:
                await handle.aresult(timeout=SOON)
        assert await site.proves_well(time.monotonic()) < SOON


async def test_places_and_fences_go_on_growing_after_a_kill(engine: Engine, server: Server) -> None:
    """The counters behind them are those of tables that may be empty."""
    async with engine.opened(engine.emptied(server.url)) as store:
        await put(store, "a", "b")
        [first] = await claim(store, 1)
        await store.prune(100)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await put(store, "c")
        later = await claim(store, 2)
        assert [job.id for job in later] == ["b", "c"]
        assert later[0].fence > first.fence


async def test_a_full_server_is_waited_for(engine: Engine, server: Server) -> None:
    async with engine.opened(engine.emptied(server.url, patience="20")) as store:
        await put(store, "a")
        await engine.hang_up(server.url)
        async with engine.crowd(server.url):
            waiting = asyncio.create_task(put(store, "b"))
            done, _ = await asyncio.wait([waiting], timeout=0.2)
            assert not done
        await waiting
        assert await counts(store) == {State.PENDING: 2}


async def test_a_server_that_stays_away_is_told_of_in_one_sentence(
    engine: Engine, server: Server
) -> None:
    async with engine.opened(engine.emptied(server.url, patience="0.2")) as store:
        await put(store, "a")
        await asyncio.to_thread(server.kill)
        try:
            with pytest.raises(StoreUnavailable, match=engine.silent):
                await store.insert([new_job("b")])
        finally:
            await asyncio.to_thread(server.start)
        assert await counts(store) == {State.PENDING: 1}
        assert [job.id for job in await claim(store)] == ["a"]


async def test_a_call_that_is_cancelled_does_not_harm_the_next(
    engine: Engine, server: Server
) -> None:
    async with engine.opened(engine.emptied(server.url, pool="1")) as store:
        for n in range(20):
            call = asyncio.create_task(put(store, f"job-{n}"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([call])
            await put(store, f"next-{n}")
        assert len(await store.get([f"next-{n}" for n in range(20)])) == 20
