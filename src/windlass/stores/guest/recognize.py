"""From a connection to its adapter, by the name of its type: no driver is imported to ask."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from ...errors import InvalidOption
from .guest import AsyncGuest, BlockingGuest

ADAPTERS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("sqlite3", "Connection"): ("sqlite", "SqliteGuest"),
    ("aiosqlite", "Connection"): ("sqlite", "AiosqliteGuest"),
    ("psycopg", "Connection"): ("psycopg", "PsycopgGuest"),
    ("psycopg", "AsyncConnection"): ("psycopg", "AsyncPsycopgGuest"),
    ("psycopg2", "connection"): ("psycopg", "Psycopg2Guest"),
    ("asyncpg", "Connection"): ("asyncpg", "AsyncpgGuest"),
    ("asyncpg", "PoolConnectionProxy"): ("asyncpg", "AsyncpgGuest"),
    ("pymysql", "Connection"): ("mysql", "PymysqlGuest"),
    ("asyncmy", "Connection"): ("mysql", "AsyncmyGuest"),
    ("sqlalchemy", "Connection"): ("sqlalchemy", "SqlalchemyGuest"),
    ("sqlalchemy", "Session"): ("sqlalchemy", "SqlalchemyGuest"),
    ("sqlalchemy", "scoped_session"): ("sqlalchemy", "SqlalchemyGuest"),
    ("sqlalchemy", "AsyncConnection"): ("sqlalchemy", "AsyncSqlalchemyGuest"),
    ("sqlalchemy", "AsyncSession"): ("sqlalchemy", "AsyncSqlalchemyGuest"),
    ("sqlalchemy", "async_scoped_session"): ("sqlalchemy", "AsyncSqlalchemyGuest"),
    ("django", "BaseDatabaseWrapper"): ("django", "DjangoGuest"),
    ("django", "ConnectionProxy"): ("django", "DjangoGuest"),
}
"""By package and class of the connection: the file here, and the adapter in it."""


def guest_of(connection: Any) -> BlockingGuest | AsyncGuest:
    """The adapter for a connection; a class that derives from a driver's own is recognized too."""
    for kind in type(connection).__mro__:
        found = ADAPTERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if found is not None:
            file, name = found
            adapter = getattr(import_module(f".{file}", __package__), name)
            guest: BlockingGuest | AsyncGuest = adapter(connection)
            return guest
    kind = type(connection)
    raise InvalidOption(
        f"connection is a {kind.__module__}.{kind.__qualname__}, which Windlass cannot write "
        "through; give a connection of sqlite3, aiosqlite, psycopg, psycopg2, asyncpg, "
        "SQLAlchemy, Django, PyMySQL or asyncmy."
    )
