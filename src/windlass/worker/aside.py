"""Services on a thread and an event loop of their own.

What keeps a worker's leases must go on while a handler blocks the worker's loop: async code
that computes for a minute would else lose its own lease and everyone else's.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from ..errors import StoreError
from ..service import Service
from ..stores.contract import Store

log = logging.getLogger("windlass")

PAUSE: Final = 0.5

Connect = Callable[[], AbstractAsyncContextManager[Store]]
"""A store that is good for the event loop which enters it."""


class Aside:
    """Starts services in another thread, and stops them."""

    def __init__(self, connect: Connect, make: Callable[[Store], Sequence[Service]]) -> None:
        self._connect = connect
        self._make = make
        self._stop = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windlass-aside", daemon=True)

    def start(self) -> None:
        self._thread.start()
        self._running.wait()

    async def stop(self) -> None:
        """End the services and wait for their end. Stopping twice is allowed."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running.set()
        while not self._stop.is_set():
            try:
                async with self._connect() as store:
                    await self._serve_on(store)
            except StoreError as error:
                log.warning("the heartbeat cannot reach the store, trying again: %s", error)
                await asyncio.sleep(PAUSE)
            except Exception:
                # Without it every lease would run out while the worker goes on.
                log.exception("the heartbeat failed, starting it again")
                await asyncio.sleep(PAUSE)

    async def _serve_on(self, store: Store) -> None:
        services = self._make(store)
        for service in services:
            service.start()
        await self._stop.wait()
        for service in reversed(services):
            await service.stop()
