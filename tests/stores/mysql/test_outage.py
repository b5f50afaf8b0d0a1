"""The server goes away: no worker exits or goes deaf, and nothing that was accepted is lost."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import asyncmy
import pytest
from asyncmy import errors

from tests.servers import mariadb
from tests.servers.server import Server
from tests.stores.mysql.site import fresh, kill_all, opened, words, working
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import claim, counts, new_job, put

SOON = 20.0
"""In seconds: far less than any lease, and room for a busy machine."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with mariadb.serve("--max-connections=20") as server:
        yield server


async def test_a_restart_costs_nothing(server: Server) -> None:
    url = fresh(server.url)
    async with working(url, url) as site:
        kept = await site.enqueue(*words("kept", 20), delay=1.0)
        await asyncio.to_thread(server.stop)
        await asyncio.to_thread(server.start)
        assert await site.proves_well(time.monotonic()) < SOON
        for handle in kept:
            await handle.aresult(timeout=SOON)
        assert {n for word, n in site.runs.items() if word.startswith("kept")} == {1}


async def test_a_kill_costs_nothing(server: Server) -> None:
    url = fresh(server.url)
    async with working(url, url) as site:
        kept = await site.enqueue(*words("kept", 20), delay=1.0)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        assert await site.proves_well(time.monotonic()) < SOON
        for handle in kept:
            await handle.aresult(timeout=SOON)
        assert {n for word, n in site.runs.items() if word.startswith("kept")} == {1}


async def test_ending_every_connection_again_and_again_costs_nothing(server: Server) -> None:
    url = fresh(server.url)
    async with working(url, url) as site:
        for n in range(5):
            kept = await site.enqueue(*words(f"kept-{n}", 10))
            assert await asyncio.to_thread(kill_all, server.url) > 0
            for handle in kept:
                await handle.aresult(timeout=SOON)
        assert await site.proves_well(time.monotonic()) < SOON


async def test_places_and_fences_go_on_growing_after_a_kill(server: Server) -> None:
    """The counters behind them are those of tables that may be empty."""
    async with opened(fresh(server.url)) as store:
        await put(store, "a", "b")
        [first] = await claim(store, 1)
        await store.prune(100)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        await put(store, "c")
        later = await claim(store, 2)
        assert [job.id for job in later] == ["b", "c"]
        assert later[0].fence > first.fence


async def test_a_full_server_is_waited_for(server: Server) -> None:
    async with opened(fresh(server.url, patience="20")) as store:
        await put(store, "a")
        await asyncio.to_thread(kill_all, server.url)
        crowd = await _fill(server)
        waiting = asyncio.create_task(put(store, "b"))
        done, _ = await asyncio.wait([waiting], timeout=0.2)
        assert not done
        for connection in crowd:
            connection.close()
        await waiting
        assert await counts(store) == {State.PENDING: 2}


async def _fill(server: Server) -> list[Any]:
    """Take every connection that the server gives."""
    crowd: list[Any] = []
    while True:
        try:
            connecting = asyncmy.connect(host="127.0.0.1", port=server.port, user="windlass")
            crowd.append(await connecting)
        except errors.OperationalError:
            return crowd


async def test_a_server_that_stays_away_is_told_of_in_one_sentence(server: Server) -> None:
    async with opened(fresh(server.url, patience="0.2")) as store:
        await put(store, "a")
        await asyncio.to_thread(server.kill)
        try:
            with pytest.raises(StoreUnavailable, match=r"does not answer \(.+\); see that it runs"):
                await store.insert([new_job("b")])
        finally:
            await asyncio.to_thread(server.start)
        assert await counts(store) == {State.PENDING: 1}


async def test_a_server_that_hangs_is_given_up_after_the_timeout(server: Server) -> None:
    async with opened(fresh(server.url, patience="0", timeout="1")) as store:
        await put(store, "a")
        server.freeze()
        try:
            with pytest.raises(StoreUnavailable, match="no answer in time"):
                await store.insert([new_job("b")])
        finally:
            server.thaw()
        await put(store, "c")
        assert {"a", "c"} <= (await store.get(["a", "b", "c"])).keys()


async def test_a_call_that_is_cancelled_does_not_harm_the_next(server: Server) -> None:
    async with opened(fresh(server.url, pool="1")) as store:
        for n in range(20):
            call = asyncio.create_task(put(store, f"job-{n}"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([call])
            await put(store, f"next-{n}")
        assert len(await store.get([f"next-{n}" for n in range(20)])) == 20
