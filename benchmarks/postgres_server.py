"""A private PostgreSQL for one benchmark, and what it tells of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import asyncpg

from tests.servers.postgres import serve


@contextmanager
def serving(*options: str) -> Iterator[str]:
    """The URL of a PostgreSQL that has nothing in it.

    Commits reach the kernel and not the disk: what is compared is work, and a disk that others
    use would blur it.
    """
    with serve("shared_buffers=512MB", "max_wal_size=4GB", *options) as server:
        yield server.url


def tell(url: str, *statements: str) -> None:
    """Execute statements one after the other."""
    asyncio.run(_tell(url, statements))


async def _tell(url: str, statements: tuple[str, ...]) -> None:
    connection = await asyncpg.connect(url)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


def row(url: str, query: str) -> Any:
    """The one row of a query."""
    return asyncio.run(_row(url, query))


async def _row(url: str, query: str) -> Any:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchrow(query)
    finally:
        await connection.close()


def clear(url: str) -> None:
    """Start from nothing: no tables, no dead rows, no work left for the server."""
    tell(url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "CHECKPOINT")
