"""Sees to what ended jobs still owe to their dependents, a bounded step at a time."""

from __future__ import annotations

from typing import Final

from ..service import Service
from ..stores.contract import Store
from .leader import Leader

BATCH: Final = 1_000
INTERVAL: Final = 1.0
"""Seconds between two looks. The step that ends a job sees to most of its dependents itself;
what is left is the rest of many, or of a process that was killed."""


class Unblocker(Service):
    """Unblocks while this process is the leader."""

    def __init__(self, store: Store, leader: Leader) -> None:
        super().__init__()
        self._store = store
        self._leader = leader

    async def run(self) -> None:
        while not self.stopping:
            while self._leader.is_leader and await self._store.unblock(BATCH):
                pass
            await self.pause(INTERVAL)
