"""Accepting jobs, new ones and those of another store, once each."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ...core.model import Job, NewJob, Receipt
from . import arrival
from .operation import Bulk, Operation, Row, Statement, one
from .rows import PLACE, QUEUE, STATE, expires_at, held_back, json_array, to_insert, to_restore
from .tally import Tally


def insert(jobs: Sequence[NewJob], now: int) -> Operation[Sequence[Receipt]]:
    if not jobs:
        return ()
    if arrival.is_plain(jobs):
        if len(jobs) == 1:
            return (yield from _insert_one(jobs[0], now))
        return (yield from _insert(jobs, now))
    return (yield from arrival.insert(jobs, now, _insert))


def _insert_one(job: NewJob, now: int) -> Operation[Sequence[Receipt]]:
    """Nearly all calls are for one job: it takes two statements."""
    row = to_insert(job, 0, now)
    key = (row[QUEUE], row[STATE])
    yield Statement("enter", {"queue": key[0], "state": key[1]})
    if (yield Bulk("insert_one", (row,))):
        return [Receipt(job.id)]
    yield Bulk("tally", [(*key, -1)])
    return [Receipt(job.id, duplicate=True)]


def _insert(
    jobs: Sequence[NewJob], now: int, blocked: AbstractSet[str] = frozenset()
) -> Operation[Sequence[Receipt]]:
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    rows = [to_insert(job, place + offset, now) for offset, job in enumerate(jobs, 1)]
    if blocked:
        rows = [held_back(row) if row[0] in blocked else row for row in rows]
    return (yield from _accept("insert", jobs, rows))


def restore(jobs: Sequence[Job]) -> Operation[Sequence[Receipt]]:
    if not jobs:
        return ()
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    yield Statement("raise_fence", {"fence": max(job.fence for job in jobs)})
    rows = [to_restore(job, place + offset, expiry(job)) for offset, job in enumerate(jobs, 1)]
    return (yield from _accept("restore", jobs, rows))


def expiry(job: Job) -> int | None:
    """A job that was finished elsewhere is kept from then on, not from now on."""
    if job.finished_at is None:
        return None
    return expires_at(job.state, job.spec.keep, job.finished_at)


def _accept(
    query: str, jobs: Sequence[NewJob | Job], rows: list[Row]
) -> Operation[Sequence[Receipt]]:
    """Write rows by a query that leaves out those whose id or unique key is taken."""
    changed = yield Bulk(query, rows)
    receipts = [Receipt(job.id) for job in jobs]
    if changed != len(rows):
        rows = yield from _written(jobs, rows, receipts)
    tally = Tally()
    tally.update([(row[QUEUE], row[STATE]) for row in rows])
    yield from tally.write()
    return receipts


def _written(
    jobs: Sequence[NewJob | Job], rows: list[Row], receipts: list[Receipt]
) -> Operation[list[Row]]:
    """The rows that made it; the others' receipts name the job that was there before.

    A row was not written if the job that has its id stands at another place. Where that is
    a later place of this call, the id came with that one, and it was the key that was taken.
    """
    by_id = dict((yield Statement("places", {"ids": json_array([job.id for job in jobs])})))
    keys = [job.unique for job in jobs if job.unique is not None]
    by_key = dict((yield Statement("holders", {"keys": json_array(keys)}))) if keys else {}
    written, last = [], rows[-1][PLACE]
    for n, (job, row) in enumerate(zip(jobs, rows, strict=True)):
        place = by_id.get(job.id)
        if place == row[PLACE]:
            written.append(row)
        else:
            by_its_key = place is None or row[PLACE] < place <= last
            holder = by_key[job.unique] if by_its_key else job.id
            receipts[n] = Receipt(holder, duplicate=True)
    return written
