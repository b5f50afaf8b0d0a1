"""One SQLite file: a scribe that writes and one that reads, or a connection for blocking code."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final

from ...core.clock import Clock
from ...errors import StoreError, StoreUnavailable
from ...sync import in_thread
from ..sql.database import Schema
from ..sql.operation import Plan, T
from ..sql.queries import SHARED
from .columns import STORE_COLUMNS
from .connection import Connection
from .gate import GATE
from .migrate import migrate
from .scribe import Scribe
from .url import Settings

STORE: Final = Schema((SHARED, "windlass.stores.sqlite"), columns=STORE_COLUMNS)


class SqliteDatabase:
    """Operations on one SQLite file, shared by any number of processes of one machine.

    With `blocking`, operations run in the thread that calls them: for code without an
    event loop a hop to another thread costs more than the write itself.
    """

    def __init__(
        self, settings: Settings, schema: Schema, clock: Clock, *, blocking: bool = False
    ) -> None:
        self.blocking = blocking
        self.queries = schema.queries()
        self._schema = schema
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._direct: Connection | None = None
        self._writer: Scribe | None = None
        self._reader: Scribe | None = None

    @property
    def _is_open(self) -> bool:
        return self._direct is not None or self._writer is not None

    async def open(self) -> None:
        if self._is_open:
            return
        if self._settings.migrate:
            await self.migrate()
        try:
            if self.blocking:
                self._direct = self.connect()
            else:
                self._writer = Scribe(self.connect, "BEGIN IMMEDIATE", "windlass-sqlite-writer")
                self._reader = Scribe(self.connect, "BEGIN", "windlass-sqlite-reader")
        except StoreError:
            await self.close()
            raise

    async def close(self) -> None:
        for scribe in (self._writer, self._reader):
            if scribe is not None:
                await in_thread(scribe.close)
        self._writer = self._reader = None
        if self._direct is not None:
            self._direct.close()
            self._direct = None

    async def migrate(self) -> Sequence[str]:
        connection = self.connect()
        try:
            with GATE:
                return migrate(connection, self._schema)
        finally:
            connection.close()

    def connect(self) -> Connection:
        """One more connection to the file, the caller's to close."""
        return Connection(self._settings, self.queries, self._clock)

    async def write(self, plan: Plan[T]) -> T:
        if self._writer is not None:
            return await self._writer.submit(plan)
        return self._run(plan, "BEGIN IMMEDIATE")

    async def read(self, plan: Plan[T]) -> T:
        if self._reader is not None:
            return await self._reader.submit(plan)
        return self._run(plan, "BEGIN")

    def _run(self, plan: Plan[T], begin: str) -> T:
        if self._direct is None:
            raise StoreUnavailable("The store is not open; call open() before use.")
        # Who waits here for another thread waits for the file with it.
        deadline = time.monotonic() + self._settings.busy_timeout
        with self._lock:
            answer: T = self._direct.transact([plan], begin, deadline)[0]
        return answer
