"""Dropping what was kept long enough, or is more than is to be kept: the oldest first."""

from __future__ import annotations

from ..stores.sql.operation import Bulk, Operation, Row, Statement, one


def prune(limit: int, before: int | None, most: int | None) -> Operation[int]:
    """Drop at most `limit` jobs with their attempts; how many it was.

    Those go that ended before a moment, and as many as there are above `most`.
    """
    oldest: list[Row] = []
    if before is not None:
        oldest = yield Statement("oldest", {"before": before, "limit": limit})
    if most is not None:
        surplus = min(one((yield Statement("counted"))) - most, limit)
        if surplus > len(oldest):
            oldest = yield Statement("oldest", {"before": END_OF_TIME, "limit": surplus})
    if not oldest:
        return 0
    rows = sorted((id, ended_at) for id, ended_at in oldest)
    dropped: int = yield Bulk("drop_job", rows)
    yield Bulk("drop_attempts", [(id, id) for id, _ in rows])
    yield Statement("count", {"number": -dropped})
    return dropped


END_OF_TIME = 1 << 62
