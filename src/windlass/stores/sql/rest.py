"""What is left to do for dependents after the call that ended a job: done beside the others.

Not before the call returns: a worker whose finish takes long takes its jobs for lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ...errors import StoreUnavailable

log = logging.getLogger("windlass")


class Rest:
    """Goes on in bounded steps until nothing is owed. If it is cut off, the upkeep goes on."""

    def __init__(self, step: Callable[[], Awaitable[int]], *, blocking: bool) -> None:
        self._step = step
        self._blocking = blocking
        self._asked = False
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """See to all that is owed; where an event loop is at hand, without waiting for it."""
        self._asked = True
        if self._blocking:
            await self._run()
        elif self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="sql-dependents")

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while self._asked:
            self._asked = False
            try:
                while await self._step():
                    pass
            except StoreUnavailable as error:
                log.warning("dependents of ended jobs are left to the upkeep: %s", error)
