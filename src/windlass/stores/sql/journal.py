"""The journal as a table: lines are copied from the jobs, in the transaction that ends them."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.model import Entry
from .operation import Bulk, Operation, Statement, one
from .rows import json_array, to_jobs


def is_kept() -> Operation[bool]:
    """Whether what ends is to be noted; asked in the transaction itself, for it can change."""
    return bool(one((yield Statement("journal_is_kept"))))


def note(ids: Sequence[str], now: int, *, ran: bool) -> Operation[None]:
    """Note jobs as they stand now: after the change, and before those go that are not kept."""
    if ids:
        yield Statement("note", {"ids": json_array(list(ids)), "at": now, "ran": int(ran)})


def keep(on: bool) -> Operation[None]:
    yield Statement("keep_journal", {"on": int(on)})


def read(limit: int) -> Operation[Sequence[Entry]]:
    rows = yield Statement("read_journal", {"limit": limit})
    return [
        Entry(str(row[0]), row[1], job, bool(row[2])) for row in rows for job in to_jobs([row[3:]])
    ]


def trim(entries: Sequence[Entry]) -> Operation[None]:
    # In one order everywhere, so that two who trim the same entries wait and do not lock.
    lines = sorted(int(entry.key) for entry in entries)
    if lines:
        yield Bulk("trim_journal", [(line,) for line in lines])
