"""Taking in jobs of another store."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.model import Job, Receipt
from ..sql import restore as shared
from ..sql.operation import Operation
from .insert import mark_briefs


def restore(jobs: Sequence[Job], now: int) -> Operation[Sequence[Receipt]]:
    """As on every engine with two tables, and with what only a claim in one statement must know."""
    receipts = yield from shared.restore(jobs, now)
    yield from mark_briefs(
        (job.id, job.spec)
        for job, receipt in zip(jobs, receipts, strict=True)
        if not receipt.duplicate and job.unique is not None
    )
    return receipts
