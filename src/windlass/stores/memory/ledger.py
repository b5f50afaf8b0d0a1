"""What attempts came to, and what workers counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...core.attempts import MOST_ATTEMPTS, AttemptRecord
from ...core.stats import FORGOTTEN, KEPT, StatPoint, Tally, bucket, by_queue, first_bucket


class Attempts:
    """Records by job and fence, each for as long as it was asked for."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[int, tuple[int, AttemptRecord]]] = {}

    def note(self, records: Sequence[AttemptRecord], until: int) -> None:
        for record in records:
            kept = self._kept.setdefault(record.id, {})
            kept[record.fence] = (until, record)
        for id in {record.id for record in records}:
            newest = sorted(self._kept[id])[-MOST_ATTEMPTS:]
            self._kept[id] = {fence: self._kept[id][fence] for fence in newest}

    def of(self, ids: Sequence[str], now: int) -> Mapping[str, Sequence[AttemptRecord]]:
        found = {
            id: [record for until, record in self._kept.get(id, {}).values() if until > now]
            for id in ids
        }
        return {id: records for id, records in found.items() if records}

    def drop(self, ids: frozenset[str]) -> None:
        for id in ids:
            self._kept.pop(id, None)

    def prune(self, now: int) -> None:
        for id, kept in [*self._kept.items()]:
            left = {fence: each for fence, each in kept.items() if each[0] > now}
            self._kept[id] = left
            if not left:
                del self._kept[id]


class Stats:
    """Counts by step, beginning of the bucket and queue."""

    def __init__(self) -> None:
        self._counts: dict[tuple[int, int, str], Counter[str]] = {}
        self._taken: dict[str, tuple[int, int]] = {}
        """of each worker, the last number and when it came"""

    def add(self, worker: str, number: int, tallies: Sequence[Tally], now: int) -> None:
        last, _ = self._taken.get(worker, (None, 0))
        if last is not None and number <= last:
            return
        self._taken[worker] = (number, now)
        for queue, counts in by_queue(tallies).items():
            for step in KEPT:
                key = (step, bucket(step, now), queue)
                self._counts.setdefault(key, Counter()).update(counts)

    def points(self, queues: Sequence[str], step: int, since: int, now: int) -> Sequence[StatPoint]:
        first = first_bucket(step, since, now)
        return [
            StatPoint(at, queue, dict(self._counts[length, at, queue]))
            for length, at, queue in sorted(self._counts)
            if length == step and at >= first and queue in queues
        ]

    def prune(self, now: int) -> None:
        for step, at, queue in [*self._counts]:
            if at < now - KEPT[step]:
                del self._counts[step, at, queue]
        for worker, (_, at) in [*self._taken.items()]:
            if at < now - FORGOTTEN:
                del self._taken[worker]
