"""Sends the numbers of a worker process to its supervisor, from a thread that nothing holds up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from ...observe.figures import Figures, encode
from .note import Note

INTERVAL: Final = 1.0


class Shipping:
    """Sends every second from `start`, and once more at `stop`."""

    def __init__(
        self,
        figures: Callable[[], Figures],
        fault: Callable[[], str | None],
        tell: Callable[[Note], None],
    ) -> None:
        self._figures = figures
        self._fault = fault
        self._tell = tell
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="windlass-figures", daemon=True)

    def start(self) -> None:
        self._send()
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()
        self._send()

    def _run(self) -> None:
        while not self._end.wait(INTERVAL):
            self._send()

    def _send(self) -> None:
        figures = encode(self._figures())
        self._tell(Note("figures", self._fault() or "", figures=figures))
