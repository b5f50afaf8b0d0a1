"""A new connection can be used at once: nothing is asked before the first query, or done twice."""

import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened
from windlass.stores.postgres import connection, database
from windlass.stores.postgres.connection import ARRAYS
from windlass.stores.postgres.store import PostgresStore

KNOWN_TO_THE_DRIVER = {"_text"}


@pytest.fixture
async def store(postgres_server: Server) -> AsyncIterator[PostgresStore]:
    async with opened(emptied(postgres_server.url)) as store:
        yield store


async def test_the_arrays_are_what_the_server_calls_them(postgres_server: Server) -> None:
    for number, (name, element) in ARRAYS.items():
        query = "SELECT (typname, typelem)::text FROM pg_type WHERE oid = $1"
        assert await ask(postgres_server.url, query, number) == f"({name},{element})"


async def test_every_array_of_every_query_is_known(store: PostgresStore) -> None:
    words = {
        word for query in store._base.queries.values() for word in re.findall(r"::(\w+)\[\]", query)
    }
    raw = await store._base.connect_raw()
    names = {
        await raw.fetchval("SELECT typname FROM pg_type WHERE oid = $1::text::regtype", f"{word}[]")
        for word in words
    }
    await raw.close()
    assert "_int8" in names
    assert names <= {name for name, _ in ARRAYS.values()} | KNOWN_TO_THE_DRIVER


async def test_the_server_is_not_asked_what_arrays_are(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(asyncpg.Connection, "_introspect_types", lambda _, *of: asked.append(of))
    raw = await store._base.connect_raw()
    given = [[True], [b"\0"], [1], [2], [3]]
    query = "SELECT $1::boolean[], $2::bytea[], $3::smallint[], $4::integer[], $5::bigint[]"
    assert list(await raw.fetchrow(query, *given) or ()) == given
    await raw.close()
    assert not asked


async def test_the_connection_that_looked_at_the_schema_is_used(
    postgres_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    async def connect(*given: Any) -> Any:
        made.append(await originally(*given))
        return made[-1]

    originally = connection.connect
    monkeypatch.setattr(database, "connect", connect)
    async with opened(emptied(postgres_server.url)) as store:
        await store.ping()
        assert len(made) == 1
    assert made[0].is_closed()
