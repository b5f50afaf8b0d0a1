"""One time limit for many that come one after the other, with one timer for all of them.

`asyncio.timeout` makes a timer for each, and nearly all are for nothing: that is a tenth of what a
request costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


class Overdue(TimeoutError):
    """What was awaited took longer than it may; other time-outs inside of it are its own."""


class Deadline:
    """Ends what takes longer than `seconds`, as `asyncio.timeout` does."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends: dict[asyncio.Task[Any], float] = {}
        """in the order in which they come: who came first is over first"""
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def hold(self, awaitable: Awaitable[T]) -> T:
        """What is awaited by the running task, or `Overdue`. Not to be nested."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        before = task.cancelling()
        self._ends[task] = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_later(self.seconds, self._end_late, loop)
        try:
            return await awaitable
        except asyncio.CancelledError:
            # One that somebody else cancels as well is to be cancelled.
            if task in self._late and task.cancelling() <= before + 1:
                raise Overdue from None
            raise
        finally:
            self._ends.pop(task, None)
            if task in self._late:
                self._late.discard(task)
                task.uncancel()

    def _end_late(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer, now = None, loop.time()
        while self._ends:
            task, end = next(iter(self._ends.items()))
            if end > now:
                # Only now: the one that the timer was set for is done, most often.
                self._timer = loop.call_at(end, self._end_late, loop)
                return
            del self._ends[task]
            self._late.add(task)
            task.cancel()
