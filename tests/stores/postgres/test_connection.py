"""A store uses the connection that it was opened with."""

from typing import Any

import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import emptied, opened
from windlass.stores.postgres import connection, database


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
