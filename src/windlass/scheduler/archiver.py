"""Feeds history with what has ended, and drops what it need not keep."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from ..config import HistorySettings
from ..core.clock import to_ms
from ..errors import StoreError
from ..history.archive import Archive
from ..service import Service
from ..stores.contract import Store
from .handover import hand_over
from .leader import Leader

log = logging.getLogger("windlass")

ROLE: Final = "history"
PRUNE_BATCH: Final = 500
PRUNE_INTERVAL: Final = 30.0
LONGEST_PAUSE: Final = 10.0
"""Seconds between two tries while history cannot be written."""

FAREWELL: Final = 2.0
"""Seconds to hand over what the last jobs left, when the worker stops."""


class Archiver(Service):
    """Hands over from the journal while this process is the leader."""

    def __init__(
        self, store: Store, archive: Archive, leader: Leader, settings: HistorySettings
    ) -> None:
        super().__init__()
        self._store = store
        self._archive = archive
        self._leader = leader
        self._settings = settings
        self._pause = settings.interval
        self._pruned_at = float("-inf")
        self._fault = ""

    async def run(self) -> None:
        while not self.stopping:
            if self._leader.is_leader:
                await self._attend()
            await self.pause(self._pause)

    async def stop(self) -> None:
        await super().stop()
        try:
            # Whoever leads: it may be that nobody does yet, or any more.
            if not self._fault:
                async with asyncio.timeout(FAREWELL):
                    await self.hand_over()
            await self._archive.close()
        except (StoreError, TimeoutError) as error:
            log.warning("some of what ended stays in the journal for now: %s", error)

    async def hand_over(self) -> None:
        """All that is in the journal."""
        await self._archive.open()
        await hand_over(self._store, self._archive)

    async def prune(self) -> None:
        """Drop what history need not keep."""
        keep, most = self._settings.keep, self._settings.most
        age = to_ms(keep) if keep else None
        while await self._archive.prune(PRUNE_BATCH, age, most or None) == PRUNE_BATCH:
            await asyncio.sleep(0)

    async def _attend(self) -> None:
        """One round. While history is down, rounds come at longer intervals, told once."""
        now = asyncio.get_running_loop().time()
        try:
            await self.hand_over()
            if now - self._pruned_at > PRUNE_INTERVAL and self._settings.is_bounded:
                await self.prune()
                self._pruned_at = now
        except StoreError as error:
            if str(error) != self._fault:
                log.warning("history cannot be written, what ends stays in the journal: %s", error)
            self._fault = str(error)
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            return
        if self._fault:
            log.info("history is written again")
        self._fault, self._pause = "", self._settings.interval
