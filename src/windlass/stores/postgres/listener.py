"""Hears which queues may have work: one connection that listens, for all who wait.

Only while somebody waits, or did shortly before. A connection that is lost is made anew; whoever
waits is told, for what was said meanwhile nobody heard.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from asyncpg.exceptions import PostgresError

from .connection import Raw
from .fault import LOST, reason
from .insert import RECALL

log = logging.getLogger("windlass")

PULSE: Final = 5.0
"""Seconds between two questions whether the connection still leads to somebody."""

PAUSE: Final = 0.5
"""Seconds between two tries to connect, at most: not all at one moment."""


class Listener:
    """Wakes waiters: those of a queue when it is named, all when it cannot be known."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Raw]],
        channel: str,
        timeout: float,
        recall: Callable[[], None],
    ) -> None:
        """`recall` is called when jobs may be where nobody looks any more."""
        self._timeout = timeout
        self._connect = connect
        self._channel = channel
        self._recall = recall
        self._waiters: dict[asyncio.Future[None], frozenset[str]] = {}
        self._task: asyncio.Task[None] | None = None
        self.listens = False

    def start(self) -> None:
        """Begin to listen, unless that has begun."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="postgres-listen")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        self.wake()

    async def wait(self, queues: frozenset[str], timeout: float) -> bool:
        """Sleep; whether something was heard of one of the queues (none: of any)."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = queues
        try:
            await asyncio.wait((waiter,), timeout=timeout)
        finally:
            del self._waiters[waiter]
        return waiter.done()

    def wake(self, queue: str | None = None) -> None:
        """Wake who waits for this queue, or everybody."""
        for waiter, queues in self._waiters.items():
            if not waiter.done() and (queue is None or not queues or queue in queues):
                waiter.set_result(None)

    async def _run(self) -> None:
        while True:
            try:
                raw = await self._connect()
            except (PostgresError, *LOST) as error:
                log.debug("cannot listen for jobs, trying again: %s", reason(error))
                await asyncio.sleep(random.uniform(PAUSE / 2, PAUSE))
                continue
            try:
                await raw.add_listener(self._channel, self._heard)
                self.listens = True
                # What was said before, nobody heard: look once more.
                self._recall()
                self.wake()
                await self._stay(raw)
            except (PostgresError, *LOST) as error:
                log.debug("the connection that listens for jobs was lost: %s", reason(error))
            finally:
                self.listens = False
                raw.terminate()
                self.wake()

    async def _stay(self, raw: Raw) -> None:
        """Return when the connection is lost; one that only seems to be there counts as lost."""
        gone = asyncio.Event()
        raw.add_termination_listener(lambda _: gone.set())
        while not gone.is_set() and not raw.is_closed():
            with suppress(TimeoutError):
                await asyncio.wait_for(gone.wait(), PULSE)
            if not gone.is_set():
                await raw.execute("SELECT 1", timeout=self._timeout)

    def _heard(self, _raw: Any, _pid: int, _channel: str, queue: object) -> None:
        name = str(queue)
        if name.startswith(RECALL):
            self._recall()
        self.wake(name.removeprefix(RECALL))
