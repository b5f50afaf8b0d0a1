"""Connections of `sqlite3`, and of aiosqlite, which has one in a thread."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ..sql.operation import Rows
from .guest import AsyncGuest, BlockingGuest


class SqliteGuest(BlockingGuest):
    """A `sqlite3.Connection`."""

    engine = "SQLite"
    style = "?"
    instant = True

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def is_in_transaction(self) -> bool:
        return begins(self._connection)

    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        connection = self._connection
        # Of the cursor this can be asked alone, of texts only for all of the connection.
        made, connection.text_factory = connection.text_factory, str
        try:
            cursor = connection.cursor()
            cursor.row_factory = None
            return cursor.execute(sql, args).fetchall()
        finally:
            connection.text_factory = made

    def change(self, sql: str, args: Sequence[Any]) -> int:
        return self._connection.execute(sql, args).rowcount


class AiosqliteGuest(AsyncGuest):
    """An `aiosqlite.Connection`. Its own thread runs what is asked, so the cursor is awaited."""

    engine = "SQLite"
    style = "?"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def is_in_transaction(self) -> bool:
        return begins(self._connection)

    async def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        connection = self._connection
        made, connection.text_factory = connection.text_factory, str
        try:
            async with connection.cursor() as cursor:
                cursor.row_factory = None
                await cursor.execute(sql, args)
                return list(await cursor.fetchall())
        finally:
            connection.text_factory = made

    async def change(self, sql: str, args: Sequence[Any]) -> int:
        async with self._connection.execute(sql, args) as cursor:
            return int(cursor.rowcount)


def begins(connection: Any) -> bool:
    """Whether a transaction is open, or the driver opens one before it writes."""
    if connection.in_transaction:
        return True
    # Before Python 3.12, and by default since, `isolation_level` is what decides.
    mode = getattr(connection, "autocommit", -1)
    return connection.isolation_level is not None if mode == -1 else not mode
