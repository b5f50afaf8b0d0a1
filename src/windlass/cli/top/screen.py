"""Brings frames to a terminal, and writes only what has changed: lines may be slow.

Just the control codes that every terminal of the last decades has are used, so that it looks the
same over ssh, in tmux and on a serial line. Colours are the first eight, and can be left out.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from .frame import Frame, Line, Span, Style

COLOURS: Final[Mapping[Style, str]] = {
    Style.PLAIN: "",
    Style.TITLE: "1",
    Style.DIM: "2",
    Style.GOOD: "32",
    Style.WARN: "33",
    Style.BAD: "31",
    Style.CHOSEN: "7",
}
NO_COLOURS: Final[Mapping[Style, str]] = {
    **dict.fromkeys(Style, ""),
    Style.TITLE: "1",
    Style.BAD: "1",
    Style.CHOSEN: "7",
}

# To the other screen, so that what was on this one is there again at the end; the cursor is hidden.
# A line that is too wide is cut by us: a terminal that breaks it would shift all that is below.
ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[0m\x1b[2J"
LEAVE: Final = "\x1b[0m\x1b[2J\x1b[H\x1b[?7h\x1b[?25h\x1b[?1049l"


class Painter:
    """Makes, of a frame and the one before, what the terminal is to be sent. Pure."""

    def __init__(self, styles: Mapping[Style, str] = COLOURS) -> None:
        self._styles = styles
        self._last: Frame = ()

    def forget(self) -> None:
        """The terminal shows something else by now: draw everything the next time."""
        self._last = ()

    def paint(self, frame: Frame) -> str:
        parts: list[str] = []
        if len(self._last) != len(frame):
            self._last = [()] * len(frame)
            parts.append("\x1b[0m\x1b[2J")
        for n, (line, before) in enumerate(zip(frame, self._last, strict=True), 1):
            if line != before:
                parts += self._line(n, line, before)
        self._last = frame
        return "".join(parts)

    def _line(self, number: int, line: Line, before: Line) -> list[str]:
        widths = [piece.width for piece in line]
        if widths != [piece.width for piece in before]:
            # Emptied before and not after: that would take the last column of a full line with it.
            return [f"\x1b[{number};1H\x1b[2K", *map(self._piece, line)]
        # The same columns: only those pieces that are not what they were.
        parts, column = [], 1
        for piece, old, width in zip(line, before, widths, strict=True):
            if piece != old:
                parts.append(f"\x1b[{number};{column}H{self._piece(piece)}")
            column += width
        return parts

    def _piece(self, piece: Span) -> str:
        code = self._styles[piece.style]
        return f"\x1b[{code}m{piece.text}\x1b[0m" if code else piece.text


class Screen:
    """A terminal in our hands between `enter` and `leave`, which can be called again."""

    def __init__(self, terminal: int, painter: Painter, encoding: str = "utf-8") -> None:
        self._terminal = terminal
        self._painter = painter
        self._encoding = encoding
        self.written = 0
        """bytes so far"""

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines; never less than can be drawn on."""
        columns, lines = os.get_terminal_size(self._terminal)
        return max(columns, 20), max(lines, 5)

    def enter(self) -> None:
        self._painter.forget()
        self._write(ENTER)

    def show(self, frame: Frame) -> None:
        self._write(self._painter.paint(frame))

    def redraw(self) -> None:
        self._painter.forget()

    def leave(self) -> None:
        self._write(LEAVE)

    def _write(self, text: str) -> None:
        data = text.encode(self._encoding, "replace")
        self.written += len(data)
        while data:
            data = data[os.write(self._terminal, data) :]
