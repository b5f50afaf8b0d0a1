"""The tries of one call: what to do after each fault, and when to give up."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Final

from asyncpg import exceptions as pg

from ...errors import StoreError
from .fault import BUSY, CONFLICTS, LOST, is_final, refusal, unavailable
from .url import Settings

TRIES: Final = 20
"""How often an operation is begun anew that met others in its way."""

FIRST_PAUSE: Final = 0.01
LONGEST_PAUSE: Final = 0.5


class Effort:
    """Counts the tries of a call. `again` says whether one of them may have been carried out."""

    def __init__(self, settings: Settings) -> None:
        self.again = False
        self._where = settings.where
        self._patience = settings.patience
        self._deadline = time.monotonic() + settings.patience
        self._was_kept = False
        self._conflicts = 0
        self._pause = FIRST_PAUSE

    async def after(self, error: BaseException, *, sent: bool, kept: bool = False) -> None:
        """Wait for the next try, or raise what the caller must be told.

        `sent` says whether a connection had been found before the fault, `kept` whether it had
        been idle: to find that out may take all patience, so there is one more try for it.
        """
        if isinstance(error, CONFLICTS):
            await self._after_conflict(error)
        elif is_final(error) or not isinstance(error, (*LOST, *BUSY)):
            raise refusal(error, self._where) from error
        elif time.monotonic() > self._deadline and not (
            kept and self._patience and not self._was_kept
        ):
            raise unavailable(error, self._where, self._patience) from error
        else:
            self._was_kept = self._was_kept or kept
            self.again = self.again or (sent and isinstance(error, LOST))
            await asyncio.sleep(random.uniform(0, self._pause))
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def _after_conflict(self, error: BaseException) -> None:
        self._conflicts += 1
        if self._conflicts == TRIES:
            raise StoreError(
                f"PostgreSQL at {self._where} refused {TRIES} times in a row: {error}."
            ) from error
        # A name that should have been new is there: as if an earlier try had made it.
        self.again = self.again or isinstance(error, pg.UniqueViolationError)
        await asyncio.sleep(random.uniform(0, FIRST_PAUSE))
