"""What an outage of PostgreSQL has of its own; `tests/stores/sql` has what all engines have."""

import asyncio
import time

import asyncpg

from tests.servers import pgbouncer
from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened, sleeping, terminate_all
from tests.stores.site import words, working
from windlass.core.states import State
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import counts, new_job, put

SOON = 20.0
"""In seconds: far less than any lease or fallback, and room for a busy machine."""


async def test_a_pooler_that_is_killed_costs_nothing(postgres_server: Server) -> None:
    with pgbouncer.serve(postgres_server) as pooler:
        url = emptied(postgres_server.url)
        through = url.replace(f":{postgres_server.port}/", f":{pooler.port}/")
        async with working(through, url) as site:
            await asyncio.to_thread(pooler.kill)
            kept = await site.enqueue(*words("kept", 5))
            await asyncio.to_thread(pooler.start)
            assert await site.proves_well(time.monotonic()) < SOON
            for handle in kept:
                await handle.aresult(timeout=SOON)


async def test_a_wait_that_lost_its_ears_hears_again(postgres_server: Server) -> None:
    url = emptied(postgres_server.url)
    async with opened(url) as store, opened(url) as another:
        waiting = await sleeping(store)
        await terminate_all(postgres_server.url)
        # Whoever waits is told, for what was said meanwhile nobody heard.
        await asyncio.wait_for(waiting, SOON)
        waiting = await sleeping(store)
        await put(another, "a")
        await asyncio.wait_for(waiting, SOON)


async def test_a_primary_that_only_reads_is_left_until_it_writes_again(
    postgres_server: Server,
) -> None:
    """As after a failover: a connection that was good leads to a replica."""
    async with opened(emptied(postgres_server.url, patience="20")) as store:
        await put(store, "a")
        await _alter(postgres_server, "ALTER SYSTEM SET default_transaction_read_only = on")
        try:
            # A server takes its time to hear of a setting: what it still accepts is accepted.
            accepted = 1
            while not (waiting := await _stuck_insert(store, f"b{accepted}")):
                accepted += 1
        finally:
            await _alter(postgres_server, "ALTER SYSTEM RESET default_transaction_read_only")
        await waiting
        assert await counts(store) == {State.PENDING: accepted + 1}
        # Connections of other tests may not have heard yet that there are writes again.
        await terminate_all(postgres_server.url)


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
