"""Services on a thread and an event loop of their own.

What keeps a worker's leases must go on while a handler blocks the worker's loop: async code
that computes for a minute would else lose its own lease and everyone else's.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Final

from ..errors import StoreError, StoreUnavailable
from ..service import Outage, Service
from ..stores.contract import Store
from .liveness import Liveness

log = logging.getLogger("windlass")

PAUSE: Final = 0.5

Connect = Callable[[], AbstractAsyncContextManager[Store]]
"""A store that is good for the event loop which enters it."""


class Aside:
    """Starts services in another thread, and stops them."""

    def __init__(
        self,
        connect: Connect,
        make: Callable[[Store], Sequence[Service]],
        outage: Outage,
        liveness: Liveness,
    ) -> None:
        self._connect = connect
        self._make = make
        self._outage = outage
        self._liveness = liveness
        self._patience = 0.0
        self._stop = asyncio.Event()
        self._ended = asyncio.Event()
        self._home = asyncio.get_running_loop()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windlass-aside", daemon=True)

    def start(self) -> None:
        self._liveness.start()
        self._thread.start()
        self._running.wait()

    async def stop(self, patience: float) -> None:
        """End the services and wait for their end, but no longer than this. Twice is allowed."""
        self._patience = patience
        self._liveness.stop()
        if self._loop is not None and self._thread.is_alive():
            with suppress(RuntimeError):  # its loop has closed in this very moment
                self._loop.call_soon_threadsafe(self._stop.set)
            with suppress(TimeoutError):  # the thread is left behind, and ends with the process
                await asyncio.wait_for(self._ended.wait(), patience + PAUSE)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        finally:
            with suppress(RuntimeError):  # nobody waits any more
                self._home.call_soon_threadsafe(self._ended.set)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._running.set()
        while not self._stop.is_set():
            try:
                async with self._connect() as store:
                    await self._serve_on(store)
            except StoreUnavailable as error:
                self._outage.note(error)
                await asyncio.sleep(PAUSE)
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
            service.outage = self._outage
            service.start()
        await self._stop.wait()
        try:
            async with asyncio.timeout(self._patience):
                for service in reversed(services):
                    await service.stop()
        except TimeoutError:
            for service in services:
                service.halt()
            log.warning("the store was not told that this worker ends; it is listed for a while")
