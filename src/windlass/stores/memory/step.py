"""What makes a method of the store one step."""

from __future__ import annotations

import threading
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ...core.clock import Clock
from .lanes import Lanes


class Stepping(Protocol):
    """What a step takes of the store."""

    _lock: threading.RLock
    _lanes: Lanes
    _now: Clock


P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=Stepping)
Method = Callable[Concatenate[S, P], Coroutine[Any, Any, T]]


def atomic(method: Method[S, P, T]) -> Method[S, P, T]:
    """One step for all threads: handlers may enqueue from theirs. The method never suspends."""

    @wraps(method)
    async def step(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            answer = await method(self, *args, **kwargs)
            self._lanes.settle(self._now())
            return answer

    return step
