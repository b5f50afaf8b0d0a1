"""What tests ask a MySQL or MariaDB for themselves, from whichever thread."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import asyncmy


def query(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements on a connection of their own; the rows of the last one."""
    # In a thread of its own, as there may be an event loop in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _query(url, statements)).result()


async def _query(url: str, statements: tuple[str, ...]) -> list[tuple[Any, ...]]:
    parts = urlsplit(url)
    async with (
        asyncmy.connect(
            host=parts.hostname,
            port=parts.port,
            user=parts.username,
            password=parts.password or "",
            autocommit=True,
        ) as connection,
        connection.cursor() as cursor,
    ):
        for statement in statements:
            await cursor.execute(statement)
        return list(await cursor.fetchall())


def fresh_database(url: str, name: str) -> str:
    """The URL of a database with nothing in it, on the server of `url`."""
    query(url, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    return f"{url.rpartition('/')[0]}/{name}"
