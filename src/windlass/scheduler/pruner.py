"""Drops finished jobs that were kept long enough, a bounded batch at a time."""

from __future__ import annotations

from typing import Final

from ..service import Service
from ..stores.contract import Store
from .leader import Leader

BATCH: Final = 1_000
BREATH: Final = 0.05
"""Between two full batches, so that pruning never crowds out the jobs."""


class Pruner(Service):
    """Prunes while this process is the leader."""

    def __init__(self, store: Store, leader: Leader, interval: float) -> None:
        super().__init__()
        self._store = store
        self._leader = leader
        self._interval = interval

    async def run(self) -> None:
        while not self.stopping:
            await self.pause(self._interval)
            while self._leader.is_leader and await self._store.prune(BATCH) == BATCH:
                await self.pause(BREATH)
