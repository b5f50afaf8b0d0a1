"""Holds one resource of a worker open."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any

from ..errors import InvalidOption
from ..resources import Resource
from .executors.threads import Threads


class Keeper:
    """Opens a resource and closes it when it is told to.

    In a task of its own, since some things must be closed by the task that opened them, and
    a worker may be started by one task and stopped by another.
    """

    def __init__(
        self, resource: Resource[Any], needed: Mapping[str, Any], threads: Threads
    ) -> None:
        self.name = resource.name
        self._value: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._release = asyncio.Event()
        self._task = asyncio.create_task(self._keep(_opened(resource, needed, threads)))

    async def value(self) -> Any:
        """What it came to, once it is open; or what opening it raised."""
        try:
            await asyncio.wait({self._task, self._value}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        return self._value.result() if self._value.done() else self._task.result()

    async def close(self) -> None:
        self._release.set()
        await self._task

    async def _keep(self, opening: AbstractAsyncContextManager[Any]) -> None:
        async with opening as value:
            self._value.set_result(value)
            await self._release.wait()


async def called(func: Callable[..., Any], kwargs: Mapping[str, Any], threads: Threads) -> Any:
    """What a function returns: an `async def` on the event loop, a `def` in a thread."""
    if inspect.iscoroutinefunction(func):
        return await func(**kwargs)
    value = await threads.run(partial(func, **kwargs))
    return await value if inspect.iscoroutine(value) else value


@asynccontextmanager
async def _opened(
    resource: Resource[Any], needed: Mapping[str, Any], threads: Threads
) -> AsyncIterator[Any]:
    func = resource.func
    if inspect.isasyncgenfunction(func):
        async with asynccontextmanager(func)(**needed) as value:
            yield value
    elif inspect.isgeneratorfunction(func):
        manager = contextmanager(func)(**needed)
        value = await threads.run(manager.__enter__)
        try:
            yield value
        finally:
            await threads.run(partial(manager.__exit__, None, None, None))
    else:
        value = await called(func, needed, threads)
        if isinstance(value, Iterator | AsyncIterator) and not inspect.iscoroutinefunction(func):
            # To type checkers such a function looks like one that yields.
            raise InvalidOption(f"{resource.name} returned an iterator; it must yield it instead")
        yield value
