"""The line from a worker process to its supervisor, as the worker holds it."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from ...config import WorkerSettings
from ...observe.figures import Figures
from ..memory import MIB, resident
from ..worker import Worker
from .note import VARIABLE, Note, encode
from .shipping import Shipping
from .sources import loaded, signed

LOOK: Final = 0.2
"""Seconds between two looks at how much was run and at the memory."""

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
    ) -> AsyncIterator[None]:
        """Report on a worker that works; call `stop` when the supervisor lets go or is gone.

        With `sources`, name the source files that were loaded from below that folder; with
        `figures`, send what was counted.
        """
        loop = asyncio.get_running_loop()

        def on_readable() -> None:
            # Nothing is ever sent this way, so this is the end of the line.
            loop.remove_reader(self._line)
            stop()

        loop.add_reader(self._line, on_readable)
        watches = [loop.create_task(self._watch_limits(worker, settings))]
        if sources is not None:
            watches.append(loop.create_task(self._watch_sources(sources)))
        shipping = None if figures is None else Shipping(figures, worker.fault, self.tell)
        if shipping is not None:
            shipping.start()
        self.tell(Note("ready"))
        try:
            yield
        finally:
            loop.remove_reader(self._line)
            if shipping is not None:
                shipping.stop()
            for watch in watches:
                watch.cancel()

    async def _watch_limits(self, worker: Worker, settings: WorkerSettings) -> None:
        """Say so when enough was run, or too much memory is in use."""
        while settings.max_jobs or settings.max_memory:
            await asyncio.sleep(LOOK)
            reason = due(worker.ran, resident() // MIB, settings)
            if reason is not None:
                self.tell(Note("due", reason))
                await asyncio.sleep(AGAIN)

    async def _watch_sources(self, folder: Path) -> None:
        """Handlers import modules too."""
        while True:
            self.tell_sources(folder)
            await asyncio.sleep(LOOK)

    def tell_sources(self, folder: Path) -> None:
        """Name the source files below a folder that were loaded since this was last asked for."""
        new = loaded(folder) - self._told
        if new:
            self._told |= new
            self.tell(Note("files", files=signed(new)))


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
