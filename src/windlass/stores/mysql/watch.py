"""Wakes idle workers: at once for writes of this process, after a short while for others.

MySQL has no way to notify. So whoever waits asks, often at first and then less and less: work
often follows work. One question is one round trip of less than a millisecond's work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Final

FIRST_NAP: Final = 0.005
LONGEST_NAP: Final = 0.2
GROWTH: Final = 1.4

Look = Callable[[Sequence[str]], Awaitable[float | None]]
"""Seconds until one of these queues has a job that can be claimed: 0 for now, None for unknown."""


class Watch:
    """Those of one event loop who wait for work."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._waiters: set[asyncio.Future[None]] = set()

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        deadline = monotonic() + timeout
        nap = FIRST_NAP
        while True:
            # Entered before the look: what is written meanwhile cuts the nap short.
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                until_work = await self._look(queues)
                left = deadline - monotonic()
                if until_work is not None:
                    left = min(left, until_work)
                if left <= 0 or await _nap(waiter, min(nap, left)):
                    return
            finally:
                self._waiters.discard(waiter)
            nap = min(nap * GROWTH, LONGEST_NAP)

    def wake(self) -> None:
        """Let everybody who waits look for work, from whichever thread."""
        for waiter in tuple(self._waiters):
            waiter.get_loop().call_soon_threadsafe(_settle, waiter)


async def _nap(waiter: asyncio.Future[None], seconds: float) -> bool:
    """Sleep; whether somebody cut it short."""
    timer = asyncio.get_running_loop().call_later(seconds, waiter.cancel)
    try:
        await waiter
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return False
    finally:
        timer.cancel()
    return True


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
