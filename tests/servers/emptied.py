"""Tables that are used again: to empty them takes a fraction of the time of making them.

For tests that close all they have opened. What a killed process may still write to needs tables of
its own.
"""

import asyncio
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import asyncpg

from tests.servers.mysql_client import fresh_database, query

_tables: dict[str, list[str]] = {}
"""By URL and name, once they have been asked for; none before they were made."""


def emptied_database(url: str, name: str) -> str:
    """The URL of a MySQL or MariaDB database that has no rows; one for each name."""
    place = f"{url.rpartition('/')[0]}/{name}"
    if place not in _tables:
        _tables[place] = []
        return fresh_database(url, name)
    if not _tables[place]:
        asked = f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{name}'"
        _tables[place] = [str(table) for (table,) in query(url, asked)]
    query(url, f"USE {name}", "BEGIN", *_emptying(_tables[place]), "COMMIT")
    return place


def emptied_schema(url: str, name: str) -> str:
    """The URL of a schema on PostgreSQL that has no rows; one for each name."""
    place = f"{url}?schema={name}"
    if place not in _tables:
        _tables[place] = []
    else:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, _empty_schema(url, name, place)).result()
    return place


async def _empty_schema(url: str, name: str, place: str) -> None:
    # No statement is prepared: a pooler may hand the next one to another server process.
    connection = await asyncpg.connect(url, statement_cache_size=0)
    try:
        if not _tables[place]:
            asked = "SELECT tablename FROM pg_tables WHERE schemaname = $1"
            _tables[place] = [row[0] for row in await connection.fetch(asked, name)]
        emptying = _emptying(f"{name}.{table}" for table in _tables[place])
        await connection.execute(";".join(["BEGIN", *emptying, "COMMIT"]))
    finally:
        await connection.close()


def _emptying(tables: Iterable[str]) -> list[str]:
    """What empties tables; what the migrations put there stays."""
    statements = []
    for table in tables:
        if table.endswith("windlass_counts"):
            statements += [
                f"DELETE FROM {table} WHERE queue <> ''",
                f"UPDATE {table} SET number = 0 WHERE queue = ''",
            ]
        elif not table.endswith("windlass_migrations"):
            statements.append(f"DELETE FROM {table}")
    return statements
