"""Writing lines of the journal into history: any number of times, in any order, with one result."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.model import Entry
from ..stores.sql.operation import Bulk, Operation, Statement
from .record import attempt_row, job_row, newest, renewal


def keep(entries: Sequence[Entry]) -> Operation[None]:
    """Add what is not there yet, and bring up to date what is older than its line."""
    rows = [job_row(entry) for entry in newest(entries)]
    if not rows:
        return
    added = yield Bulk("add_job", rows)
    if added < len(rows):
        yield Bulk("renew_job", [renewal(row) for row in rows])
    attempts = [attempt_row(entry) for entry in entries if entry.ran]
    if attempts:
        yield Bulk("add_attempt", sorted(attempts, key=lambda row: row[:3]))
    if added:
        # Last, for all who write wait for each other here.
        yield Statement("count", {"number": added})
