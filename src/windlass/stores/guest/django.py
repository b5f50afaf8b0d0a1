"""Connections of Django: `django.db.connection`, or `connections["alias"]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..sql.operation import Rows
from .guest import BlockingGuest

ENGINES: Final[Mapping[str, str]] = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "mysql": "MySQL",
}


class DjangoGuest(BlockingGuest):
    """A connection that Django keeps for this thread."""

    style = "%s"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @property
    def engine(self) -> str:
        vendor = self._connection.vendor
        return ENGINES.get(vendor, vendor)

    def is_in_transaction(self) -> bool:
        connection = self._connection
        return connection.in_atomic_block or not connection.get_autocommit()

    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, args)
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    def change(self, sql: str, args: Sequence[Any]) -> int:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, args)
            return int(cursor.rowcount)
