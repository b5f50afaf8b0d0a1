"""Several calls at once, or one after the other where there is no event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def together(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The answers to all calls, in their order."""
    if len(calls) == 1:
        return [await calls[0]]
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        # A blocking store, driven without a loop: nothing here suspends.
        return await _in_turn(calls)
    return await asyncio.gather(*calls)


async def _in_turn(calls: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    try:
        return [await call for call in calls]
    finally:
        for call in calls:
            call.close()  # nothing, unless one before it has failed
