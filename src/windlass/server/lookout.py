"""Looks at a store that serve all who ask within a moment.

Many ask for the same again and again, and a look is a handful of calls of the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from ..stores.contract import Store

T = TypeVar("T")

MOST_KEPT: Final = 100
"""So many looks are kept, each for callers that see other queues."""


class Lookout(Generic[T]):
    """Takes looks of one kind, and remembers each for `lasts` seconds."""

    def __init__(self, take: Callable[[Store], Coroutine[Any, Any, T]], lasts: float) -> None:
        self.lasts = lasts
        self._take = take
        self._looks: dict[frozenset[str], tuple[float, asyncio.Task[T]]] = {}

    async def get(self, store: Store, queues: frozenset[str]) -> T:
        """A look at the store as callers see it who are bound to these queues."""
        now = asyncio.get_running_loop().time()
        taken = self._looks.get(queues)
        if taken is None or now - taken[0] >= self.lasts or _has_failed(taken[1]):
            if len(self._looks) >= MOST_KEPT:
                self._looks.clear()
            taken = self._looks[queues] = (now, asyncio.create_task(self._take(store)))
        # Others may wait for the same look: who leaves does not end it.
        return await asyncio.shield(taken[1])


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
