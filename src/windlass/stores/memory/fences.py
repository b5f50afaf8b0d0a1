"""The counter behind fences."""

from __future__ import annotations

from ..contract import FENCES_A_MILLISECOND


class Fences:
    def __init__(self) -> None:
        self._last = 0

    def next(self, now: int) -> int:
        """Above all before, and not below the time: a store that forgot some gives none again."""
        self._last = max(self._last + 1, now * FENCES_A_MILLISECOND)
        return self._last

    def go_beyond(self, fence: int) -> None:
        """The next one is above this one, which came from another store."""
        self._last = max(self._last, fence)
