"""The numbers of all processes of a worker together, as their supervisor tells them.

Each process sends all of its own now and then. What it sent last stays when it is gone, or
counters would go back whenever a process is replaced.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from typing import Final, NamedTuple

from ...observe.figures import Figures

PATIENCE: Final = 10.0
"""Seconds after which a process that has sent nothing does not count as ready."""


class Report(NamedTuple):
    """What a process has sent, and when."""

    figures: Figures
    fault: str
    at: float


class Sums:
    """Adds up; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._gone = Figures(slots=0)
        self._last: dict[Hashable, Report] = {}

    def take(self, process: Hashable, figures: Figures, fault: str) -> None:
        """Let these be the numbers of a process."""
        with self._lock:
            self._last[process] = Report(figures, fault, time.monotonic())

    def bury(self, process: Hashable) -> None:
        """Keep what a process has counted."""
        with self._lock:
            report = self._last.pop(process, None)
            if report is not None:
                self._gone.add_counts(report.figures)

    def total(self) -> Figures:
        with self._lock:
            total = Figures(slots=0)
            total.add(self._gone)
            for report in self._last.values():
                total.add(report.figures)
            return total

    def fault(self) -> str | None:
        """Why the worker is not ready, or None: one process that is, is enough."""
        fault = "No process of this worker has started yet."
        with self._lock:
            for report in self._last.values():
                is_new = time.monotonic() - report.at < PATIENCE
                if is_new and not report.fault:
                    return None
                fault = report.fault or "No process of this worker was heard of lately."
        return fault
