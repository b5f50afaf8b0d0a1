"""Adding up the changes of counts.

Every transaction that moves jobs notes by how many, in rows of its own: it waits for nobody, and
nobody waits for it. These rows are few only if somebody adds them up. Whoever has written some
hundreds does, and the upkeep does from time to time.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from ..sql.operation import Bulk, Operation, Statement
from ..sql.rows import json_array

OFTEN: Final = 256
"""After so many changes of its own, a process adds up."""

BATCH: Final = 2_000
"""So many rows in one transaction, at the most."""

MOST_ROUNDS: Final = 10
"""And so many transactions in a row."""


def fold(limit: int = BATCH) -> Operation[int]:
    """Add up the oldest changes that nobody else adds up; how many it were."""
    rows = yield Statement("deltas", {"limit": limit})
    if not rows:
        return 0
    sums: Counter[tuple[bytes, bytes]] = Counter()
    for _, queue, state, number in rows:
        if queue:
            sums[queue, state] += number
    yield Statement("drop_deltas", {"serials": json_array([serial for serial, *_ in rows])})
    # In one order everywhere, so that two who add up wait for each other and do not lock.
    yield Bulk("add_count", [(*key, number) for key, number in sorted(sums.items())])
    yield Statement("drop_fences", {"limit": limit})
    return len(rows)
