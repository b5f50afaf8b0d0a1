"""Notices that the worker's event loop is blocked, from a thread that nothing holds up.

An `async def` handler that computes, or calls what blocks, keeps the event loop from everything
else: no other job starts or ends, and none is claimed.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Final

LOOK: Final = 0.25
"""Seconds between two looks."""

SLOW: Final = 1.0
"""Seconds after which it is worth a word that the loop does nothing else."""

LONGEST_PATIENCE: Final = 5.0
SHORTEST_PATIENCE: Final = 1.0

LEASES: Final = 2
"""A worker that could not work for so many leases is not waited for any longer."""

DEPTH: Final = 30
"""So many calls are shown, the innermost ones."""


class Liveness:
    """Asks the event loop for a sign of life, again and again.

    Without one for half a lease, or some seconds if that is less, the loop is blocked: `blocked`
    is called once, `back` when it works again, and `looked` at each look, all in the thread. If
    that takes longer than a second, `slow` comes first.
    """

    def __init__(
        self,
        lease: float,
        blocked: Callable[[float], None],
        back: Callable[[float], None],
        looked: Callable[[], None] = lambda: None,
        slow: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self.patience = min(max(lease / 2, SHORTEST_PATIENCE), LONGEST_PATIENCE)
        self._blocked = blocked
        self._back = back
        self._looked = looked
        self._slow = slow
        self._loop = asyncio.get_running_loop()
        self._ident = threading.get_ident()
        self._waiting = False
        self._silence = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windlass-liveness", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Look no more. Stopping twice is allowed."""
        self._end.set()

    @property
    def silence(self) -> float:
        """For how long the loop has been blocked; 0 if it is not. From any thread."""
        return self._silence if self._silence >= self.patience else 0.0

    def stack(self) -> str:
        """What the thread of the event loop is at."""
        return stack(self._ident)

    def task(self) -> asyncio.Task[object] | None:
        """The task that the loop is in, if it is in one."""
        return asyncio.current_task(self._loop)

    def _run(self) -> None:
        looked = time.monotonic()
        with suppress(RuntimeError):  # the loop was closed
            while True:
                self._ask()
                if self._end.wait(LOOK):
                    return
                now = time.monotonic()
                self._note(now - looked)
                looked = now
                self._looked()

    def _ask(self) -> None:
        if not self._waiting:
            self._waiting = True
            self._loop.call_soon_threadsafe(self._answer)

    def _answer(self) -> None:
        self._waiting = False

    def _note(self, seconds: float) -> None:
        before = self._silence
        if self._waiting:
            # No more than the time between two looks, or so: a process that was frozen as a whole,
            # or a machine that slept, is not blocked.
            self._silence += min(seconds, 2 * LOOK)
            if before < self.patience <= self._silence:
                self._blocked(self._silence)
            elif before < SLOW <= self._silence:
                self._slow(self._silence)
        else:
            self._silence = 0.0
            if before >= self.patience:
                self._back(before)


def stack(thread: int | None) -> str:
    """What a thread is at; nothing if it has ended."""
    frame = sys._current_frames().get(thread or 0)
    return "".join(traceback.format_stack(frame, DEPTH)) if frame is not None else ""
