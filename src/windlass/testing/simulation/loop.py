"""An event loop whose time jumps to the next thing that is to happen."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, Final

TURN: Final = 1e-6
"""How long a turn of the loop takes at the least: one that asks for no time at all would else be
asked again in the same moment, for ever."""


class Stuck(RuntimeError):
    """Everybody waits, and nothing will ever happen."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """Next to nothing here takes time but waiting."""

    def __init__(self) -> None:
        self._present = 0.0
        super().__init__(_Jump(self))

    def time(self) -> float:
        return self._present

    def jump(self, seconds: float) -> None:
        self._present += seconds

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.Handle:
        """There is one thread; the socket that would wake this loop is never looked at."""
        return self.call_soon(callback, *args, context=context)


class _Jump(selectors.SelectSelector):
    """Instead of waiting for sockets, of which there are none."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Stuck("everybody waits, and nobody has set a time")
        self._loop.jump(max(timeout, TURN))
        return []
