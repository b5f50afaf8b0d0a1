"""The SQLite store: a database, and a watch on its file for wake-ups."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.clock import Clock, system_clock
from ...errors import StoreError, StoreUnavailable
from ..sql.store import SqlStore
from .database import STORE, SqliteDatabase
from .dialect import dialect_of
from .loans import SqliteLoans
from .mounts import shared_type
from .url import Settings
from .watch import Watch


class SqliteStore(SqlStore):
    """Jobs in one SQLite file, shared by any number of processes of one machine."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, blocking: bool = False
    ) -> None:
        self._clock = clock or system_clock
        self._path = settings.path
        self._file = SqliteDatabase(settings, STORE, self._clock, blocking=blocking)
        self._watch: Watch | None = None
        self.dialect = dialect_of(self._file.queries, settings.path, self._clock)
        self.loans = SqliteLoans(self._file.connect)
        super().__init__(self._file)

    async def open(self) -> None:
        if self._watch is not None:
            return
        await super().open()
        try:
            self._watch = Watch(self._file.connect(), self._file.queries, self._clock)
        except StoreError:
            await self.close()
            raise

    async def close(self) -> None:
        await super().close()
        if self._watch is not None:
            self._watch.close()
            self._watch = None

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        if self._watch is None:
            raise StoreUnavailable("The store is not open; call open() before use.")
        await self._watch.wait(queues, timeout)

    async def risks(self) -> Sequence[str]:
        told = [*await super().risks()]
        kind = shared_type(self._path)
        if kind is not None:
            told.append(
                f"The file is on a network file system ({kind}): two machines that use it destroy "
                "it, and one may lose jobs; put it on a local disk, or use a store with a server."
            )
        return told

    def _wake(self) -> None:
        if self._watch is not None:
            self._watch.wake()
