"""Connections and sessions of SQLAlchemy, whichever driver they have.

Statements go through SQLAlchemy, never around it to the driver: it begins transactions by
itself, some of them only at the first statement that it sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..sql.operation import Rows
from .guest import AsyncGuest, BlockingGuest

ENGINES: Final[Mapping[str, str]] = {
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "mysql": "MySQL",
    "mariadb": "MySQL",
}
MARKS: Final[Mapping[str, str]] = {"qmark": "?", "numeric_dollar": "$1"}


class SqlalchemyGuest(BlockingGuest):
    """A `Connection`, a `Session` or a `scoped_session`."""

    def __init__(self, given: Any) -> None:
        self._given = given
        self._dialect = dialect_of(given)
        self.style = MARKS.get(self._dialect.paramstyle, "%s")

    @property
    def engine(self) -> str:
        return ENGINES.get(self._dialect.name, self._dialect.name)

    def is_in_transaction(self) -> bool:
        return begins(self._connection())

    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        result = self._connection().exec_driver_sql(sql, tuple(args))
        return [tuple(row) for row in result] if result.returns_rows else []

    def change(self, sql: str, args: Sequence[Any]) -> int:
        return int(self._connection().exec_driver_sql(sql, tuple(args)).rowcount)

    def _connection(self) -> Any:
        """The session's own is asked for each time: it is one only within a transaction."""
        return self._given.connection() if _is_session(self._given) else self._given


class AsyncSqlalchemyGuest(AsyncGuest):
    """An `AsyncConnection`, an `AsyncSession` or an `async_scoped_session`."""

    def __init__(self, given: Any) -> None:
        self._given = given
        self._dialect = dialect_of(given)
        self.style = MARKS.get(self._dialect.paramstyle, "%s")

    @property
    def engine(self) -> str:
        return ENGINES.get(self._dialect.name, self._dialect.name)

    async def is_in_transaction(self) -> bool:
        connection = await self._connection()
        return bool(await connection.run_sync(begins))

    async def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        result = await (await self._connection()).exec_driver_sql(sql, tuple(args))
        return [tuple(row) for row in result] if result.returns_rows else []

    async def change(self, sql: str, args: Sequence[Any]) -> int:
        result = await (await self._connection()).exec_driver_sql(sql, tuple(args))
        return int(result.rowcount)

    async def _connection(self) -> Any:
        return await self._given.connection() if _is_session(self._given) else self._given


def dialect_of(given: Any) -> Any:
    return given.get_bind().dialect if _is_session(given) else given.dialect


def begins(connection: Any) -> bool:
    """Whether a transaction is open, or the next statement opens one."""
    if not is_autocommit(connection):
        return True
    if connection.dialect.name != "sqlite":
        return False
    # The recipe of SQLAlchemy's own documentation takes the driver's transactions away and begins
    # them in an event, which comes with the first statement: what counts is what the driver says.
    is_ours = not connection.in_transaction()
    if is_ours:
        connection.exec_driver_sql("PRAGMA database_list").close()
    if connection.connection.driver_connection.in_transaction:
        return True
    if is_ours:
        connection.rollback()
    return False


def is_autocommit(connection: Any) -> bool:
    """As the driver has it: the options of engine and connection say only what was asked for."""
    detect = getattr(connection.dialect, "detect_autocommit_setting", None)
    if detect is not None:
        return bool(detect(connection.connection.dbapi_connection))
    # Early versions of SQLAlchemy 2.0 have no public way to ask.
    return bool(connection._is_autocommit_isolation())


def _is_session(given: Any) -> bool:
    return hasattr(given, "get_bind")
