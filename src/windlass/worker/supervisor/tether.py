"""The line from a worker process to its supervisor, as the worker holds it.

A thread serves it: a handler that blocks the event loop must not be able to hide that from the
supervisor, nor to keep the process from noticing when to stop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import select
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from ...config import WorkerSettings
from ...errors import StoreError
from ...observe.figures import Figures
from ..memory import MIB, resident
from ..standstill import GIVING_BACK
from ..worker import Worker
from .note import VARIABLE, Note, decode_death, encode
from .shipping import Shipping
from .sources import loaded, signed

log = logging.getLogger("windlass")

LOOK: Final = 0.2
"""Seconds between two looks at how much was run and at the memory."""

ALIVE: Final = 1.0
"""Seconds between two signs of life."""

AGAIN_TO_TAKE_OVER: Final = 1.0

AGAIN: Final = 10.0
"""A process that is due and was not replaced says so again after this time."""


class Tether:
    """Tells the supervisor how it goes, and notices when to stop."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._turn = threading.Lock()
        self._told: frozenset[str] = frozenset()

    def tell(self, note: Note) -> None:
        # A supervisor that is gone shows by the end of the line.
        with suppress(OSError), self._turn:
            self._line.sendall(encode(note))

    @asynccontextmanager
    async def held(
        self,
        worker: Worker,
        settings: WorkerSettings,
        sources: Path | None,
        figures: Callable[[], Figures] | None,
        stop: Callable[[], None],
        noticed: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[None]:
        """Report on a worker that works, until it has stopped.

        When the supervisor lets go or is gone, `stop` is called on the event loop, and `noticed`
        at once, in another thread. With `sources`, name the source files that were loaded from
        below that folder; with `figures`, send what was counted.
        """
        service = _Service(self, worker, settings, sources, stop, noticed)
        shipping = None if figures is None else Shipping(figures, worker.fault, self.tell)
        if shipping is not None:
            shipping.start()
        longest_stop = worker.longest_stop + GIVING_BACK
        self.tell(Note("ready", worker=worker.id, longest_stop=longest_stop))
        service.start()
        try:
            yield
            self.tell(Note("stopped"))
        finally:
            service.stop()
            if shipping is not None:
                shipping.stop()

    def heard(self, seconds: float) -> bytes | None:
        """What the supervisor has said within that time, b"" at its end; None if nothing."""
        readable, _, _ = select.select([self._line], [], [], seconds)
        if not readable:
            return None
        with suppress(OSError):  # reset: it was killed
            return self._line.recv(65536)
        return b""

    def tell_sources(self, folder: Path) -> None:
        """Name the source files below a folder that were loaded since this was last asked for."""
        new = loaded(folder) - self._told
        if new:
            self._told |= new
            self.tell(Note("files", files=signed(new)))


class _Service:
    """Serves the line in a thread, while a worker works."""

    def __init__(
        self,
        line: Tether,
        worker: Worker,
        settings: WorkerSettings,
        sources: Path | None,
        stop: Callable[[], None],
        noticed: Callable[[], None],
    ) -> None:
        self._line = line
        self._worker = worker
        self._settings = settings
        self._sources = sources
        self._stop = stop
        self._noticed = noticed
        self._loop = asyncio.get_running_loop()
        self._ended = False
        self._heard = b""
        self._told_alive = self._told_due = float("-inf")

    def start(self) -> None:
        threading.Thread(target=self._run, name="windlass-tether", daemon=True).start()

    def stop(self) -> None:
        self._ended = True

    def _run(self) -> None:
        while not self._ended:
            said = self._line.heard(LOOK)
            if said == b"":
                self._noticed()
                with suppress(RuntimeError):  # the loop is closed: it has stopped
                    self._loop.call_soon_threadsafe(self._stop)
                return
            if said:
                self._hear(said)
            self._tell(time.monotonic())

    def _hear(self, said: bytes) -> None:
        *lines, self._heard = (self._heard + said).split(b"\n")
        for line in lines:
            taking_over = self._take_over(decode_death(line).worker)
            asyncio.run_coroutine_threadsafe(taking_over, self._loop)

    async def _take_over(self, dead: str) -> None:
        """Until it is done: the leases of the dead one may be long."""
        if self._worker.take_over is None:
            return
        while not self._ended:
            try:
                await self._worker.take_over(dead)
            except StoreError as error:
                log.warning("the jobs of %s could not be taken over yet: %s", dead, error)
                await asyncio.sleep(AGAIN_TO_TAKE_OVER)
            else:
                log.info("the jobs of worker %s, which has died, may run again", dead)
                self._line.tell(Note("took over", worker=dead))
                return

    def _tell(self, now: float) -> None:
        if self._sources is not None:
            # Handlers import modules too.
            self._line.tell_sources(self._sources)
        if now - self._told_alive >= ALIVE:
            self._told_alive = now
            self._line.tell(Note("alive"))
        if now - self._told_due >= AGAIN and (reason := self._due()):
            self._told_due = now
            self._line.tell(Note("due", reason))

    def _due(self) -> str | None:
        fault = self._worker.due()
        if fault is not None:
            return f"cannot work, {fault[0].lower()}{fault[1:].rstrip('.')}"
        if self._settings.max_jobs or self._settings.max_memory:
            return due(self._worker.ran, resident() // MIB, self._settings)
        return None


def due(ran: int, mebibytes: int, settings: WorkerSettings) -> str | None:
    """Why a process should be replaced, or None.

    One that has run nothing is never too large: its successor would be just the same.
    """
    if settings.max_jobs and ran >= settings.max_jobs:
        return f"has run {ran} jobs"
    if settings.max_memory and ran and mebibytes > settings.max_memory:
        return f"uses {mebibytes} MiB of memory"
    return None


def tether() -> Tether | None:
    """The line to the supervisor that started this process, if one did; to be asked for once."""
    number = os.environ.pop(VARIABLE, None)
    if number is None:
        return None
    line = socket.socket(fileno=int(number))
    line.set_inheritable(False)
    return Tether(line)
