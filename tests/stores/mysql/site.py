"""Stores with tables of their own, and what may happen to their server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import pymysql
from asyncmy import errors

from tests.servers.emptied import emptied_database
from tests.servers.mysql_client import connect
from tests.stores import site
from windlass.core.clock import Clock
from windlass.stores.mysql.store import MysqlStore

_serial = count()


def fresh(url: str, **settings: str) -> str:
    """The URL of tables that nobody has used."""
    given = {"namespace": f"test_{next(_serial)}", **settings}
    return f"{url}?{'&'.join(f'{name}={value}' for name, value in given.items())}"


def emptied(url: str, **settings: str) -> str:
    """The URL of tables that are used again, with nothing in them; one at a time."""
    given = "".join(f"&{name}={value}" for name, value in settings.items())
    return f"{emptied_database(url, 'emptied')}?namespace=emptied{given}"


def named(url: str, table: str) -> str:
    """The full name of a table of the store at a URL that `fresh` gave."""
    front, _, settings = url.partition("?namespace=")
    return f"{front.rpartition('/')[2]}.{settings.partition('&')[0]}_{table}"


def opened(url: str, clock: Clock | None = None) -> AbstractAsyncContextManager[MysqlStore]:
    return site.opened(url, MysqlStore, clock)


async def kill_all(url: str) -> int:
    """End every connection but those that do it; how many it was."""
    return await asyncio.to_thread(_kill_all, url)


def _kill_all(url: str) -> int:
    with connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT id FROM information_schema.processlist "
            "WHERE id <> CONNECTION_ID() AND user = 'windlass'"
        )
        others = list(cursor.fetchall())
        for (id,) in others:
            # One that has gone by itself meanwhile cannot be ended any more.
            with suppress(pymysql.OperationalError):
                cursor.execute(f"KILL {id}")
    return len(others)


@asynccontextmanager
async def crowd(url: str) -> AsyncIterator[None]:
    """Take every connection that the server gives, and hold them meanwhile."""
    at, taken = urlsplit(url), list[Any]()
    with suppress(errors.OperationalError):
        while True:
            connecting = asyncmy.connect(host=at.hostname, port=at.port, user=at.username)
            taken.append(await connecting)
    try:
        yield
    finally:
        for connection in taken:
            connection.close()
