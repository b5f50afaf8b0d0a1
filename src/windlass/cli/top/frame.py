"""What is on the screen, as values: lines of styled pieces that know how wide they are."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from enum import Enum, auto
from typing import NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size

from ..text import one_line


class Style(Enum):
    """What a piece is, never a colour alone: the words tell the same without any."""

    PLAIN = auto()
    TITLE = auto()
    DIM = auto()
    GOOD = auto()
    WARN = auto()
    BAD = auto()
    CHOSEN = auto()


class Span(NamedTuple):
    """A piece of a line; text of anyone goes through `clean` first."""

    text: str
    style: Style = Style.PLAIN

    @property
    def width(self) -> int:
        return cell_len(self.text)


Line = tuple[Span, ...]
Frame = Sequence[Line]


def clean(text: str) -> str:
    """Text of anyone on one line; blanks at its ends stay."""
    return one_line(text) if not text.isprintable() else text


def fit(text: str, width: int, *, right: bool = False, more: str = "…") -> str:
    """Text in exactly so many cells: filled up, or cut with a sign that it was."""
    length = cell_len(text)
    if length <= width:
        blanks = " " * (width - length)
        return blanks + text if right else text + blanks
    if width <= cell_len(more):
        return set_cell_size(more, width)
    return set_cell_size(text, width - cell_len(more)) + more


def cut(line: Line, width: int, more: str = "…") -> Line:
    """A line in at most so many cells."""
    kept: list[Span] = []
    room = width
    for piece in line:
        if piece.width > room:
            if room:
                kept.append(Span(fit(piece.text, room, more=more), piece.style))
            break
        kept.append(piece)
        room -= piece.width
    return tuple(kept)


def wrap(text: str, width: int) -> Sequence[str]:
    """A line as several that fit; without the blanks before it a traceback could not be read."""
    bare = text.lstrip()
    line = " " * (len(text) - len(bare)) + clean(bare)
    if not line.isascii():
        # Letters of two cells need no blank to be parted at.
        return chop_cells(line, width) or [""]
    return textwrap.wrap(line, width, subsequent_indent="  ", break_on_hyphens=False) or [""]


def plain(frame: Frame) -> str:
    """A frame as text alone, for where there is no terminal."""
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in frame)
