"""The child processes of a worker that are there, and for how long each may be.

A child is used again, for it takes a while to start. One that has done its number of jobs or has
grown is ended instead, between two jobs; so is one that has nothing to do for long.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple

from ...config import WorkerSettings
from .spawned import Spawned
from .threads import Threads

LAST_WORDS: Final = 2.0
"""How many seconds a child that is not needed any more has to end by itself."""

LOOKS: Final = 4
"""How often, in the shortest of its times, a child is looked at."""

MIB: Final = 1024 * 1024


class ChildLimits(NamedTuple):
    """Of each child; times are in seconds."""

    jobs: int = 0
    """0 is any number"""
    memory: int = 0
    """resident, in MiB; 0 is any amount"""
    idle: float = 300.0
    start: float = 60.0
    """from when a child has an order until it calls the handler"""

    @classmethod
    def of(cls, settings: WorkerSettings) -> ChildLimits:
        """Those of a worker with these settings."""
        return cls(
            settings.child_max_jobs,
            settings.child_max_memory,
            settings.child_idle,
            settings.child_start,
        )


class Seat:
    """The child that a call has now. It is killed only while it is that call's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: Spawned | None = None
        self._killed = False
        self.late = False
        """it was killed because the handler did not begin"""

    def take(self, child: Spawned) -> None:
        """A call that was stopped before this kills it here, and finds out when it uses it."""
        with self._lock:
            self._child = child
            if self._killed:
                child.kill()

    def free(self) -> bool:
        """Let go of the child; whether another call can have it."""
        with self._lock:
            self._child = None
            return not self._killed

    def kill(self) -> None:
        with self._lock:
            self._killed = True
            if self._child is not None:
                self._child.kill()


class Children:
    """Those without work, and the calls whose child has not begun. Both change in threads."""

    def __init__(self, limits: ChildLimits, threads: Threads) -> None:
        self.limits = limits
        self._threads = threads
        self._loop = asyncio.get_running_loop()
        self._idle: list[Spawned] = []
        """the one that was used last is at the end, and is used first"""
        self._ending: set[Spawned] = set()
        self._starting: dict[Seat, float] = {}
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None

    def watch(self) -> None:
        """Look at them from time to time, while there are any. On the event loop."""
        if self._timer is None and not self._closed:
            pause = min(self.limits.idle, self.limits.start) / LOOKS
            self._timer = self._loop.call_later(pause, self._look)

    def begin(self, seat: Seat) -> None:
        """A child has an order."""
        self._starting[seat] = time.monotonic()

    def begun(self, seat: Seat) -> None:
        """It calls the handler, or is gone."""
        self._starting.pop(seat, None)

    def take(self) -> Spawned | None:
        """One that is idle, and now the caller's."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def keep(self, child: Spawned) -> None:
        """Take one back that has done a job."""
        child.jobs += 1
        child.idle_since = time.monotonic()
        limits = self.limits
        if (0 < limits.jobs <= child.jobs) or (0 < limits.memory * MIB < child.resident):
            self._end_soon(child)
            return
        self._idle.append(child)
        if self._closed:
            self._retire()
        elif self._timer is None:
            with suppress(RuntimeError):  # the loop is closed; nobody works any more
                self._loop.call_soon_threadsafe(self.watch)

    def close(self) -> None:
        """Let those that are idle end. One that is busy is killed by stopping its call."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        # Not a daemon: the interpreter waits for it, so that children can end in good order.
        threading.Thread(target=self._retire, name="windlass-retire").start()

    def _look(self) -> None:
        self._timer = None
        now = time.monotonic()
        for seat, since in list(self._starting.items()):
            if now - since > self.limits.start:
                seat.late = True
                seat.kill()
        while self._idle and now - self._idle[0].idle_since > self.limits.idle:
            try:
                child = self._idle.pop(0)
            except IndexError:  # a call was quicker
                break
            if now - child.idle_since > self.limits.idle:
                self._end_soon(child)
            else:  # a call was quicker, and this is the one behind
                self._idle.append(child)
        if self._idle or self._starting:
            self.watch()

    def _end_soon(self, child: Spawned) -> None:
        """End one that nobody has, without waiting for it."""
        child.hang_up()
        self._ending.add(child)
        end = partial(self._end, child)
        try:
            self._loop.call_soon_threadsafe(self._threads.run, end)
        except RuntimeError:  # the loop is closed, and nobody is waiting
            end()

    def _end(self, child: Spawned) -> None:
        child.end(LAST_WORDS)
        self._ending.discard(child)

    def _retire(self) -> None:
        idle = []
        while (child := self.take()) is not None:
            child.hang_up()
            idle.append(child)
        # Those that are ending already, too: the event loop may have been closed before it told.
        for child in [*idle, *self._ending]:
            self._end(child)
        # Last, because the system kills a child when the thread that started it ends.
        self._threads.close()
