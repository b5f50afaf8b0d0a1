"""History as one database: writes what a journal hands over, searches it, drops what is old."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.model import Entry, Job, Page
from ..stores.sql.database import Database
from . import find, keep, prune
from .query import Attempt, HistoryQuery


class Archive:
    """Jobs of the past. Each call is one transaction of bounded work."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def blocking(self) -> bool:
        return self._database.blocking

    async def open(self) -> None:
        """Connect, and migrate unless that was switched off. Needed before anything else."""
        await self._database.open()

    async def close(self) -> None:
        await self._database.close()

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date and name the migrations applied."""
        return await self._database.migrate()

    async def keep(self, entries: Sequence[Entry]) -> None:
        """Write lines of a journal. Those that are there already change nothing."""
        await self._database.write(lambda _: keep.keep(entries))

    async def find(self, query: HistoryQuery) -> Page:
        """One page. It may be short, even empty, while its cursor is not None."""
        return await self._database.read(lambda _: find.find(query))

    async def get(self, id: str) -> Job | None:
        return await self._database.read(lambda _: find.get(id))

    async def attempts(self, id: str) -> Sequence[Attempt]:
        """The attempts of a job, oldest first; of very many, the last ones."""
        return await self._database.read(lambda _: find.attempts(id))

    async def prune(self, limit: int, keep: int | None = None, most: int | None = None) -> int:
        """Drop at most `limit` jobs that ended longer than `keep` ms ago, or are above `most`."""
        return await self._database.write(
            lambda now: prune.prune(limit, None if keep is None else now - keep, most)
        )
