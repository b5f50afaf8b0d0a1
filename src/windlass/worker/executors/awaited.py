"""Handlers that return something to await, though they are no `async def`.

A `def` wrapper around an `async def` is such a handler: calling it makes a coroutine, and the
work is still to do.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any


class Awaited:
    """The value of some work; a value that can be awaited is awaited on this event loop too."""

    __slots__ = ("_work",)

    def __init__(self, work: Awaitable[Any]) -> None:
        self._work = work

    def __await__(self) -> Generator[Any, Any, Any]:
        value = yield from self._work.__await__()
        if hasattr(type(value), "__await__"):
            value = yield from value.__await__()
        return value


def call_to_its_end(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a handler where no event loop runs; what it returns is awaited if it can be."""
    value = func(*args, **kwargs)
    return asyncio.run(_value_of(value)) if hasattr(type(value), "__await__") else value


async def _value_of(work: Awaitable[Any]) -> Any:
    return await work
