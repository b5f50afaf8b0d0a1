"""The server goes away: no worker exits or goes deaf, and nothing that was accepted is lost."""

import asyncio
import time
from collections.abc import Iterator

import asyncpg
import pytest

from tests.servers import pgbouncer, postgres
from tests.servers.server import Server
from tests.stores.postgres.site import fresh, opened, sleeping, terminate_all, words, working
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.stores.postgres.connection import Raw
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import claim, counts, new_job, put

SOON = 20.0
"""In seconds: far less than any lease or fallback, and room for a busy machine."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.serve("max_connections=20") as server:
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
            assert await terminate_all(server.url) > 0
            for handle in kept:
                await handle.aresult(timeout=SOON)
        assert await site.proves_well(time.monotonic()) < SOON


async def test_a_pooler_that_is_killed_costs_nothing(server: Server) -> None:
    with pgbouncer.serve(server) as pooler:
        url = fresh(server.url)
        through = url.replace(f":{server.port}/", f":{pooler.port}/")
        async with working(through, url) as site:
            await asyncio.to_thread(pooler.kill)
            kept = await site.enqueue(*words("kept", 5))
            await asyncio.to_thread(pooler.start)
            assert await site.proves_well(time.monotonic()) < SOON
            for handle in kept:
                await handle.aresult(timeout=SOON)


async def test_a_full_server_is_waited_for(server: Server) -> None:
    async with opened(fresh(server.url, patience="20")) as store:
        await put(store, "a")
        await terminate_all(server.url)
        crowd = await _fill(server)
        waiting = asyncio.create_task(put(store, "b"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        for connection in crowd:
            await connection.close()
        await waiting
        assert await counts(store) == {State.PENDING: 2}


async def _fill(server: Server) -> list[Raw]:
    """Take every connection that the server gives."""
    crowd: list[Raw] = []
    while True:
        try:
            crowd.append(await asyncpg.connect(server.url))
        except asyncpg.TooManyConnectionsError:
            return crowd


async def test_a_server_that_stays_away_is_told_of_in_one_sentence(server: Server) -> None:
    async with opened(fresh(server.url, patience="0.2")) as store:
        await put(store, "a")
        await asyncio.to_thread(server.kill)
        try:
            with pytest.raises(StoreUnavailable, match=r"did not answer as it should for 0\.2 s"):
                await store.insert([new_job("b")])
        finally:
            await asyncio.to_thread(server.start)
        assert await counts(store) == {State.PENDING: 1}
        assert [job.id for job in await claim(store)] == ["a"]


async def test_a_wait_that_lost_its_ears_hears_again(server: Server) -> None:
    url = fresh(server.url)
    async with opened(url) as store, opened(url) as another:
        waiting = await sleeping(store)
        await terminate_all(server.url)
        # Whoever waits is told, for what was said meanwhile nobody heard.
        await asyncio.wait_for(waiting, SOON)
        waiting = await sleeping(store)
        await put(another, "a")
        await asyncio.wait_for(waiting, SOON)


async def test_a_primary_that_only_reads_is_left_until_it_writes_again(server: Server) -> None:
    """As after a failover: a connection that was good leads to a replica."""
    async with opened(fresh(server.url, patience="20")) as store:
        await put(store, "a")
        await _alter(server, "ALTER SYSTEM SET default_transaction_read_only = on")
        # A server takes its time to hear of a setting: what it still accepts counts as accepted.
        accepted = 1
        while not (waiting := await _stuck_insert(store, f"b{accepted}")):
            accepted += 1
        await _alter(server, "ALTER SYSTEM RESET default_transaction_read_only")
        await waiting
        assert await counts(store) == {State.PENDING: accepted + 1}


async def _stuck_insert(store: PostgresStore, id: str) -> asyncio.Task[object] | None:
    """An insert that waits; None if it went through."""
    inserting = asyncio.create_task(store.insert([new_job(id, fresh=True)]))
    done, _ = await asyncio.wait({inserting}, timeout=0.3)
    return None if done else inserting


async def _alter(server: Server, statement: str) -> None:
    connection = await asyncpg.connect(
        server.url, server_settings={"default_transaction_read_only": "off"}
    )
    await connection.execute(statement)
    await connection.execute("SELECT pg_reload_conf()")
    await connection.close()
