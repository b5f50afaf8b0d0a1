"""Connections of PyMySQL and asyncmy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..sql.operation import Rows
from .guest import AsyncGuest, BlockingGuest

IN_TRANSACTION: Final = 1
"""The bit of the server's status that says so."""


class PymysqlGuest(BlockingGuest):
    """A `pymysql` connection."""

    engine = "MySQL"
    style = "%s"

    def __init__(self, connection: Any) -> None:
        from pymysql.cursors import Cursor

        self._connection = connection
        self._cursor: Any = Cursor(connection)

    def is_in_transaction(self) -> bool:
        connection = self._connection
        return not connection.get_autocommit() or connection.server_status & IN_TRANSACTION

    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        self._cursor.execute(sql, args)
        return list(self._cursor.fetchall())

    def change(self, sql: str, args: Sequence[Any]) -> int:
        return int(self._cursor.execute(sql, args))


class AsyncmyGuest(AsyncGuest):
    """An `asyncmy` connection."""

    engine = "MySQL"
    style = "%s"

    def __init__(self, connection: Any) -> None:
        from asyncmy.cursors import Cursor

        self._connection = connection
        self._cursor: Any = Cursor(connection)

    async def is_in_transaction(self) -> bool:
        connection = self._connection
        return not connection.get_autocommit() or connection.get_transaction_status()

    async def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        await self._cursor.execute(sql, args)
        return list(await self._cursor.fetchall())

    async def change(self, sql: str, args: Sequence[Any]) -> int:
        return int(await self._cursor.execute(sql, args))
