"""The lines of one attempt, bounded: of too many, the first ones and the last ones."""

from __future__ import annotations

from collections import deque
from typing import Final

from .attempts import LogLine
from .excerpt import excerpt, storable

MOST_LINES: Final = 200
MOST_LETTERS: Final = 64 * 1024
"""In all; half of the lines and half of the letters are for the first ones."""

LONGEST_LINE: Final = 4_000
LONGEST_NAME: Final = 200
OVERHEAD: Final = 16
"""What a line takes besides its text, about."""


class Lines:
    """Takes any number of lines and has as many as may be kept.

    How an attempt began and how it ended says most; what it said in between goes first.
    """

    def __init__(self) -> None:
        self._first: list[LogLine] = []
        self._last: deque[LogLine] = deque()
        self._letters = [0, 0]
        self._is_full = False
        self.dropped = 0

    def __bool__(self) -> bool:
        return bool(self._first or self._last)

    @property
    def letters(self) -> int:
        """How much they take, about."""
        return sum(self._letters)

    def add(self, line: LogLine) -> None:
        size = len(line.text) + len(line.logger) + OVERHEAD
        if not self._is_full:
            self._letters[0] += size
            self._is_full = (
                len(self._first) >= MOST_LINES // 2 or self._letters[0] > MOST_LETTERS // 2
            )
        if not self._is_full:
            self._first.append(line)
            return
        self._last.append(line)
        self._letters[1] += size
        while len(self._last) > MOST_LINES // 2 or self._letters[1] > MOST_LETTERS // 2:
            gone = self._last.popleft()
            self._letters[1] -= len(gone.text) + len(gone.logger) + OVERHEAD
            self.dropped += 1

    def all(self) -> tuple[LogLine, ...]:
        """Those that are kept; a line of ours stands where some are missing."""
        if not self.dropped:
            return (*self._first, *self._last)
        at = self._last[0].at if self._last else 0
        gap = LogLine(at, "info", "windlass", f"… {self.dropped:,} lines left out …")
        return (*self._first, gap, *self._last)


def line(at: int, level: str, logger: str, text: str) -> LogLine:
    """A line that every store can keep."""
    text = storable(excerpt(text, LONGEST_LINE))
    return LogLine(at, level, storable(logger[:LONGEST_NAME]), text)
