"""The one life cycle of every background part: start, run until stopped, stop."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
from abc import ABC, abstractmethod
from typing import Final

from .errors import SchemaMismatch, StoreError, StoreUnavailable

log = logging.getLogger("windlass")

LONGEST_BACKOFF = 1.0
"""In seconds: a part is back about so long, at most, after the engine is."""

AGAIN: Final = 10.0
"""How often it is told that the store still does not answer, in seconds."""


class Outage:
    """Tells of a store that does not answer: once now and then, for all parts that share this."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._since: float | None = None
        self._told_at = float("-inf")
        self._is_known = False

    @property
    def stands(self) -> bool:
        """Whether the store has not answered since it was last asked."""
        return self._since is not None

    def note(self, error: StoreError) -> None:
        """It did not answer a part, which will ask again."""
        with self._turn:
            now = time.monotonic()
            self._since = self._since or now
            if now - self._told_at < AGAIN:
                return
            self._told_at, self._is_known = now, True
        what = "did not answer" if isinstance(error, StoreUnavailable) else "cannot be used"
        log.warning("the store %s, trying again: %s", what, error)

    def over(self) -> None:
        """It has answered."""
        if self._since is None:
            return
        with self._turn:
            since, self._since = self._since, None
            known, self._is_known = self._is_known, False
        if since is not None and known:
            log.info("the store answers again, after %.0f s", time.monotonic() - since)


class Service(ABC):
    """A part that runs in the background.

    `run` is written as if nothing could fail. What it raises is logged and it is started
    again after a short, growing, jittered pause: no part goes deaf after an outage.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self.outage = Outage()
        """where it is told that the store does not answer; parts of one whole share one"""

    @property
    def name(self) -> str:
        return type(self).__name__.lower()

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    @abstractmethod
    async def run(self) -> None:
        """Do the work until `stopping`; returning ends the service."""

    def start(self) -> None:
        self._task = asyncio.create_task(self._supervise(), name=f"windlass-{self.name}")

    async def stop(self) -> None:
        """End the service and wait for its end. Stopping twice is allowed."""
        self._stopping.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def halt(self) -> None:
        """End it at once, without any last words to the store."""
        self._stopping.set()
        if self._task is not None:
            self._task.cancel()

    async def pause(self, seconds: float) -> None:
        """Sleep, but wake at once when the service is to stop."""
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return

    async def _supervise(self) -> None:
        backoff = 0.05
        while not self.stopping:
            started = asyncio.get_running_loop().time()
            try:
                await self.run()
                return
            except (StoreUnavailable, SchemaMismatch) as error:
                self.outage.note(error)
            except asyncio.CancelledError:
                if self.stopping or is_being_cancelled():
                    raise
                log.exception("%s: something that it waited for was cancelled", self.name)
            except Exception:
                log.exception("%s: failed, starting it again", self.name)
            if asyncio.get_running_loop().time() - started > LONGEST_BACKOFF:
                backoff = 0.05
            await self.pause(backoff * random.uniform(0.5, 1))
            backoff = min(backoff * 2, LONGEST_BACKOFF)


def is_being_cancelled() -> bool:
    """Whether the present task is, and not just something that it awaits."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
