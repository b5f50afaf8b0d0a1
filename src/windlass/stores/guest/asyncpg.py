"""Connections of asyncpg, and those that its pool hands out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..sql.operation import Rows
from .guest import AsyncGuest


class AsyncpgGuest(AsyncGuest):
    """An `asyncpg.Connection`."""

    engine = "PostgreSQL"
    style = "$1"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def is_in_transaction(self) -> bool:
        return bool(self._connection.is_in_transaction())

    async def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        return [tuple(record) for record in await self._connection.fetch(sql, *args)]

    async def change(self, sql: str, args: Sequence[Any]) -> int:
        # As `INSERT 0 3`: the last word is the number of rows, if the command has one.
        said = (await self._connection.execute(sql, *args)).split()
        return int(said[-1]) if said[-1].isdigit() else 0
