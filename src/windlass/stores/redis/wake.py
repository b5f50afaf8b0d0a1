"""Waiting for work: one subscription for a store, however many wait.

Scripts tell the name of a queue when it gets work, or gets it sooner. Nothing is lost between
a look and the wait for news: who waits is entered first and looks then.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from .listener import Listener
from .record import unpack_queue

log = logging.getLogger("windlass")

PATIENCE: Final = 2.0

Listen = Callable[[Callable[[bytes | None], None]], Listener]


class Waiter:
    """One who waits for some queues, or for every queue."""

    def __init__(self, queues: frozenset[str]) -> None:
        self.queues = queues
        self._loop = asyncio.get_running_loop()
        self._news: asyncio.Future[None] = self._loop.create_future()

    def tell(self) -> None:
        """There is news, or it is time."""
        if not self._news.done():
            self._news.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Return when there is news, at the latest after so many seconds."""
        # Not `wait_for`, whose task would stand between the news and the next claim.
        timer = self._loop.call_later(seconds, self.tell)
        try:
            await self._news
        finally:
            timer.cancel()


class Wakeups:
    """Hands the news of the channel to who waits for it."""

    def __init__(self, listen: Listen) -> None:
        self._listen = listen
        self._listener: Listener | None = None
        self._waiters: set[Waiter] = set()
        self._heard_once = asyncio.Event()

    async def enter(self, queues: frozenset[str]) -> Waiter:
        """Begin to wait; the first one opens the subscription, and waits for it a little."""
        if self._listener is None:
            self._listener = self._listen(self._heard)
        if not self._heard_once.is_set():
            try:
                await asyncio.wait_for(self._heard_once.wait(), PATIENCE)
            except TimeoutError:
                log.warning("no news of the store's queues can be had; looking from time to time")
        waiter = Waiter(queues)
        self._waiters.add(waiter)
        return waiter

    def leave(self, waiter: Waiter) -> None:
        self._waiters.discard(waiter)

    async def stop(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            await listener.stop()
        self._heard(None)

    def _heard(self, message: bytes | None) -> None:
        self._heard_once.set()
        # After an interruption anything may have happened.
        queue = None if message is None else unpack_queue(message)
        for waiter in self._waiters:
            if queue is None or not waiter.queues or queue in waiter.queues:
                waiter.tell()
