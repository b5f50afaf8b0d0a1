"""The frame: what goes where on a screen of any size. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from .details import LOADING, details
from .frame import Frame, Line, Span, Style, clean, cut, fit, wrap
from .header import Glyphs, Trouble, header
from .look import Look
from .pane import Name, Pane
from .sparkline import ASCII_BARS, BARS
from .table import Cell, Table
from .ui import Shown, Ui

FANCY: Final = Glyphs(BARS, "…", "▸")
ASCII: Final = Glyphs(ASCII_BARS, "~", ">")

WIDEST_HEADER: Final = 100

FEW: Final = 2
"""Rows that every pane has, if it has so many and the screen is not too small."""

KEYS: Final = "? help  q quit  Tab panes  Enter details  / filter  p pause  r replay  c cancel"

HELP: Final = """\
Tab, left, right       another pane; 1 to 5 go straight there
up, down, k, j         another row
PgUp, PgDn, Home, End  further, to the first, to the last
Enter                  all about the chosen row; Escape goes back
p                      pause the chosen queue, or resume it
r                      replay the job of the chosen error
c                      cancel the chosen job; asks first
/                      show only rows with a text; Escape shows all again
+ and -                look less often, more often
Space                  look now
Ctrl-L                 draw the screen anew
?                      this help
q                      quit"""


class Scene(NamedTuple):
    """All that is drawn."""

    ui: Ui
    look: Look | None
    panes: Sequence[Pane]
    where: str
    """the store"""
    trouble: Trouble | None = None
    glyphs: Glyphs = FANCY


class Drawn(NamedTuple):
    """A frame, and what keys must know of it."""

    frame: Frame
    shown: Shown
    rows: Mapping[Name, Sequence[str]]
    """the keys of the rows that can be seen"""


def draw(scene: Scene, width: int, height: int) -> Drawn:
    """A frame of at most so many lines, none of them wider than the screen."""
    ui, look = scene.ui, scene.look
    lines = [*header(look, ui, scene.trouble, scene.where, width, scene.glyphs)]
    room = max(height - len(lines) - 1, 0)
    rows: dict[Name, Sequence[str]] = {}
    page, bottom = room, 0
    if ui.helping or ui.opened is not None:
        over = _overlay(scene, width)
        bottom = max(len(over) - room, 0)
        first = min(ui.scroll, bottom)
        lines += over[first : first + room]
    elif look is not None:
        heights = share({pane.name: len(pane.rows) for pane in scene.panes}, ui.pane, room)
        page = heights[ui.pane]
        for pane in scene.panes:
            if heights[pane.name] >= 0:
                focused = pane.name == ui.pane
                body, seen = _pane(scene, pane, width, heights[pane.name], focused)
                lines += body
                rows[pane.name] = seen
    lines = lines[: height - 1]
    lines += [()] * (height - 1 - len(lines))
    frame = [cut(line, width, scene.glyphs.more) for line in (*lines, _footer(scene))]
    return Drawn(frame, Shown(scene.panes, page, bottom), rows)


def share(rows: Mapping[Name, int], focus: Name, room: int) -> Mapping[Name, int]:
    """How many rows each pane has, below its title; -1 for one that is left out.

    A few for each, the rest for the one that the user is in, what that leaves for the others.
    """
    wanted = {name: max(number, 1) for name, number in rows.items()}
    heights = {name: min(number, FEW) for name, number in wanted.items()}
    if len(rows) + sum(heights.values()) > room:
        heights = {
            name: min(number, FEW) if name == focus else 0 for name, number in wanted.items()
        }
    if len(rows) + sum(heights.values()) > room:
        return {name: max(room - 1, 0) if name == focus else -1 for name in rows}
    left = room - len(rows) - sum(heights.values())
    for name in (focus, *(other for other in rows if other != focus)):
        more = min(wanted[name] - heights[name], left)
        heights[name] += more
        left -= more
    return heights


def sheet(scene: Scene, width: int) -> Frame:
    """One frame with every row that was found, to be read and not to be used."""
    first = min(width, WIDEST_HEADER)
    lines = [*header(scene.look, scene.ui, scene.trouble, scene.where, first, scene.glyphs)]
    for pane in scene.panes:
        lines += [(), *_pane(scene, pane, width, max(len(pane.rows), 1), focused=False)[0]]
    return lines


def _pane(
    scene: Scene, pane: Pane, width: int, height: int, focused: bool
) -> tuple[list[Line], Sequence[str]]:
    """Its lines, and the keys of the rows among them."""
    ui, glyphs = scene.ui, scene.glyphs
    choice = ui.choice(pane.name)
    place = pane.place(choice.key, choice.place)
    first = min(max(place - height // 2, 0), max(len(pane.rows) - height, 0))
    seen = pane.rows[first : first + height]
    table = Table(pane.columns, [row.cells for row in seen], width - 2, glyphs.more)
    sign = Span(f"{glyphs.here} " if focused else "  ", Style.TITLE)
    lines: list[Line] = [(sign, *table.line(_titles(pane), Style.TITLE))]
    if not pane.rows:
        nothing = [(Span("  "), Span(clean(pane.nothing), Style.DIM))]
        return lines + nothing[:height], ()
    for n, row in enumerate(seen, first):
        style = Style.CHOSEN if focused and n == place else None
        sign = Span("> " if style else "  ", style or Style.PLAIN)
        lines.append((sign, *table.line(row.cells, style)))
    return lines, [row.key for row in seen]


def _titles(pane: Pane) -> Sequence[Cell]:
    return [Cell(column.title) for column in pane.columns]


def _overlay(scene: Scene, width: int) -> Sequence[Line]:
    """Help or details, broken into lines that fit."""
    ui = scene.ui
    texts: Sequence[str] = HELP.splitlines()
    if not ui.helping:
        assert ui.opened is not None
        texts = LOADING if scene.look is None else details(scene.look, ui.opened)
    return [
        (Span(piece),) for text in texts for line in text.split("\n") for piece in wrap(line, width)
    ]


def _footer(scene: Scene) -> Line:
    ui = scene.ui
    if ui.typing is not None:
        return (Span("filter: ", Style.TITLE), Span(ui.typing), Span("_", Style.TITLE))
    if ui.asking is not None:
        question = f"Cancel the job {clean(ui.asking.name)}? y cancels it, any other key does not."
        return (Span(question, Style.WARN),)
    if ui.message:
        return (Span(clean(ui.message), Style.TITLE),)
    if ui.helping or ui.opened is not None:
        act = "" if ui.opened is None or ui.opened.job is None else "  r replay  c cancel"
        return (Span(f"Escape back  up, down scroll{act}", Style.DIM),)
    if ui.filter:
        shown = fit(f"filter: {clean(ui.filter)}", 30, more=scene.glyphs.more).rstrip()
        return (Span(shown, Style.WARN), Span("  Escape shows all  ? help  q quit", Style.DIM))
    return (Span(KEYS, Style.DIM),)
