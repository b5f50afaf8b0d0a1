"""What workers count, in buckets of time: how much was done, how long it took and had to wait.

A store adds numbers up by name and knows none of the names. Durations are counted by how long they
were, so that a percentile of any stretch of time follows from sums.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

import msgspec

from ..errors import InvalidOption

FINE: Final = 10_000
COARSE: Final = 600_000
"""The steps: how long one bucket is."""

KEPT: Final[Mapping[int, int]] = MappingProxyType({FINE: 65 * 60_000, COARSE: 26 * 3_600_000})
"""For how long the buckets of a step are kept, from their beginning."""

WHOLE: Final = ""
"""Stands for all queues together; no queue has this name."""

FORGOTTEN: Final = 3_600_000
"""How long a store remembers which tally of a worker it took last."""

COMPLETED: Final = "completed"
FAILED: Final = "failed"
"""attempts that failed, whatever followed"""
RETRIED: Final = "retried"
DEAD: Final = "dead"
CANCELLED: Final = "cancelled"
RESCUED: Final = "rescued"

Timed = Literal["run", "wait"]
"""What durations are of: an attempt, or the wait of a job for it since it was due."""

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
"""In seconds. A duration counts for the first bound that it does not pass; one that passes all of
them counts for the index after the last."""


class Tally(msgspec.Struct, frozen=True):
    """What a worker has counted for one queue since it told last."""

    queue: str
    counts: Mapping[str, int]


class StatPoint(msgspec.Struct, frozen=True):
    """One bucket of one queue, without the counts that are 0; `at` is when it begins."""

    at: int
    queue: str
    counts: Mapping[str, int]


def timed(what: Timed, seconds: float) -> str:
    """The name of the count for a duration."""
    return f"{what}:{bisect_left(BOUNDS, seconds)}"


def percentile(counts: Mapping[str, int], what: Timed, share: float) -> float | None:
    """The time in seconds within which `share` of them were; None if there were none.

    Within the bounds of a count all durations are taken to be spread evenly. What passes the last
    bound is as long as that.
    """
    numbers = [max(counts.get(f"{what}:{n}", 0), 0) for n in range(len(BOUNDS) + 1)]
    wanted = share * sum(numbers)
    below = 0.0
    for number, (low, high) in zip(numbers, _spans(), strict=True):
        if number and below + number >= wanted:
            return low + (high - low) * max(wanted - below, 0.0) / number
        below += number
    return None


def _spans() -> Iterable[tuple[float, float]]:
    return zip((0.0, *BOUNDS), (*BOUNDS, BOUNDS[-1]), strict=True)


def summed(points: Iterable[StatPoint]) -> Mapping[str, int]:
    """The counts of several buckets together."""
    total: Counter[str] = Counter()
    for point in points:
        total.update(point.counts)
    return dict(total)


def together(points: Iterable[StatPoint]) -> Sequence[StatPoint]:
    """The buckets of several queues as those of the whole."""
    by_time: dict[int, list[StatPoint]] = {}
    for point in points:
        by_time.setdefault(point.at, []).append(point)
    return [StatPoint(at, WHOLE, summed(by_time[at])) for at in sorted(by_time)]


def by_queue(tallies: Sequence[Tally]) -> Mapping[str, Mapping[str, int]]:
    """What is to be added for each queue and for the whole."""
    added: dict[str, Counter[str]] = {}
    for tally in tallies:
        for queue in {tally.queue, WHOLE}:
            added.setdefault(queue, Counter()).update(tally.counts)
    return {
        queue: {name: n for name, n in counts.items() if n}
        for queue, counts in added.items()
        if any(counts.values())
    }


def bucket(step: int, now: int) -> int:
    """When the bucket of a moment begins."""
    return now - now % step


def first_bucket(step: int, since: int, now: int) -> int:
    """From when on buckets are to be told; those that are over are not, dropped or not."""
    if step not in KEPT:
        known = " or ".join(f"{each:,}" for each in KEPT)
        raise InvalidOption(f"Statistics are kept in steps of {known} ms; got {step}.")
    return max(since, now - KEPT[step])
