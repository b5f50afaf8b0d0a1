"""Accepting jobs, once each, without asking first.

A job whose id was made for it can only be in the way of its unique key, which the statement that
stores it settles. A given id must be new among the finished jobs as well, where no index can
hold it against the live ones: the job is stored first and looked for afterwards. A finished job
that let it through by leaving the live ones is seen by then, as its transaction has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, Final

from ...core.model import NewJob, Receipt, Spec, encode_spec
from ...core.unique import UNTIL_STARTED
from ..sql import arrival
from ..sql.clashes import is_choosy
from ..sql.operation import Bulk, Operation, Row, Statement
from ..sql.rows import TOP_PRIORITY, json_array

NEWS: Final = 5_000
"""Jobs that are due after so many milliseconds are no news to an idle worker; see `insert.sql`."""

RECALL: Final = " "
"""In front of a queue that is told of: there may be jobs behind the marks of claims. No name begins
with it, so who does not know it takes it for a queue that he does not serve."""

TELLS: Final = [""]
TELLS_LATE: Final = [RECALL, ""]
"""What is told of a queue: in a statement that commits at once, and in a transaction that may go on
for any time."""


def insert_fresh(
    jobs: Sequence[NewJob], now: int | None, again: bool, tells: Sequence[str] | None = None
) -> Operation[Sequence[Receipt]]:
    """Store jobs whose ids were made for them, without a transaction at first.

    The way for `again`, which is in one, is also that for an id that is there all the same.
    """
    if again or any([job.unique is not None for job in jobs]):
        return (yield from insert(jobs, now, again=again, tells=tells))
    if len(jobs) == 1 and tells is None:
        [job] = jobs
        if job.due is None and job.delay <= 0:
            yield Statement("insert_one", _values(job, now))
            return [Receipt(job.id)]
    columns = _columns(dict(enumerate(jobs, 1)))
    yield Statement("insert_fresh", {**columns, "place": None, "tells": tells, "now": now})
    return [Receipt(job.id) for job in jobs]


def _values(job: NewJob, now: int | None) -> dict[str, Any]:
    return {
        "id": job.id,
        "spec": encode_spec(job.spec),
        "queue": job.queue,
        "rank": TOP_PRIORITY - job.priority,
        "keep": job.spec.keep,
        "now": now,
    }


def insert(
    jobs: Sequence[NewJob],
    now: int | None,
    *,
    again: bool = False,
    tells: Sequence[str] | None = TELLS_LATE,
) -> Operation[Sequence[Receipt]]:
    """Store jobs; `again` if a call whose answer was lost may have stored them.

    Then a job that is there under an id made for it is no duplicate, but what that call stored.
    `tells` is what the transaction tells when it commits.
    """
    if now is None or not _are_special(jobs):
        return (yield from _insert(jobs, now, again=again, tells=tells))
    receipts = yield from arrival.insert(jobs, now, partial(_insert, tells=tells))
    yield from mark_briefs(
        (receipt.id, job.spec)
        for job, receipt in zip(jobs, receipts, strict=True)
        if receipt.duplicate and job.conflict != "reject"
    )
    return receipts


def _insert(
    jobs: Sequence[NewJob],
    now: int | None,
    blocked: AbstractSet[str] = frozenset(),
    *,
    again: bool = False,
    tells: Sequence[str] | None = None,
) -> Operation[Sequence[Receipt]]:
    receipts: dict[int, Receipt] = {}
    left = dict(enumerate(jobs, 1))
    place: int | None = None
    while left:
        batch = _firsts(left)
        place, stored = yield from _store(batch, place, now, blocked, again, tells)
        if len(stored) == len(jobs):
            return [Receipt(job.id) for job in jobs]
        receipts |= {n: Receipt(job.id) for n, job in batch.items() if job.id in stored}
        others = {n: job for n, job in batch.items() if n not in receipts}
        if others:
            receipts |= yield from _duplicates(others, now, again)
        # Whoever was in the way of the rest has gone since, or is in `receipts`: try again.
        left = {n: job for n, job in left.items() if n not in receipts}
    return [receipts[n] for n in range(1, len(jobs) + 1)]


def needs_transaction(jobs: Sequence[NewJob]) -> bool:
    """Whether one statement may not be enough for these, or must be taken back in part."""
    return not all([job.fresh for job in jobs]) or _are_special(jobs)


def soon(jobs: Sequence[NewJob]) -> set[str]:
    """The queues of those that an idle worker would not find in time by itself."""
    return {job.queue for job in jobs if job.due is not None or job.delay < NEWS}


def _are_special(jobs: Sequence[NewJob]) -> bool:
    """Whether more is to be done for one of them than to store it."""
    # Nearly every job passes here, so without a call for each.
    specs = [job.spec for job in jobs]
    return any([spec.parents or spec.lane is not None or spec.group for spec in specs]) or any(
        [is_choosy(job) for job in jobs if job.unique is not None]
    )


def _firsts(jobs: Mapping[int, NewJob]) -> Mapping[int, NewJob]:
    """Those that have neither the id nor the key of one before them, which must win."""
    taken: set[tuple[str, bool]] = set()
    firsts: dict[int, NewJob] = {}
    for n, job in jobs.items():
        mine = {(job.id, False)} if job.unique is None else {(job.id, False), (job.unique, True)}
        if taken.isdisjoint(mine):
            firsts[n] = job
        taken |= mine
    return firsts


def _store(
    jobs: Mapping[int, NewJob],
    place: int | None,
    now: int | None,
    blocked: AbstractSet[str],
    again: bool,
    tells: Sequence[str] | None,
) -> Operation[tuple[int, set[str]]]:
    """Where the line of this call begins, and the ids of those that were stored."""
    columns = _columns(jobs, blocked)
    params = {**columns, "place": place, "tells": tells, "now": now}
    [(place, some, _)] = yield Statement("insert", params)
    stored = {job.id for job in jobs.values()} if some is None else set(some)
    doubtful = [job.id for job in jobs.values() if job.id in stored and (again or not job.fresh)]
    if doubtful:
        stored -= {id for (id,) in (yield Statement("take_back", {"ids": doubtful}))}
    return place, stored


def _columns(
    numbered: Mapping[int, NewJob], blocked: AbstractSet[str] = frozenset()
) -> dict[str, Any]:
    """The arrays of `insert.sql`. What nobody asked for is left out, what all share comes once."""
    jobs, turns = list(numbered.values()), None
    gaps = max(numbered) > len(numbered)
    if gaps or any([job.unique is not None or not job.fresh for job in jobs]):
        # In one order everywhere, so that two calls with the same keys or ids wait for each
        # other and do not lock each other out. The order in line stays the given one.
        turns = sorted(numbered, key=lambda n: (numbered[n].unique or "", numbered[n].id))
        jobs = [numbered[n] for n in turns]
    keys = given([job.unique for job in jobs])
    return {
        "ids": [job.id for job in jobs],
        "specs": [encode_spec(job.spec) for job in jobs],
        "queues": shared([job.queue for job in jobs]),
        "ranks": shared([TOP_PRIORITY - job.priority for job in jobs]),
        "delays": shared([job.delay for job in jobs]),
        "dues": given([job.due for job in jobs]),
        "keeps": shared([job.spec.keep for job in jobs]),
        "keys": keys,
        "briefs": keys and [_is_brief(job.spec) for job in jobs],
        "blocks": [job.id in blocked for job in jobs] if blocked else None,
        "turns": turns,
    }


def shared(values: list[Any]) -> list[Any]:
    """One value for all if they have the same."""
    return values[:1] if len(set(values)) == 1 else values


def given(values: list[Any]) -> list[Any] | None:
    """Nothing if none of them is anything."""
    return None if values.count(None) == len(values) else values


def mark_briefs(jobs: Iterable[tuple[str, Spec]]) -> Operation[None]:
    """Mark jobs, if they have these specs, whose keys go when they are first claimed."""
    rows: list[Row] = [(id, encode_spec(spec)) for id, spec in jobs if _is_brief(spec)]
    if rows:
        yield Bulk("mark_brief", rows)


def _is_brief(spec: Spec) -> bool:
    return spec.unique_for == UNTIL_STARTED


def _duplicates(
    jobs: Mapping[int, NewJob], now: int | None, again: bool
) -> Operation[dict[int, Receipt]]:
    """Receipts for those whose id or key is taken by a job that is still there."""
    ids = json_array([job.id for job in jobs.values()])
    there = dict((yield Statement("places", {"ids": ids})))
    keys = json_array([job.unique for job in jobs.values() if job.unique is not None])
    holders = dict((yield Statement("holders", {"keys": keys})))
    holders |= dict((yield Statement("windows", {"keys": keys, "now": now})))
    found: dict[int, Receipt] = {}
    for n, job in jobs.items():
        if job.id in there:
            found[n] = Receipt(job.id, duplicate=not (again and job.fresh))
        elif job.unique in holders:
            found[n] = Receipt(holders[job.unique], duplicate=True)
    return found
