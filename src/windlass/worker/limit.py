"""The time that an attempt has: until its handler begins, and from then on anew.

Nothing that a handler does with its cancellation changes what the attempt comes to: it took too
long. While a call waits for a free thread, or for its child process to start, the clock stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

GRACE: Final = 1.0
"""How many seconds a coroutine has to end once it was cancelled; then it is left to itself."""


class AttemptTimeout(TimeoutError):
    """The handler took longer than its timeout."""


class Limit:
    """The time limit of one attempt. `leave` is called if its task does not end when it is over."""

    __slots__ = (
        "_leave",
        "_loop",
        "_over",
        "_paused",
        "_seconds",
        "_since",
        "_task",
        "_timer",
    )

    def __init__(self, seconds: float, leave: Callable[[AttemptTimeout], None]) -> None:
        self._seconds = seconds
        self._leave = leave
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._paused = self._over = False

    async def keep(self, work: Awaitable[Any]) -> Any:
        """The value of some work, if it came in time; `AttemptTimeout` if not.

        An error that the work raises of its own accord is told as it is, in time or not.
        """
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        before = task.cancelling()
        if not self._paused:
            self.begin()
        try:
            value = await work
        except asyncio.CancelledError:
            if self._end() and task.cancelling() <= before:
                raise self._error() from None
            raise
        except BaseException:
            self._end()
            raise
        if self._end():
            raise self._error()
        return value

    def begin(self) -> None:
        """Start the clock, from the beginning."""
        if self._task is None or self._over:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._paused = False
        self._since = self._loop.time()
        self._timer = self._loop.call_at(self._since + self._seconds, self._stop)

    def pause(self) -> None:
        """Stop the clock until it begins anew."""
        if self._over:
            return
        self._paused = True
        if self._timer is not None:
            self._timer.cancel()

    def _stop(self) -> None:
        assert self._task is not None
        self._over = True
        self._task.cancel()
        self._timer = self._loop.call_later(GRACE, self._leave, self._error())

    def _end(self) -> bool:
        """There is nothing to limit any more; whether it took too long."""
        task, self._task = self._task, None
        if self._timer is not None:
            self._timer.cancel()
        if self._over:
            assert task is not None
            task.uncancel()
            return True
        # What computes without awaiting lets no timer come before it is done.
        return not self._paused and self._loop.time() - self._since > self._seconds

    def _error(self) -> AttemptTimeout:
        return AttemptTimeout(f"the attempt took longer than {self._seconds:g} s")
