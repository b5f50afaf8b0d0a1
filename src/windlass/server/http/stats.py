"""What was done in the last hours, and how long it waited and ran."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from ...admin.moment import iso
from ...core import stats
from ...core.stats import COARSE, FINE, WHOLE, StatPoint, Timed, bucket, percentile, summed
from .call import Call
from .jobs import asked_queue

Span = Literal["hour", "day"]

STEPS: Final[Mapping[Span, tuple[int, int]]] = {
    "hour": (FINE, 3_600_000),
    "day": (COARSE, 24 * 3_600_000),
}
"""For each span, how long a bucket is, and how long all of them."""


class StatsQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of what, and how long."""

    span: Span = "hour"
    queue: str | None = None


class Point(msgspec.Struct, frozen=True):
    """What happened within one step from `at` on."""

    at: str | None
    completed: int = 0
    failed: int = 0
    """attempts, whatever followed"""
    retried: int = 0
    dead: int = 0
    cancelled: int = 0
    rescued: int = 0


class Percentiles(msgspec.Struct, frozen=True):
    """Seconds within which half of them were, 95 of 100, and 99; null if there were none."""

    p50: float | None
    p95: float | None
    p99: float | None


class StatsView(msgspec.Struct, frozen=True):
    """Counts by time, of steps in which something happened, and durations of the whole span."""

    step: float
    """how long a point is, in seconds"""
    since: str | None
    until: str | None
    points: Sequence[Point]
    run: Percentiles
    """how long attempts took"""
    wait: Percentiles
    """how long jobs waited for them since they were due"""


async def get_stats(call: Call[StatsQuery, None]) -> StatsView:
    """Show what was done in the last hour or day, by time, and how long it waited and ran."""
    queue, (step, length) = asked_queue(call.query.queue), STEPS[call.query.span]
    now = await call.store.now()
    since = bucket(step, now - length)
    found = await call.store.stats([queue or WHOLE], step, since)
    total = summed(found)
    return StatsView(
        step / 1000,
        iso(since),
        iso(now),
        [_point(each) for each in found],
        _percentiles(total, "run"),
        _percentiles(total, "wait"),
    )


class Trends(msgspec.Struct, frozen=True):
    """Jobs that were completed in each queue, step by step; the last step is going on."""

    step: float
    """how long one is, in seconds"""
    since: str | None
    until: str | None
    queues: Mapping[str, Sequence[int]]


async def get_trends(call: Call[None, None]) -> Trends:
    """Show how many jobs were completed in each queue over the last four hours."""
    found = await call.site.trends.get(call.store, call.caller.queues)
    return Trends(COARSE / 1000, iso(found.since), iso(found.until), found.done)


def _point(found: StatPoint) -> Point:
    counts = found.counts
    return Point(
        iso(found.at),
        counts.get(stats.COMPLETED, 0),
        counts.get(stats.FAILED, 0),
        counts.get(stats.RETRIED, 0),
        counts.get(stats.DEAD, 0),
        counts.get(stats.CANCELLED, 0),
        counts.get(stats.RESCUED, 0),
    )


def _percentiles(counts: Mapping[str, int], what: Timed) -> Percentiles:
    return Percentiles(*(percentile(counts, what, share) for share in (0.5, 0.95, 0.99)))
