"""Writes what becomes of jobs while the worker's event loop cannot: from the thread beside it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..core.model import Transition
from ..errors import StoreUnavailable
from ..service import Service
from ..stores.contract import Store

log = logging.getLogger("windlass")


class Returns:
    """Moves that wait to be written. It outlives connections, and may be asked by any thread.

    `written` is told, in the thread that writes, what is done with.
    """

    def __init__(self, written: Callable[[Sequence[Transition]], None]) -> None:
        self.waiting: deque[Transition] = deque()
        self.wake: Callable[[], None] = lambda: None
        self._written = written
        self._turn = threading.Lock()
        self._none = threading.Event()
        self._none.set()

    def put(self, moves: Sequence[Transition]) -> None:
        if moves:
            with self._turn:
                self._none.clear()
                self.waiting.extend(moves)
            self.wake()

    def drained(self, seconds: float) -> bool:
        """Wait until nothing waits any more, but no longer than this; whether that is so."""
        return self._none.wait(seconds)

    def done(self, moves: Sequence[Transition]) -> None:
        """These were the first ones."""
        self._written(moves)
        with self._turn:
            for _ in moves:
                self.waiting.popleft()
            if not self.waiting:
                self._none.set()


class Returner(Service):
    """Writes them over a store of the thread beside the event loop."""

    def __init__(self, store: Store, returns: Returns) -> None:
        super().__init__()
        self._store = store
        self._returns = returns

    async def run(self) -> None:
        loop, some = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # this loop is closed, and another will look
                loop.call_soon_threadsafe(some.set)

        self._returns.wake = wake
        while not self.stopping:
            some.clear()
            if batch := list(self._returns.waiting):
                await self._write(batch)
            else:
                await some.wait()

    async def _write(self, batch: Sequence[Transition]) -> None:
        try:
            await self._store.finish(batch)
        except StoreUnavailable:
            raise
        except Exception:
            for move in batch:
                await self._write_alone(move)
        else:
            self._returns.done(batch)

    async def _write_alone(self, move: Transition) -> None:
        """One that the store refuses must not keep the others from being written."""
        try:
            await self._store.finish([move])
        except StoreUnavailable:
            raise
        except Exception:
            log.exception("job %s: the store cannot take that it is %s", move.id, move.state)
        self._returns.done([move])
