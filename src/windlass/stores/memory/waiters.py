"""Who sleeps until something changes, in whatever loop and thread."""

from __future__ import annotations

import asyncio


class Waiters:
    def __init__(self) -> None:
        self._waiters: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        """in the order in which they came, so that a run can be repeated"""

    async def sleep(self, seconds: float) -> None:
        """Return when woken, or after so many seconds."""
        changed = asyncio.Event()
        self._waiters[changed] = asyncio.get_running_loop()
        try:
            await asyncio.wait_for(changed.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            del self._waiters[changed]

    def wake(self) -> None:
        for changed, loop in tuple(self._waiters.items()):
            loop.call_soon_threadsafe(changed.set)
