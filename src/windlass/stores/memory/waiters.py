"""Who sleeps until something changes, in whatever loop and thread."""

from __future__ import annotations

import asyncio


class Waiters:
    def __init__(self) -> None:
        self._waiters: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    async def sleep(self, seconds: float) -> None:
        """Return when woken, or after so many seconds."""
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        self._waiters.add(waiter)
        try:
            await asyncio.wait_for(waiter[1].wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._waiters.discard(waiter)

    def wake(self) -> None:
        for loop, changed in tuple(self._waiters):
            loop.call_soon_threadsafe(changed.set)
