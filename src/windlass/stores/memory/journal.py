"""What has ended and was not handed over yet."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ...core.model import Entry, Job, until_heavy
from ..contract import PAGE_BYTES


class Journal:
    """Lines in the order in which they were noted, while it is kept."""

    def __init__(self) -> None:
        self.kept = False
        self._lines: dict[str, Entry] = {}
        self._keys = itertools.count(1)

    def note(self, job: Job, at: int, *, ran: bool = True) -> None:
        if self.kept:
            key = str(next(self._keys))
            self._lines[key] = Entry(key, at, job, ran)

    def read(self, limit: int) -> Sequence[Entry]:
        return until_heavy(itertools.islice(self._lines.values(), limit), PAGE_BYTES)

    def trim(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._lines.pop(entry.key, None)
