"""Claims of which it is not known whether their end was written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..core.model import Transition

MOST: Final = 20_000
"""The last so many are remembered; of an older one its worker may read that its lease was lost."""


class Doubts:
    """A `finish` that failed may have been carried out all the same: the next one is its
    repetition, and is not told that the lease was lost."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, int], None] = {}

    def any(self, transitions: Iterable[Transition]) -> bool:
        if not self._claims:
            return False
        return any((each.id, each.fence) in self._claims for each in transitions)

    def add(self, transitions: Iterable[Transition]) -> None:
        self._claims |= dict.fromkeys((each.id, each.fence) for each in transitions)
        while len(self._claims) > MOST:
            del self._claims[next(iter(self._claims))]

    def forget(self, transitions: Iterable[Transition]) -> None:
        if self._claims:
            for each in transitions:
                self._claims.pop((each.id, each.fence), None)
