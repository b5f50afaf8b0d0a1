"""Ends a worker when its queues are empty: for cron, for CI, for a batch that is to be done.

A queue is empty when no job of it is pending or active, here or elsewhere, and none waits for the
rate of a limit. Jobs whose time is to come stay, and so do those of a paused queue.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from ..core.lane import Lane
from ..core.model import QueueStats
from ..core.states import State
from ..service import Service
from ..stores.contract import Store
from .fetcher import Fetcher
from .hand import Hand

log = logging.getLogger("windlass")

SHORTEST: Final = 0.02
LONGEST: Final = 0.5
"""Between two looks, in seconds."""

BATCH: Final = 1_000
LATER: Final = (State.SCHEDULED, State.RETRY, State.BLOCKED)


class Burst(Service):
    """Looks at the queues while the worker is idle, and calls `done` once nothing is left to do."""

    def __init__(
        self,
        store: Store,
        fetcher: Fetcher,
        hand: Hand,
        ran: Callable[[], int],
        done: Callable[[], None],
    ) -> None:
        super().__init__()
        self._store = store
        self._fetcher = fetcher
        self._hand = hand
        self._ran = ran
        self._done = done
        self.is_done = False

    async def run(self) -> None:
        pause = SHORTEST
        while not self.stopping:
            if self._is_idle and (left := await self._left()) is not None:
                log.info("the queues are empty: %d attempt(s) were run here%s", self._ran(), left)
                self.is_done = True
                self._done()
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST)

    @property
    def _is_idle(self) -> bool:
        return self._fetcher.found_nothing and not len(self._hand)

    async def _left(self) -> str | None:
        """What is left for later, or None if something is to be done now."""
        served = [each for each in await self._store.queues() if self._fetcher.serves(each.name)]
        working = [each for each in served if not each.paused]
        counts = totals(working)
        if counts[State.PENDING] or counts[State.ACTIVE] or await self._store.unblock(BATCH):
            return None
        if counts[State.BLOCKED] and await self._waits_for_a_rate({each.name for each in working}):
            return None
        # What was claimed, or came due, while the store was asked.
        return told(totals(served)) if self._is_idle else None

    async def _waits_for_a_rate(self, queues: set[str]) -> bool:
        cursor: str | None = None
        while True:
            page = await self._store.lanes(BATCH, cursor)
            lanes = [each.lane for each in page.lanes if each.waiting and each.queue in queues]
            if any(map(is_timed, lanes)):
                return True
            cursor = page.cursor
            if cursor is None:
                return False


def is_timed(lane: Lane) -> bool:
    """Whether time alone lets the jobs of a lane go on."""
    return not lane.strict and bool(lane.starts or lane.size)


def totals(queues: Sequence[QueueStats]) -> Counter[State]:
    found: Counter[State] = Counter()
    for queue in queues:
        found.update(queue.counts)
    return found


def told(counts: Counter[State]) -> str:
    """What is left, for the end of a sentence."""
    later = sum(counts[state] for state in LATER)
    parts = [f"{later} job(s) that wait for their time or for others"] if later else []
    if counts[State.PENDING]:
        parts.append(f"{counts[State.PENDING]} in paused queues")
    return f"; left are {' and '.join(parts)}" if parts else ""
