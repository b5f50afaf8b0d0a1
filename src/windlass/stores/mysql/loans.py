"""Lends connections of asyncmy to async handlers, of PyMySQL to blocking ones."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from importlib.util import find_spec
from typing import Any, Final

import asyncmy
from asyncmy import errors

from ...errors import MissingExtra
from ..sql.lending import AsyncLending, Lending
from .url import Settings

SESSION: Final = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"


class MysqlLoans:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lending: Lending | None = None
        self._async = AsyncLending(_Asyncmy(settings), settings.pool)

    def lend(self) -> AbstractContextManager[Any]:
        if self._lending is None:
            if find_spec("pymysql") is None:
                raise MissingExtra(
                    "context.transaction() in a blocking handler needs PyMySQL: "
                    "pip install pymysql."
                )
            self._lending = Lending(_Pymysql(self._settings), self._settings.pool)
        return self._lending.lend()

    def alend(self) -> AbstractAsyncContextManager[Any]:
        return self._async.lend()

    async def close(self) -> None:
        self._async.close()
        if self._lending is not None:
            self._lending.close()


class _Asyncmy:
    errors = (errors.OperationalError, errors.InterfaceError, OSError)

    def __init__(self, settings: Settings) -> None:
        self.where = settings.where
        self._settings = settings

    async def connect(self) -> Any:
        return await asyncmy.connect(**_address(self._settings), init_command=SESSION)

    async def begin(self, connection: Any) -> Any:
        await connection.begin()
        return connection

    async def commit(self, begun: Any) -> None:
        await begun.commit()

    async def rollback(self, begun: Any) -> None:
        await begun.rollback()

    def close(self, connection: Any) -> None:
        connection.close()


class _Pymysql:
    def __init__(self, settings: Settings) -> None:
        import pymysql

        self.where = settings.where
        self.errors = (pymysql.OperationalError, pymysql.InterfaceError, OSError)
        self._settings = settings
        self._driver: Any = pymysql

    def connect(self) -> Any:
        return self._driver.connect(**_address(self._settings), init_command=SESSION)

    def begin(self, connection: Any) -> Any:
        connection.begin()
        return connection

    def commit(self, begun: Any) -> None:
        begun.commit()

    def rollback(self, begun: Any) -> None:
        begun.rollback()

    def close(self, connection: Any) -> None:
        connection.close()


def _address(settings: Settings) -> dict[str, Any]:
    """What both drivers take, by the same names."""
    return {
        "host": settings.host,
        "port": settings.port,
        "user": settings.user,
        "password": settings.password,
        "database": settings.database,
        "unix_socket": settings.socket,
        "ssl": settings.tls,
        "connect_timeout": settings.connect_timeout,
        "charset": "utf8mb4",
        "autocommit": True,
        "program_name": "windlass",
    }
