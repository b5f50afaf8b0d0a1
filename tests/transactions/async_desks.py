"""Programs with an event loop."""

import sqlite3
from typing import Any

import aiosqlite
import asyncmy
import asyncpg
import psycopg
import sqlalchemy as sa
from psycopg.rows import dict_row
from sqlalchemy.ext import asyncio as sa_async

from tests.transactions.blocking_desks import alchemy, begin, by_recipe
from tests.transactions.desk import AsyncDesk
from tests.transactions.engines import Engine, Mariadb, Sqlite


class Plain(AsyncDesk):
    """A driver whose connections begin by themselves and have `commit` and `rollback`."""

    def begin(self) -> None:
        pass

    def execute(self, sql: str) -> None:
        self.run(self.connection.execute(sql))

    def commit(self) -> None:
        self.run(self.connection.commit())

    def rollback(self) -> None:
        self.run(self.connection.rollback())

    async def disconnect(self) -> None:
        await self.connection.close()


class AiosqliteDesk(Plain):
    def __init__(self, engine: Engine) -> None:
        super().__init__()
        assert isinstance(engine, Sqlite)
        self._path = engine.path
        self.connection = self.run(self._connect())

    async def _connect(self, **options: Any) -> aiosqlite.Connection:
        connection = await aiosqlite.connect(self._path, **options)
        connection.row_factory = aiosqlite.Row
        connection.text_factory = bytes
        return connection

    def autocommit(self) -> None:
        self.run(self.connection.close())
        self.connection = self.run(self._connect(isolation_level=None))


class SqliteDesk(Plain):
    """A `sqlite3` connection in async code, which waits for nothing but the disk."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        assert isinstance(engine, Sqlite)
        self.connection = sqlite3.connect(engine.path)

    def execute(self, sql: str) -> None:
        self.connection.execute(sql)

    def commit(self) -> None:
        self.connection.commit()

    def rollback(self) -> None:
        self.connection.rollback()

    async def disconnect(self) -> None:
        self.connection.close()

    def autocommit(self) -> None:
        self.connection.isolation_level = None


class PsycopgDesk(Plain):
    def __init__(self, engine: Engine) -> None:
        super().__init__()
        connect = psycopg.AsyncConnection.connect
        self.connection = self.run(connect(engine.url, row_factory=dict_row))

    def autocommit(self) -> None:
        self.run(self.connection.set_autocommit(True))


class AsyncpgDesk(AsyncDesk):
    """A connection of asyncpg, which has transactions only where they are asked for."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.connection = self.run(self.connect(engine.url))
        self._transaction: Any = None

    async def connect(self, url: str) -> Any:
        return await asyncpg.connect(url)

    def begin(self) -> None:
        self._transaction = self.connection.transaction()
        self.run(self._transaction.start())

    def execute(self, sql: str) -> None:
        self.run(self.connection.execute(sql))

    def commit(self) -> None:
        self.run(self._transaction.commit())

    def rollback(self) -> None:
        self.run(self._transaction.rollback())

    async def disconnect(self) -> None:
        await self.connection.close()

    def autocommit(self) -> None:
        pass


class AsyncpgPoolDesk(AsyncpgDesk):
    """A connection that a pool of asyncpg has handed out."""

    async def connect(self, url: str) -> Any:
        self._pool = await asyncpg.create_pool(url, min_size=1, max_size=1)
        return await self._pool.acquire()

    async def disconnect(self) -> None:
        await self._pool.release(self.connection)
        await self._pool.close()


class AsyncmyDesk(Plain):
    def __init__(self, engine: Engine) -> None:
        super().__init__()
        assert isinstance(engine, Mariadb)
        self.connection = self.run(self._connect(engine.parts))

    async def _connect(self, parts: dict[str, Any]) -> Any:
        parts = {**parts, "db": parts["database"]}
        del parts["database"]
        return await asyncmy.connect(**parts)

    def execute(self, sql: str) -> None:
        async def step() -> None:
            async with self.connection.cursor() as cursor:
                await cursor.execute(sql)

        self.run(step())

    async def disconnect(self) -> None:
        self.connection.close()

    def autocommit(self) -> None:
        self.run(self.connection.autocommit(True))


DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "postgresql": "postgresql+asyncpg",
    "mysql": "mysql+asyncmy",
}


class AsyncCoreDesk(Plain):
    """An AsyncConnection of SQLAlchemy."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = sa_async.create_async_engine(alchemy(engine, DRIVERS), poolclass=sa.NullPool)
        self.connection = self.run(self._connect())

    async def _connect(self) -> sa_async.AsyncConnection:
        return await self.engine.connect()

    def execute(self, sql: str) -> None:
        self.run(self.connection.execute(sa.text(sql)))

    def autocommit(self) -> None:
        self.run(self.connection.execution_options(isolation_level="AUTOCOMMIT"))


class AsyncRecipeDesk(AsyncCoreDesk):
    """An AsyncConnection as SQLAlchemy's documentation has it for SQLite."""

    async def _connect(self) -> sa_async.AsyncConnection:
        by_recipe(self.engine.sync_engine)
        return await super()._connect()

    def autocommit(self) -> None:
        sa.event.remove(self.engine.sync_engine, "begin", begin)


class AsyncSessionDesk(Plain):
    """An AsyncSession of SQLAlchemy."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = sa_async.create_async_engine(alchemy(engine, DRIVERS), poolclass=sa.NullPool)
        self.connection = sa_async.AsyncSession(self.engine)

    def execute(self, sql: str) -> None:
        self.run(self.connection.execute(sa.text(sql)))

    def autocommit(self) -> None:
        self.run(self.connection.close())
        options = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self.connection = sa_async.AsyncSession(options)
