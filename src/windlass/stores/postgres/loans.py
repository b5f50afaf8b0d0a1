"""Lends connections of asyncpg to async handlers, of psycopg or psycopg2 to blocking ones.

None of the settings of the store's own connections hold on them: these would mislead the planner
about the user's tables.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from importlib.util import find_spec
from typing import Any

import asyncpg

from ...errors import MissingExtra
from ..sql.lending import AsyncLending, Lending
from .fault import BUSY, LOST
from .url import Settings


class PostgresLoans:
    """`pooled` tells whether there is a pooler between, behind which nothing can be prepared."""

    def __init__(self, settings: Settings, pooled: Callable[[], bool]) -> None:
        self._settings = settings
        self._lending: Lending | None = None
        self._async = AsyncLending(_Asyncpg(settings, pooled), settings.pool)

    def lend(self) -> AbstractContextManager[Any]:
        if self._lending is None:
            self._lending = Lending(_blocking(self._settings), self._settings.pool)
        return self._lending.lend()

    def alend(self) -> AbstractAsyncContextManager[Any]:
        return self._async.lend()

    async def close(self) -> None:
        self._async.close()
        if self._lending is not None:
            self._lending.close()


class _Asyncpg:
    errors = (*LOST, *BUSY)

    def __init__(self, settings: Settings, pooled: Callable[[], bool]) -> None:
        self.where = f"PostgreSQL at {settings.where}"
        self._settings = settings
        self._pooled = pooled

    async def connect(self) -> Any:
        return await asyncpg.connect(
            self._settings.dsn,
            timeout=self._settings.connect_timeout,
            statement_cache_size=0 if self._pooled() else 100,
        )

    async def begin(self, connection: Any) -> Any:
        # By the driver's own means: else it would not let the handler nest one in it.
        transaction = connection.transaction(isolation="read_committed")
        await transaction.start()
        return transaction

    async def commit(self, begun: Any) -> None:
        await begun.commit()

    async def rollback(self, begun: Any) -> None:
        await begun.rollback()

    def close(self, connection: Any) -> None:
        connection.terminate()


def _blocking(settings: Settings) -> _Psycopg | _Psycopg2:
    if find_spec("psycopg") is not None:
        return _Psycopg(settings)
    if find_spec("psycopg2") is not None:
        return _Psycopg2(settings)
    raise MissingExtra(
        "context.transaction() in a blocking handler needs psycopg or psycopg2: "
        "pip install 'psycopg[binary]'."
    )


class _Psycopg:
    def __init__(self, settings: Settings) -> None:
        import psycopg

        self.where = f"PostgreSQL at {settings.where}"
        self.errors = (psycopg.OperationalError,)
        self._settings = settings
        self._driver: Any = psycopg

    def connect(self) -> Any:
        connection = self._driver.connect(
            self._settings.dsn,
            autocommit=True,
            prepare_threshold=None,
            connect_timeout=max(2, round(self._settings.connect_timeout)),
        )
        connection.isolation_level = self._driver.IsolationLevel.READ_COMMITTED
        return connection

    def begin(self, connection: Any) -> Any:
        # While it is open, the driver refuses the handler's own commit.
        transaction = connection.transaction()
        transaction.__enter__()
        return transaction

    def commit(self, begun: Any) -> None:
        begun.__exit__(None, None, None)

    def rollback(self, begun: Any) -> None:
        error = self._driver.Rollback()
        begun.__exit__(type(error), error, None)

    def close(self, connection: Any) -> None:
        connection.close()


class _Psycopg2:
    def __init__(self, settings: Settings) -> None:
        import psycopg2

        self.where = f"PostgreSQL at {settings.where}"
        self.errors = (psycopg2.OperationalError, psycopg2.InterfaceError)
        self._settings = settings
        self._driver: Any = psycopg2

    def connect(self) -> Any:
        timeout = max(2, round(self._settings.connect_timeout))
        connection = self._driver.connect(self._settings.dsn, connect_timeout=timeout)
        connection.autocommit = True
        return connection

    def begin(self, connection: Any) -> Any:
        connection.cursor().execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        return connection

    def commit(self, begun: Any) -> None:
        begun.cursor().execute("COMMIT")

    def rollback(self, begun: Any) -> None:
        begun.cursor().execute("ROLLBACK")

    def close(self, connection: Any) -> None:
        connection.close()
