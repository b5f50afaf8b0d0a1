"""Work of a store that goes on in the background, and ends with the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Coroutine, Sequence
from typing import Any, Final, TypeVar

from ...errors import StoreError

log = logging.getLogger("windlass")

LOOKS: Final = 5

T = TypeVar("T")


class Errands:
    """Starts what must not hold up its caller.

    A blocking store has no background: there, what is run is run to its end.
    """

    def __init__(self, *, blocking: bool) -> None:
        self._blocking = blocking
        self._going: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task that need not be looked at again."""
        task = asyncio.get_running_loop().create_task(work)
        self._going.add(task)
        task.add_done_callback(self._end)
        return task

    async def run(
        self, what: str, works: Sequence[Coroutine[Any, Any, None]], limit: float = 0.0
    ) -> None:
        """Wait for some work, but no longer than `limit` seconds; failures are logged."""
        if self._blocking:
            for work in works:
                await _logged(what, work)
        else:
            await ended([self.start(_logged(what, work)) for work in works], limit)

    async def stop(self) -> None:
        going = list(self._going)
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._going.discard(task)
        if not task.cancelled():
            task.exception()  # else asyncio complains that nobody asked


async def ended(tasks: Collection[asyncio.Task[Any]], limit: float) -> None:
    """Return when all of these have ended, or after `limit` seconds.

    Not by the clock alone: while something else blocks the event loop, answers wait to be read.
    """
    waiting = set(tasks)
    for _ in range(LOOKS):
        if waiting and limit > 0:
            _, waiting = await asyncio.wait(waiting, timeout=limit / LOOKS)


async def _logged(what: str, work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except StoreError as error:
        log.warning("%s: %s", what, error)
