"""The state of the whole store, looked at once a second for everybody who follows it.

Nobody follows, nobody looks. A client that is slow misses what was in between and gets the newest;
so do all if there are many, for no more than `MOST_TOLD` are told in a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from ..core.model import QueueStats
from ..core.states import State
from ..core.workers import WorkerInfo
from ..service import Service
from ..stores.contract import Store

INTERVAL: Final = 1.0
MOST_TOLD: Final = 500


class Snapshot(msgspec.Struct, frozen=True):
    """What one look found."""

    at: int = 0
    queues: Sequence[QueueStats] = ()
    oldest: Mapping[str, int] = {}
    """for each queue with pending jobs, since when one waits"""
    workers: Sequence[WorkerInfo] = ()
    shown: dict[frozenset[str], Any] = msgspec.field(default_factory=dict)
    """what was made of it for one who follows, and is the same for others of the same queues"""


async def look(store: Store) -> Snapshot:
    now, (queues, oldest), workers = await asyncio.gather(
        store.now(), _lines(store), store.workers()
    )
    return Snapshot(now, queues, oldest, workers)


async def _lines(store: Store) -> tuple[Sequence[QueueStats], Mapping[str, int]]:
    """All queues, and since when one waits in those with pending jobs."""
    queues = await store.queues()
    waiting = [queue.name for queue in queues if queue.counts.get(State.PENDING)]
    return queues, await store.oldest(waiting) if waiting else {}


class Pulse(Service):
    """Gives each look to all that follow."""

    def __init__(self, store: Store, interval: float = INTERVAL) -> None:
        super().__init__()
        self._store = store
        self._interval = interval
        self._followers = 0
        self._wanted = asyncio.Event()
        self._looked = asyncio.Event()
        self._last = Snapshot()

    async def run(self) -> None:
        while not self.stopping:
            await self._wanted.wait()
            self._last = await look(self._store)
            interval = max(self._interval, self._followers / MOST_TOLD)
            self._looked.set()
            self._looked = asyncio.Event()
            await self.pause(interval)

    async def next(self) -> Snapshot:
        """The next look that is taken."""
        self._followers += 1
        self._wanted.set()
        try:
            await self._looked.wait()
            return self._last
        finally:
            self._followers -= 1
            if not self._followers:
                self._wanted.clear()
