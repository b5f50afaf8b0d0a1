"""A pane: rows of one kind, each with a name by which it stays chosen while others come and go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, get_args

from .table import Cell, Column

Name = Literal["alerts", "queues", "active", "workers", "errors"]
NAMES: Final[tuple[Name, ...]] = get_args(Name)


class Row(NamedTuple):
    """One row; `job` is the id of the job that it is about, if it is about one."""

    key: str
    cells: Sequence[Cell]
    job: str | None = None
    paused: bool = False
    """of a queue"""

    def has(self, text: str) -> bool:
        """Whether a text is in it, in whatever case."""
        wanted = text.casefold()
        return any(wanted in cell.casefold() for cell in (self.key, *(c.text for c in self.cells)))


class Pane(NamedTuple):
    """What a pane shows. The title of its first column is its own."""

    name: Name
    columns: Sequence[Column]
    rows: Sequence[Row]
    nothing: str
    """what is said instead of rows"""

    def filtered(self, text: str) -> Pane:
        rows = [row for row in self.rows if row.has(text)]
        return self._replace(rows=rows, nothing=f"nothing here has {text!r}") if text else self

    def place(self, key: str | None, before: int) -> int:
        """Where a row is by now; if it is gone, what took the place that it had before."""
        for n, row in enumerate(self.rows):
            if row.key == key:
                return n
        return max(min(before, len(self.rows) - 1), 0)
