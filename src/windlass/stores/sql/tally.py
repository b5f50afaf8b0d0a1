"""Keeps the counts per queue and state that `queues` reports, as sums and not by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .operation import Bulk, Operation


class Tally(Counter[tuple[str, str]]):
    """The changes that one operation makes to the counts, written at its end."""

    def move(self, queue: str, before: str, after: str | None, number: int = 1) -> None:
        self[queue, before] -= number
        if after is not None:
            self[queue, after] += number

    def move_all(self, queues: Sequence[str], before: str, after: str | None) -> None:
        for queue, number in Counter(queues).items():
            self.move(queue, before, after, number)

    def write(self) -> Operation[None]:
        rows = [(queue, str(state), n) for (queue, state), n in sorted(self.items()) if n]
        if rows:
            yield Bulk("tally", rows)
