"""How connections are lent: taken from those that are idle, begun, ended, and kept for the next.

Written once for drivers that block and once for async ones; an engine says how a driver is asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final, Protocol

from ...errors import StoreUnavailable
from ...interrupts import obey

LONGEST_WAIT: Final = 0.1


class Driver(Protocol):
    """A driver that blocks.

    Its connections are in autocommit mode but for what `begin` opens: so it shows if a handler
    commits by itself.
    """

    where: str
    """the server, for messages"""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """what it raises when the server cannot be reached"""

    def connect(self) -> Any: ...

    def begin(self, connection: Any) -> Any:
        """Open a transaction; what it is that is committed or rolled back."""

    def commit(self, begun: Any) -> None: ...

    def rollback(self, begun: Any) -> None: ...

    def close(self, connection: Any) -> None: ...


class AsyncDriver(Protocol):
    """The same for an async driver; `close` waits for nobody."""

    where: str

    @property
    def errors(self) -> tuple[type[Exception], ...]: ...

    async def connect(self) -> Any: ...

    async def begin(self, connection: Any) -> Any:
        """Open a transaction; what it is that is committed or rolled back."""

    async def commit(self, begun: Any) -> None: ...

    async def rollback(self, begun: Any) -> None: ...

    def close(self, connection: Any) -> None: ...


class Lending:
    """Connections of a driver that blocks, for any number of threads; `size` at a time."""

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver = driver
        self._room = threading.Semaphore(size)
        self._idle: deque[Any] = deque()

    @contextmanager
    def lend(self) -> Iterator[Any]:
        # In short waits, so that a thread that is stopped while it waits learns of it.
        while not self._room.acquire(timeout=LONGEST_WAIT):
            obey()
        try:
            connection, begun = self._begun()
            try:
                yield connection
                self._driver.commit(begun)
            except Exception:
                self._take_back(connection, begun)
                raise
            except BaseException:
                # Stopped in the midst of who knows what.
                self._driver.close(connection)
                raise
            self._idle.append(connection)
        finally:
            self._room.release()

    def close(self) -> None:
        while (connection := self._take()) is not None:
            self._driver.close(connection)

    def _take(self) -> Any:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _begun(self) -> tuple[Any, Any]:
        while (connection := self._take()) is not None:
            try:
                return connection, self._driver.begin(connection)
            except self._driver.errors:
                # Lost while nobody used it.
                self._driver.close(connection)
        try:
            connection = self._driver.connect()
            try:
                return connection, self._driver.begin(connection)
            except BaseException:
                self._driver.close(connection)
                raise
        except self._driver.errors as error:
            raise _unreachable(self._driver.where, error) from error

    def _take_back(self, connection: Any, begun: Any) -> None:
        try:
            self._driver.rollback(begun)
        except Exception:
            self._driver.close(connection)
        else:
            self._idle.append(connection)


class AsyncLending:
    """Connections of an async driver, for one event loop; `size` at a time."""

    def __init__(self, driver: AsyncDriver, size: int) -> None:
        self._driver = driver
        self._room = asyncio.Semaphore(size)
        self._idle: list[Any] = []

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Any]:
        async with self._room:
            connection, begun = await self._begun()
            try:
                yield connection
                await self._driver.commit(begun)
            except Exception:
                await self._take_back(connection, begun)
                raise
            except BaseException:
                self._driver.close(connection)
                raise
            self._idle.append(connection)

    def close(self) -> None:
        while self._idle:
            self._driver.close(self._idle.pop())

    async def _begun(self) -> tuple[Any, Any]:
        while self._idle:
            connection = self._idle.pop()
            try:
                return connection, await self._driver.begin(connection)
            except self._driver.errors:
                self._driver.close(connection)
        try:
            connection = await self._driver.connect()
            try:
                return connection, await self._driver.begin(connection)
            except BaseException:
                self._driver.close(connection)
                raise
        except self._driver.errors as error:
            raise _unreachable(self._driver.where, error) from error

    async def _take_back(self, connection: Any, begun: Any) -> None:
        try:
            await self._driver.rollback(begun)
        except Exception:
            self._driver.close(connection)
        else:
            self._idle.append(connection)


def _unreachable(where: str, error: Exception) -> StoreUnavailable:
    # Some drivers say it in several lines.
    said = " ".join(str(error).split()).rstrip(".")
    return StoreUnavailable(f"{where} gave no connection for a transaction: {said}.")
