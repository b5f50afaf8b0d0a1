"""Tables that are used again: to empty them takes a fraction of the time of making them.

For tests that close all they have opened. What a killed process may still write to needs tables of
its own.
"""

import atexit
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pymysql
from pymysql.constants import CLIENT

from tests.servers.mysql_client import connect, fresh_database

Rows = Sequence[tuple[Any, ...]]

_tables: dict[str, list[str]] = {}
"""By URL and name, once they have been asked for; none before they were made."""

_connections: dict[str, Any] = {}
"""By URL. They stay: to make one takes longer than what it is asked for."""


def emptied_database(url: str, name: str) -> str:
    """The URL of a MySQL or MariaDB database that has no rows; one for each name."""
    place = f"{url.rpartition('/')[0]}/{name}"
    if place not in _tables:
        _tables[place] = []
        return fresh_database(url, name)
    if not _tables[place]:
        asked = f"SELECT table_name FROM information_schema.tables WHERE table_schema = '{name}'"
        _tables[place] = [f"{name}.{table}" for (table,) in _ask(url, _mysql, asked)]
    _ask(url, _mysql, ";".join(["BEGIN", *_emptying(_tables[place]), "COMMIT"]))
    return place


def emptied_schema(url: str, name: str) -> str:
    """The URL of a schema on PostgreSQL that has no rows; one for each name."""
    place = f"{url}?schema={name}"
    if place not in _tables:
        _tables[place] = []
        return place
    if not _tables[place]:
        asked = f"SELECT tablename FROM pg_tables WHERE schemaname = '{name}'"
        _tables[place] = [f"{name}.{table}" for (table,) in _ask(url, _postgres, asked)]
    _ask(url, _postgres, ";".join(["BEGIN", *_emptying(_tables[place]), "COMMIT"]))
    return place


def emptied_file(path: Path) -> str:
    """The URL of a SQLite file that has no rows, whether or not it is there yet."""
    if path.exists():
        with closing(sqlite3.connect(path)) as connection:
            asked = "SELECT name FROM sqlite_master WHERE type = 'table'"
            tables = [name for (name,) in connection.execute(asked)]
            connection.executescript(";".join(["BEGIN IMMEDIATE", *_emptying(tables), "COMMIT"]))
    return f"sqlite:///{path}"


def _mysql(url: str) -> Any:
    # One round trip for all tables.
    return connect(url, client_flag=CLIENT.MULTI_STATEMENTS)


def _postgres(url: str) -> Any:
    # No statement is prepared: a pooler may hand the next one to another server process.
    return psycopg.connect(url, autocommit=True, prepare_threshold=None)


def _ask(url: str, connect: Callable[[str], Any], *statements: str) -> Rows:
    """The rows that the last one gives, over the connection to this server."""
    try:
        return _execute(url, connect, statements)
    except (psycopg.OperationalError, pymysql.OperationalError, pymysql.InterfaceError):
        # A test may have ended the server, or every connection to it, since the last time.
        _connections.pop(url).close()
        return _execute(url, connect, statements)


def _execute(url: str, connect: Callable[[str], Any], statements: Sequence[str]) -> Rows:
    if url not in _connections:
        _connections[url] = connect(url)
    with _connections[url].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
            while cursor.nextset():
                pass
        return list(cursor.fetchall()) if cursor.description else []


@atexit.register
def _close() -> None:
    for connection in _connections.values():
        connection.close()


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
