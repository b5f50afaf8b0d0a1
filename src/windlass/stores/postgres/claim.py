"""Handing jobs to workers, in one statement unless some are due to become pending first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.model import Job
from ..sql.claim import promote
from ..sql.operation import Operation, Row, Statement
from ..sql.rows import to_claimed
from ..sql.tally import Tally

ID, QUEUE, FENCE, NOW, DUE = 1, 10, 11, 12, 13
"""Where a row of `claim.sql` has them; it begins with the claim columns."""


def claim(
    queues: Mapping[str, int], limit: int, lease: int, worker: str, now: int | None
) -> Operation[Sequence[Job] | None]:
    """The jobs, or None if due jobs must become pending first."""
    rows = yield from _claim(queues, limit, lease, worker, now, look=True)
    return None if rows[0][DUE] else _jobs(rows, lease, worker)


def promote_and_claim(
    queues: Mapping[str, int], limit: int, lease: int, worker: str, now: int
) -> Operation[Sequence[Job]]:
    """The same in a transaction, after due jobs became pending."""
    tally = Tally()
    yield from promote(queues, tally, now)
    yield from tally.write()
    rows = yield from _claim(queues, limit, lease, worker, now, look=False)
    return _jobs(rows, lease, worker)


def _claim(
    queues: Mapping[str, int], limit: int, lease: int, worker: str, now: int | None, *, look: bool
) -> Operation[Sequence[Row]]:
    rows: Sequence[Row] = yield Statement(
        "claim",
        {
            "queues": list(queues),
            "mosts": list(queues.values()),
            "limit": limit,
            "lease": lease,
            "worker": worker,
            "look": look,
            "now": now,
        },
    )
    return rows


def _jobs(rows: Sequence[Row], lease: int, worker: str) -> Sequence[Job]:
    if rows[0][ID] is None:
        return []
    fence, now = rows[0][FENCE], rows[0][NOW]
    until = now + lease
    return [to_claimed(row, row[QUEUE], fence, until, worker, now) for row in rows]
