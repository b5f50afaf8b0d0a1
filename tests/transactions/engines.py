"""Databases that have an app's jobs and a user's table beside them."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import asyncpg
import psycopg
import psycopg2.extensions
import pymysql

from tests.servers.emptied import emptied_database, emptied_schema
from windlass import Windlass
from windlass.stores.open import open_store

INSERT = "INSERT INTO notes (text) VALUES ('{}')"

_serial = count()


class Engine(ABC):
    """One database of its own, at `url`. `execute` is for the test itself, and commits."""

    url: str

    @abstractmethod
    def execute(self, sql: str) -> Sequence[tuple[object, ...]]: ...

    @abstractmethod
    async def note(self, connection: Any, text: str) -> None:
        """Write as an async handler would, on the connection that it got."""

    @abstractmethod
    async def commit(self, connection: Any) -> None:
        """Commit as a handler never should."""

    @abstractmethod
    def note_blocking(self, connection: Any, text: str) -> None:
        """Write as a blocking handler would."""

    def make(self) -> None:
        self.execute("CREATE TABLE notes (text VARCHAR(100))")

    def notes(self) -> list[object]:
        """What the user has written, as everyone else sees it."""
        return [row[0] for row in self.execute("SELECT text FROM notes ORDER BY text")]

    @abstractmethod
    def hang_up(self) -> None:
        """Have the server end every connection but the one that asks it."""

    def app(self) -> Windlass:
        return Windlass(self.url)

    async def migrate(self) -> None:
        store = open_store(self.url)
        await store.migrate()
        await store.close()


class Served(Engine):
    """One on a server. It is used again, and keeps a connection for `execute`."""

    @abstractmethod
    def clean(self) -> None:
        """Make the database as good as new, for the next test."""

    @abstractmethod
    def close(self) -> None: ...


class Sqlite(Engine):
    def __init__(self, folder: Path) -> None:
        self.path = folder / "jobs.db"
        self.url = f"sqlite:///{self.path}"

    def execute(self, sql: str) -> Sequence[tuple[object, ...]]:
        connection = sqlite3.connect(self.path, isolation_level=None)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def hang_up(self) -> None:
        raise NotImplementedError("a file ends nothing")

    async def note(self, connection: Any, text: str) -> None:
        self.note_blocking(connection, text)

    async def commit(self, connection: Any) -> None:
        connection.commit()

    def note_blocking(self, connection: Any, text: str) -> None:
        assert isinstance(connection, sqlite3.Connection)
        connection.execute(INSERT.format(text))


class Postgres(Served):
    def __init__(self, server: str) -> None:
        name = f"guest_{next(_serial)}"
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        self.url = server.rpartition("/")[0] + f"/{name}"
        self._connection = psycopg.connect(self.url, autocommit=True)

    def execute(self, sql: str) -> Sequence[tuple[object, ...]]:
        done = self._connection.execute(sql.encode())
        return done.fetchall() if done.description else []

    def clean(self) -> None:
        emptied_schema(self.url, "public")

    def close(self) -> None:
        self._connection.close()

    def hang_up(self) -> None:
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    async def note(self, connection: Any, text: str) -> None:
        assert isinstance(connection, asyncpg.Connection)
        await connection.execute(INSERT.format(text))

    async def commit(self, connection: Any) -> None:
        await connection.execute("COMMIT")

    def note_blocking(self, connection: Any, text: str) -> None:
        assert isinstance(connection, psycopg.Connection | psycopg2.extensions.connection)
        connection.cursor().execute(INSERT.format(text).encode())


class Mariadb(Served):
    def __init__(self, server: str) -> None:
        self._server, self._name = server, f"guest_{next(_serial)}"
        self.url = emptied_database(server, self._name)
        self._connection = pymysql.connect(**self.parts, autocommit=True)

    @property
    def parts(self) -> dict[str, Any]:
        """How drivers of MySQL take it."""
        url = urlsplit(self.url)
        assert url.hostname and url.port and url.username
        return {
            "host": url.hostname,
            "port": url.port,
            "user": url.username,
            "database": url.path.strip("/"),
        }

    def execute(self, sql: str) -> Sequence[tuple[object, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    def clean(self) -> None:
        emptied_database(self._server, self._name)

    def close(self) -> None:
        self._connection.close()

    def hang_up(self) -> None:
        # In one connection: another one would end those that went before.
        self.execute(
            "BEGIN NOT ATOMIC FOR other IN (SELECT id FROM information_schema.processlist "
            "WHERE db = DATABASE() AND id <> CONNECTION_ID()) DO "
            "KILL CONNECTION other.id; END FOR; END"
        )

    async def note(self, connection: Any, text: str) -> None:
        assert isinstance(connection, asyncmy.Connection)
        async with connection.cursor() as cursor:
            await cursor.execute(INSERT.format(text))

    async def commit(self, connection: Any) -> None:
        await connection.commit()

    def note_blocking(self, connection: Any, text: str) -> None:
        assert isinstance(connection, pymysql.Connection)
        connection.cursor().execute(INSERT.format(text))
