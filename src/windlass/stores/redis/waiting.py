"""Waiting until one of some queues has work, in whichever shards they are."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from .lookout import Lookout
from .opening import Partitions
from .shard import Shard
from .spread import Spread
from .wake import Wakeups

POLL: Final = 0.5
"""How long a blocking store, which cannot listen, sleeps between two looks."""

PROBE: Final = 1.0
"""The longest wait while some shards are down: what is there when they come back is due."""


class Waiting:
    """Waits by listening; a blocking store by looking from time to time."""

    def __init__(
        self,
        shards: Sequence[Shard],
        spread: Spread,
        partitions: Partitions,
        lookout: Lookout,
        wakeups: Wakeups,
    ) -> None:
        self._shards = shards
        self._spread = spread
        self._partitions = partitions
        self._lookout = lookout
        self._wakeups = wakeups

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        if self._shards[0].blocking:
            await asyncio.sleep(min(timeout, POLL, await self._until_work(queues, timeout)))
            return
        # Entered before the look: what comes between the two is heard.
        waiter = await self._wakeups.enter(frozenset(queues))
        try:
            seconds = await self._until_work(queues, timeout)
            if seconds > 0:
                await waiter.wait(seconds)
        finally:
            self._wakeups.leave(waiter)

    async def _until_work(self, queues: Sequence[str], timeout: float) -> float:
        """Seconds until there may be work, by the store's clock; at most `timeout`."""
        await self._partitions.refresh()
        everywhere: dict[int, list[str]] = {n: [] for n in range(len(self._shards))}
        stops = self._spread.by_shard(queues) if queues else everywhere
        answers = await self._lookout.ask(
            stops, lambda number: self._shards[number].next_work(stops[number])
        )
        if len(answers) < len(stops):
            timeout = min(timeout, PROBE)
        return min([timeout, *(each / 1000 for each in answers.values() if each is not None)])
