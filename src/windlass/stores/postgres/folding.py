"""Keeps the deltas of the counts few: whoever wrote many adds them up."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Final

from ...errors import StoreError
from ..sql.operation import Operation, Statement, one
from .database import PostgresDatabase

log = logging.getLogger("windlass")

OFTEN: Final = 200
"""Changes of this process between two rounds."""

BATCH: Final = 2_000
"""Deltas that one statement adds up: those of one round, and some that others left."""


class Folding:
    """Adds deltas to counts beside the work of a store, never in its way."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._changes = 0
        self._task: asyncio.Task[None] | None = None

    def changed(self) -> None:
        """Note that this process has written deltas."""
        self._changes += 1
        if self._changes >= OFTEN and (self._task is None or self._task.done()):
            self._changes = 0
            self._task = asyncio.create_task(self._beside(), name="postgres-fold")

    async def fold(self) -> None:
        """Add up all that there are, a bounded number at a time."""
        while await self._database.run(lambda now, again: _fold()) == BATCH:
            pass

    async def tidy(self) -> None:
        """Add all up, and forget what came to nothing."""
        await self.fold()
        await self._database.run(lambda now, again: _forget())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _beside(self) -> None:
        try:
            await self.fold()
        except StoreError as error:
            # The deltas stay where they are; the next round has them.
            log.debug("the counts could not be added up: %s", error)


def _fold() -> Operation[int]:
    number: int = one((yield Statement("fold", {"limit": BATCH})))
    return number


def _forget() -> Operation[None]:
    yield Statement("forget_counts")
