"""How far a long command has come: a bar on a terminal, nothing without one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..admin.change import BATCH

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Counts, and shows it on stderr. `total` is None where it is not known beforehand."""

    def __init__(self, title: str, total: int | None) -> None:
        self.count = 0
        self._title = title
        self._total = total
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Bar:
        # What takes one step is over before a bar could be seen.
        if sys.stderr.isatty() and (self._total is None or self._total > BATCH):
            self._progress = _progress()
            self._task = self._progress.add_task(self._title, total=self._total)
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def advance(self, count: int) -> None:
        self.show(self._title, self.count + count, self._total)

    def show(self, title: str, count: int, total: int | None) -> None:
        """Say how far it is by now, of what may have become more."""
        self.count = count
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, description=title, completed=count, total=total)


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
