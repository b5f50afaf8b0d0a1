"""Tells workers of new jobs, beside the inserts.

Commits that notify wait for each other in the whole server. So an insert does not notify by itself,
but for the first one after a while: who stores one job and ends may not live to tell. After that
it is told here, once for all that came meanwhile. A notice that is lost costs a look of an idle
worker, which takes one every second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import Final

from ...errors import StoreError
from ...loops import may_be_left
from ..sql.operation import Operation, Statement
from .database import PostgresDatabase

log = logging.getLogger("windlass")

SHORTEST, LONGEST = 0.005, 0.02
"""Seconds between two notices: the more of them follow each other, the longer."""

LOOKS: Final = 10
"""How often it looks for a connection that nobody uses before it asks for another."""

CALM: Final = 1.0
"""After so many seconds without a notice an insert notifies by itself."""

FAREWELL: Final = 1.0
"""Seconds that closing waits for what is still to be told."""


class Notifier:
    """What one store has to tell."""

    def __init__(self, database: PostgresDatabase, clock: Callable[[], float] = monotonic) -> None:
        self._database = database
        self._clock = clock
        self._queues: set[str] = set()
        self._pause = SHORTEST
        self._told_at = float("-inf")
        self._next_at = float("-inf")
        self._task: asyncio.Task[None] | None = None

    def is_calm(self) -> bool:
        """Whether the next insert is to notify by itself; the one after it is not."""
        now = self._clock()
        calm = now - self._told_at >= CALM
        if calm:
            self._told_at = now
        return calm

    def tell(self, queues: Iterable[str]) -> None:
        """Have it told that there are jobs in these queues, which are stored."""
        self._queues.update(queues)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="postgres-notify")
            may_be_left(self._task)

    async def close(self) -> None:
        if self._task is not None and not self._task.get_loop().is_closed():
            self._next_at = float("-inf")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._task, FAREWELL)

    async def _run(self) -> None:
        while self._queues:
            await asyncio.sleep(max(0.0, self._next_at - self._clock()))
            await self._await_connection()
            queues, self._queues = sorted(self._queues), set()
            since, self._told_at = self._told_at, self._clock()
            follows = self._told_at - since < 2 * self._pause
            self._pause = min(2 * self._pause, LONGEST) if follows else SHORTEST
            self._next_at = self._told_at + self._pause
            await self._send(queues)

    async def _await_connection(self) -> None:
        """Wait for one that is open, for some moments: inserts give theirs back soon, and a loop
        that ends would cut off one that is being opened."""
        for _ in range(LOOKS):
            if self._database.has_idle:
                return
            await asyncio.sleep(SHORTEST)

    async def _send(self, queues: list[str]) -> None:
        try:
            await self._database.run(lambda now, again: _tell(queues))
        except StoreError as error:
            # Idle workers look by themselves, and then find the jobs.
            log.debug("workers could not be told of new jobs: %s", error)


def _tell(queues: list[str]) -> Operation[None]:
    yield Statement("tell", {"queues": queues})
