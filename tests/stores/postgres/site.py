"""Stores with tables of their own, and what may happen to their server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from tests.servers.emptied import emptied_schema
from tests.stores import site
from windlass.core.clock import Clock
from windlass.stores.postgres.connection import Raw
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.work import until

_serial = count()


def fresh(url: str, **settings: str) -> str:
    """The URL of a schema that nobody has used."""
    given = {"schema": f"test_{next(_serial)}", **settings}
    return f"{url}?{'&'.join(f'{name}={value}' for name, value in given.items())}"


def emptied(url: str, **settings: str) -> str:
    """The URL of a schema that is used again, with nothing in it; one at a time."""
    given = "".join(f"&{name}={value}" for name, value in settings.items())
    return emptied_schema(url, f"emptied_{urlsplit(url).port}") + given


def schema_of(url: str) -> str:
    return url.partition("schema=")[2].partition("&")[0]


def opened(url: str, clock: Clock | None = None) -> AbstractAsyncContextManager[PostgresStore]:
    return site.opened(url, PostgresStore, clock)


async def sleeping(store: PostgresStore, *queues: str) -> asyncio.Task[None]:
    """A wait that listens and has looked for the second time."""
    waiting = asyncio.create_task(store.wait(queues or ("default",), 60.0))
    listener = store._watch._listener
    await until(lambda: listener.listens and bool(listener._waiters))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    return waiting


async def ask(url: str, query: str, *args: Any) -> Any:
    """The first value that a query gives, over a connection of its own."""
    connection = await asyncpg.connect(url.partition("?")[0])
    try:
        return await connection.fetchval(query, *args)
    finally:
        await connection.close()


async def terminate_all(url: str) -> int:
    """End every connection but this one; how many it was."""
    number: int = await ask(
        url,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
    )
    return number


@asynccontextmanager
async def crowd(url: str) -> AsyncIterator[None]:
    """Take every connection that the server gives, and hold them meanwhile."""
    taken: list[Raw] = []
    with suppress(asyncpg.TooManyConnectionsError):
        while True:
            taken.append(await asyncpg.connect(url))
    try:
        yield
    finally:
        for connection in taken:
            await connection.close()
