"""A few connections, made when they are needed and thrown away when they fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

from asyncpg.exceptions import PostgresError

from ...errors import StoreUnavailable
from .connection import Connection
from .fault import LOST


class Pool:
    """Hands a connection to one caller at a time, the one used last first."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], size: int) -> None:
        self._connect = connect
        self._room = asyncio.Semaphore(size)
        self._idle: list[Connection] = []
        self._closed = False

    @property
    def has_idle(self) -> bool:
        """Whether there is an open one that nobody uses."""
        return bool(self._idle)

    def connection(self) -> Use:
        """One for the length of an `async with`."""
        return Use(self)

    async def take(self) -> Connection:
        """One that is the caller's until it is given back."""
        await self._room.acquire()
        try:
            return self._take() or await self._connect()
        except BaseException:
            self._room.release()
            raise

    async def give(self, connection: Connection, error: BaseException | None) -> None:
        """Take it back, with what its use ended with."""
        try:
            if error is None:
                self._put(connection)
            elif isinstance(error, PostgresError) and not isinstance(error, LOST):
                await self._clean(connection)
            else:
                if isinstance(error, LOST):
                    self._doubt()
                # Cancelled, or gone: nobody knows what would be answered next.
                connection.raw.terminate()
        finally:
            self._room.release()

    async def close(self) -> None:
        """End all that are idle now, in good order, and the others as they come back."""
        self._closed = True
        idle, self._idle = self._idle, []
        await asyncio.gather(*(_farewell(connection) for connection in idle))

    def _take(self) -> Connection | None:
        if self._closed:
            raise StoreUnavailable("The store is closed; open it before use.")
        while self._idle:
            connection = self._idle.pop()
            if not connection.raw.is_closed():
                return connection
        return None

    def _doubt(self) -> None:
        """Hang up on who is idle: one of them was lost, so that the others may be too."""
        idle, self._idle = self._idle, []
        for connection in idle:
            connection.raw.terminate()

    def _put(self, connection: Connection) -> None:
        if self._closed:
            connection.raw.terminate()
        else:
            connection.kept = True
            self._idle.append(connection)

    async def _clean(self, connection: Connection) -> None:
        """After an error that the server told of: the connection is good once it is rolled back."""
        try:
            await connection.rollback()
        except BaseException as error:
            # Cancelled, or gone: nobody else is to get it, and the server is to let go of it.
            connection.raw.terminate()
            if not isinstance(error, (PostgresError, *LOST)):
                raise
        else:
            self._put(connection)


class Use:
    """The use of one connection.

    No generator: an event loop that ends closes all of these, and would take a connection from
    whoever is using it.
    """

    __slots__ = ("_connection", "_pool")

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def __aenter__(self) -> Connection:
        self._connection = await self._pool.take()
        return self._connection

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._pool.give(self._connection, error)


async def _farewell(connection: Connection) -> None:
    try:
        await connection.raw.close(timeout=1)
    except (PostgresError, *LOST):
        connection.raw.terminate()
