"""What commands print: JSON for programs, tables and plain words for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click
import msgspec

from .text import shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDE: Final = 1_000
"""Columns where there is no terminal: what is piped on is not cut."""

STYLES: Final = {
    "active": "cyan",
    "retry": "yellow",
    "completed": "green",
    "dead": "red",
    "cancelled": "dim",
}


class Column(NamedTuple):
    """One column of a table."""

    title: str
    number: bool = False
    whole: bool = False
    """never cut, however narrow the terminal: it is there to be copied"""


def print_json(value: Any) -> None:
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def print_table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    console().print(table(columns, rows))


def console() -> Console:
    """Where tables go; without a terminal, rich prints no colours by itself."""
    from rich.console import Console

    made = Console(highlight=False)
    if not made.file.isatty():
        made.width = WIDE
    return made


def table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Table:
    """A table without a frame; a cell that names a state has the state's colour."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title, number, whole in columns:
        made.add_column(
            title,
            justify="right" if number else "left",
            no_wrap=True,
            min_width=max(len(title), 36 if whole else 0),
            overflow="fold" if whole else "ellipsis",
        )
    for row in rows:
        # As `Text`, for a plain string would be searched for markup.
        made.add_row(*(Text(shown(cell), STYLES.get(cell, "")) for cell in row))
    return made
