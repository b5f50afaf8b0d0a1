"""The journal as a table: lines are copied from the jobs, in the transaction that ends them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.model import Entry, size_of, until_heavy
from ..contract import PAGE_BYTES
from .operation import Bulk, Operation, Statement, one
from .rows import json_array, to_jobs

FEW: Final = 8


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
    """A few entries first, which tell how many of their size may be asked for."""
    few = min(limit, FEW)
    entries = yield from _first(few)
    if len(entries) == few < limit:
        average = sum(size_of(entry.job) for entry in entries) // few + 1
        more = min(limit, PAGE_BYTES // average)
        if more > few:
            entries = yield from _first(more)
    return until_heavy(entries, PAGE_BYTES)


def _first(limit: int) -> Operation[list[Entry]]:
    rows = yield Statement("read_journal", {"limit": limit})
    return [
        Entry(str(row[0]), row[1], job, bool(row[2])) for row in rows for job in to_jobs([row[3:]])
    ]


def trim(entries: Sequence[Entry]) -> Operation[None]:
    # In one order everywhere, so that two who trim the same entries wait and do not lock.
    lines = sorted(int(entry.key) for entry in entries)
    if lines:
        yield Bulk("trim_journal", [(line,) for line in lines])
