"""What workers counted, as rows: one for each bucket, queue and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.stats import FORGOTTEN, KEPT, StatPoint, Tally, bucket, by_queue, first_bucket
from .operation import Bulk, Operation, Row, Statement
from .rows import json_array


def add(worker: str, number: int, tallies: Sequence[Tally], now: int) -> Operation[None]:
    given = {"worker": worker, "number": number, "now": now}
    if (yield Statement("take_tally", given)):
        rows = _rows(by_queue(tallies), now)
        if rows:
            yield Bulk("add_stat", rows)


def _rows(added: Mapping[str, Mapping[str, int]], now: int) -> list[Row]:
    """The parameters of `add_stat.sql`, in one order everywhere: many add to the same rows."""
    return [
        (queue, step, at, name, n, at + KEPT[step])
        for queue in sorted(added)
        for step, at in [(step, bucket(step, now)) for step in KEPT]
        for name, n in sorted(added[queue].items())
    ]


def points(
    queues: Sequence[str], step: int, since: int, now: int
) -> Operation[Sequence[StatPoint]]:
    first = first_bucket(step, since, now)
    if not queues:
        return ()
    names = json_array(list(dict.fromkeys(queues)))
    rows = yield Statement("stats", {"names": names, "step": step, "since": first})
    found: dict[tuple[int, str], dict[str, int]] = {}
    for at, queue, name, number in rows:
        found.setdefault((at, queue), {})[name] = number
    return [StatPoint(at, queue, found[at, queue]) for at, queue in sorted(found)]


def prune(limit: int, now: int) -> Operation[int]:
    """Drop records of attempts and buckets that are over; how many of either, at the most."""
    yield Statement("forget_tallies", {"before": now - FORGOTTEN})
    dropped = 0
    for query in ("prune_attempts", "prune_stats"):
        rows = yield Statement(query, {"now": now, "limit": limit})
        dropped = max(dropped, sum([number for (number,) in rows]))
    return dropped
