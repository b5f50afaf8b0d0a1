"""Connections of psycopg 3, blocking and async, and of psycopg2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..sql.operation import Rows
from .guest import AsyncGuest, BlockingGuest

IDLE: Final = 0
"""What libpq calls a connection without a transaction; the same number in both drivers."""


class PsycopgGuest(BlockingGuest):
    """A `psycopg.Connection`."""

    engine = "PostgreSQL"
    style = "%s"

    def __init__(self, connection: Any) -> None:
        from psycopg import Cursor
        from psycopg.rows import tuple_row

        self._connection = connection
        self._cursor: Any = Cursor(connection, row_factory=tuple_row)

    def is_in_transaction(self) -> bool:
        connection = self._connection
        return not connection.autocommit or connection.info.transaction_status != IDLE

    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        done = self._cursor.execute(sql, args)
        return done.fetchall() if done.description else []

    def change(self, sql: str, args: Sequence[Any]) -> int:
        return int(self._cursor.execute(sql, args).rowcount)


class AsyncPsycopgGuest(AsyncGuest):
    """A `psycopg.AsyncConnection`."""

    engine = "PostgreSQL"
    style = "%s"

    def __init__(self, connection: Any) -> None:
        from psycopg import AsyncCursor
        from psycopg.rows import tuple_row

        self._connection = connection
        self._cursor: Any = AsyncCursor(connection, row_factory=tuple_row)

    async def is_in_transaction(self) -> bool:
        connection = self._connection
        return not connection.autocommit or connection.info.transaction_status != IDLE

    async def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        done = await self._cursor.execute(sql, args)
        return await done.fetchall() if done.description else []

    async def change(self, sql: str, args: Sequence[Any]) -> int:
        return int((await self._cursor.execute(sql, args)).rowcount)


class Psycopg2Guest(BlockingGuest):
    """A `psycopg2` connection."""

    engine = "PostgreSQL"
    style = "%s"

    def __init__(self, connection: Any) -> None:
        from psycopg2.extensions import cursor

        self._connection = connection
        # Without a name it is a client's cursor, whose rows are tuples.
        self._cursor: Any = connection.cursor(cursor_factory=cursor)

    def is_in_transaction(self) -> bool:
        connection = self._connection
        return not connection.autocommit or connection.get_transaction_status() != IDLE

    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        cursor = self._cursor
        cursor.execute(sql, args)
        rows: Rows = cursor.fetchall() if cursor.description else []
        # Bytes come as views of memory that the next query may not own.
        return [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row) for row in rows]

    def change(self, sql: str, args: Sequence[Any]) -> int:
        self._cursor.execute(sql, args)
        return int(self._cursor.rowcount)
