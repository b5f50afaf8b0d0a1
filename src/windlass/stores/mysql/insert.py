"""Accepting jobs, once each, where an id can be in one of two tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from ...core.model import NewJob, Receipt, encode_spec
from ..sql import arrival, windows
from ..sql.clashes import is_choosy
from ..sql.line import is_special
from ..sql.operation import Bulk, Operation, Row, Statement, one
from ..sql.rows import (
    PENDING,
    PLACE,
    QUEUE,
    SCHEDULED,
    STATE,
    TOP_PRIORITY,
    held_back,
    to_insert,
)
from ..sql.tally import Tally

replace: Final = msgspec.structs.replace


def insert(
    jobs: Sequence[NewJob], now: int, *, again: bool = False
) -> Operation[Sequence[Receipt]]:
    """Runs on any connection: nothing here depends on how its session is set up."""
    if not any([_asks_for_more(job) for job in jobs]):
        return (yield from _insert(jobs, now, again=again))
    # Who lets a job wait has to know whether it was stored now, and not by a try before.
    given = [replace(job, fresh=False) for job in jobs]
    receipts = yield from arrival.insert(given, now, _insert)
    return [
        Receipt(job.id) if job.fresh and job.id == receipt.id else receipt
        for job, receipt in zip(jobs, receipts, strict=True)
    ]


def _asks_for_more(job: NewJob) -> bool:
    """Whether `_insert` alone would not do: a plain key, for one, is nothing special here."""
    return bool(job.spec.parents) or is_special(job.spec) or is_choosy(job)


def _insert(
    jobs: Sequence[NewJob],
    now: int,
    blocked: AbstractSet[str] = frozenset(),
    *,
    again: bool = False,
) -> Operation[Sequence[Receipt]]:
    """Store jobs, those of some ids as blocked.

    A given id may be that of a finished job, or become so while this runs. So the finished ones
    are looked at before, and once more when ours is in its place and no other can come. `again`
    if a try before may have stored these jobs: any of them may have been run since.
    """
    given = [job.id for job in jobs if again or not job.fresh]
    ended = yield from _finished(given)
    new = [job for job in jobs if job.id not in ended]
    made: Sequence[Receipt] = ()
    if new:
        rows = yield from _rows(new, now, blocked)
        changed = yield Bulk("insert", rows)
        holders = (yield from _holders(new, rows)) if changed != len(rows) else {}
        late = yield from _finished(given)
        late -= ended
        if late:
            yield Bulk("take_back", [(id,) for id in sorted(late)])
            holders |= {n: job.id for n, job in enumerate(new) if job.id in late}
        held = yield from windows.held(
            (job.unique for n, job in enumerate(new) if n not in holders), now
        )
        if held:
            made = yield from _insert_others(new, holders, held, now, blocked)
        else:
            made = yield from _count(new, rows, holders)
    receipts = iter(made)
    return [
        Receipt(job.id, duplicate=not job.fresh) if job.id in ended else next(receipts)
        for job in jobs
    ]


def _rows(jobs: Sequence[NewJob], now: int, blocked: AbstractSet[str]) -> Operation[Sequence[Row]]:
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    rows = [to_insert(job, place + offset, now) for offset, job in enumerate(jobs, 1)]
    return [held_back(row) if row[0] in blocked else row for row in rows]


def _count(
    jobs: Sequence[NewJob], rows: Sequence[Row], holders: Mapping[int, str]
) -> Operation[Sequence[Receipt]]:
    """Count the rows that were written; the others' receipts name who holds their id or key."""
    tally = Tally()
    receipts: list[Receipt] = []
    for n, (job, row) in enumerate(zip(jobs, rows, strict=True)):
        holder = holders.get(n)
        # Nobody but us can have made a job of an id that was made for it: the first answer
        # was lost.
        ours = holder is None or (job.fresh and holder == job.id)
        receipts.append(Receipt(job.id if holder is None else holder, duplicate=not ours))
        if holder is None:
            tally[row[QUEUE], row[STATE]] += 1
    yield from tally.write()
    return receipts


def _insert_others(
    jobs: Sequence[NewJob],
    holders: Mapping[int, str],
    held: Mapping[str, str],
    now: int,
    blocked: AbstractSet[str],
) -> Operation[Sequence[Receipt]]:
    """Begin anew, without the jobs whose keys a window holds.

    Only now is it certain which those are: who takes a window comes in with its key, so that our
    insert has waited for them, and nobody comes while we have it.
    """
    written = sorted(job.id for n, job in enumerate(jobs) if n not in holders)
    yield Bulk("take_back", [(id,) for id in written])
    refused = [job.unique in held and holders.get(n) != job.id for n, job in enumerate(jobs)]
    others = [job for job, no in zip(jobs, refused, strict=True) if not no]
    receipts = iter((yield from _insert(others, now, blocked, again=True)))
    return [
        Receipt(held[job.unique or ""], duplicate=True) if no else next(receipts)
        for job, no in zip(jobs, refused, strict=True)
    ]


def is_plain(jobs: Sequence[NewJob]) -> bool:
    """Whether nothing has to be looked up for these: not the time, nor who else is there."""
    return all(
        [
            job.fresh
            and job.unique is None
            and job.due is None
            and not job.spec.parents
            and job.spec.lane is None
            and not job.spec.group
            for job in jobs
        ]
    )


def insert_plain(jobs: Sequence[NewJob], now: int | None) -> Operation[Sequence[Receipt]]:
    """Store jobs in one round trip; `now` is None where the server tells the time.

    Fails with a duplicate if these very jobs are there already: then `insert` tells.
    """
    rows: list[Row] = [
        (
            job.id,
            encode_spec(job.spec),
            job.queue,
            SCHEDULED if job.delay > 0 else PENDING,
            TOP_PRIORITY - job.priority,
            offset,
            job.delay,
            job.spec.keep,
        )
        for offset, job in enumerate(jobs, 1)
    ]
    tally = Tally()
    tally.update([(row[QUEUE], row[STATE]) for row in rows])
    yield from tally.write()
    yield Statement("set_moment", {"now": now})
    yield Bulk("insert_fresh", rows)
    return [Receipt(job.id) for job in jobs]


def _finished(ids: Sequence[str]) -> Operation[set[str]]:
    if not ids:
        return set()
    return {id for (id,) in (yield Statement("finished_ids", {"ids": tuple(ids)}))}


def _holders(jobs: Sequence[NewJob], rows: Sequence[Row]) -> Operation[dict[int, str]]:
    """Of rows that were not written, by their number: the job that was there before.

    A row was not written if the job that has its id stands at another place. Where that is
    the place of a later job of this call, the id came with that one, and it was the key that was
    taken. Who holds it cannot go meanwhile: our insert has marked the job.
    """
    by_id = dict((yield Statement("places", {"ids": tuple(job.id for job in jobs)})))
    keys = tuple(job.unique for job in jobs if job.unique is not None)
    by_key = dict((yield Statement("holders", {"keys": keys}))) if keys else {}
    last = rows[-1][PLACE]
    found: dict[int, str] = {}
    for n, (job, row) in enumerate(zip(jobs, rows, strict=True)):
        place = by_id.get(job.id)
        if place != row[PLACE]:
            by_its_key = place is None or row[PLACE] < place <= last
            found[n] = by_key[job.unique] if by_its_key else job.id
    return found
