"""Columns that fit the screen: first the long ones give way, then those that matter least go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .frame import Line, Span, Style, fit

GAPS: Final = (2, 1)
"""Blanks between columns, the first if there is room for it."""


class Column(NamedTuple):
    """One column."""

    title: str
    right: bool = False
    least: int = 0
    """how narrow it may become if its content is wide; 0 if it may not"""
    rank: int = 0
    """where columns do not fit, those with the highest rank are left out first; 0 never is"""
    usual: int = 0
    """how wide its content may become soon: a column that grows moves all behind it"""


class Cell(NamedTuple):
    """What a row has in a column."""

    text: str
    style: Style = Style.PLAIN


class Table:
    """Rows in the columns that there is room for."""

    def __init__(
        self,
        columns: Sequence[Column],
        rows: Sequence[Sequence[Cell]],
        width: int,
        more: str = "…",
    ) -> None:
        self._columns = columns
        self._more = more
        natural = [
            max([len(column.title), column.usual, *(Span(row[n].text).width for row in rows)])
            for n, column in enumerate(columns)
        ]
        fits = sum(natural) + GAPS[0] * (len(natural) - 1) <= width
        self._gap = GAPS[0 if fits else 1]
        self._widths = _widths(columns, natural, width, self._gap)

    def line(self, cells: Sequence[Cell], style: Style | None = None) -> Line:
        """A row; a style that is given is that of the whole line."""
        pieces: list[Span] = []
        for n, width in self._widths.items():
            text = fit(cells[n].text, width, right=self._columns[n].right, more=self._more)
            gap = "" if not pieces else " " * self._gap
            pieces.append(Span(gap + text, style or cells[n].style))
        return tuple(pieces)


def _widths(
    columns: Sequence[Column], natural: Sequence[int], width: int, gap: int
) -> dict[int, int]:
    """The width of each column that is shown."""
    shown = dict(enumerate(natural))
    while True:
        over = sum(shown.values()) + gap * (len(shown) - 1) - width
        if over <= 0:
            return shown
        spare = {n: shown[n] - columns[n].least for n in shown if 0 < columns[n].least < shown[n]}
        if sum(spare.values()) >= over:
            return shown | _shrunk(shown, spare, over)
        last = max(shown, key=lambda n: (columns[n].rank, n))
        if columns[last].rank == 0:
            return shown | {n: columns[n].least for n in spare}
        del shown[last]


def _shrunk(shown: dict[int, int], spare: dict[int, int], over: int) -> dict[int, int]:
    """The widest give way first, cell by cell."""
    widths = {n: shown[n] for n in spare}
    for _ in range(over):
        widest = max((n for n in spare if spare[n]), key=lambda n: widths[n])
        widths[widest] -= 1
        spare[widest] -= 1
    return widths
