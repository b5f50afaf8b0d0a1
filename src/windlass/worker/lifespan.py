"""What surrounds the jobs of a worker: resources that are held open, and hooks at both ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from ..errors import StartupFailed
from ..resources import Provided, Values, filled, in_order
from ..task import Registry
from .executors.threads import Threads
from .keeper import Keeper, called

log = logging.getLogger("windlass")


class Lifespan:
    """Opens, and undoes it in reverse.

    Resources are opened first and closed last, so that hooks can use them.
    """

    def __init__(self, registry: Registry, limit: float) -> None:
        self.values: Values = {}
        """the resources that are open"""
        self._registry = registry
        self._limit = limit
        self._threads = Threads(1, "windlass-hook")
        self._keepers: list[Keeper] = []
        self._started = False

    @property
    def size(self) -> int:
        """How many hooks and resources there are to be waited for at the end."""
        return len(self._registry.on_shutdown) + len(in_order(self._registry.needs(), {}))

    async def open(self) -> None:
        """Open what tasks and hooks need, then run the start-up hooks.

        If one fails, what was opened is closed again and `StartupFailed` has the reason.
        """
        try:
            await self._open_resources()
            for hook in self._registry.on_startup:
                await _first(f"the start-up hook {hook.name}", self._call(hook))
        except BaseException:
            await self._close_resources()
            raise
        self._started = True

    async def close(self) -> None:
        """Run the shutdown hooks and close everything, each within its time; never raises."""
        if self._started:
            self._started = False
            for hook in reversed(self._registry.on_shutdown):
                await self._last(f"the shutdown hook {hook.name}", self._call(hook))
            await self._close_resources()

    async def _open_resources(self) -> None:
        registry = self._registry
        self.values.update(registry.overrides)
        for resource in in_order(registry.needs(), registry.overrides):
            needed = filled(resource.needs, self.values, {}, resource.name)
            keeper = Keeper(resource, needed, self._threads)
            value = await _first(f"the resource {resource.name}", keeper.value())
            self.values[resource] = value
            self._keepers.append(keeper)

    async def _close_resources(self) -> None:
        while self._keepers:
            keeper = self._keepers.pop()
            await self._last(f"closing the resource {keeper.name}", keeper.close())
        self.values.clear()
        self._threads.close()

    async def _call(self, hook: Provided) -> None:
        await called(hook.func, filled(hook.needs, self.values, {}, hook.name), self._threads)

    async def _last(self, what: str, work: Awaitable[None]) -> None:
        """Wait as long as it may take, and no longer: it may not let itself be cancelled."""
        task = asyncio.ensure_future(work)
        await asyncio.wait({task}, timeout=self._limit)
        if not task.done():
            task.cancel()
            log.error("%s took longer than %g s and was given up", what, self._limit)
        elif task.cancelled():
            log.error("%s was cancelled", what)
        elif (error := task.exception()) is not None:
            log.error("%s failed", what, exc_info=error)


async def _first(what: str, work: Awaitable[Any]) -> Any:
    try:
        return await work
    except Exception as error:
        log.debug("%s failed", what, exc_info=True)
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise StartupFailed(f"The worker did not start: {what} failed: {reason}") from error
