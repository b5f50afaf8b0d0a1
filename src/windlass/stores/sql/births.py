"""Accepting jobs that depend on others: blocked, called off at once, or as any other.

A call is stored in parts, so that what a job depends on is there before it, be it a new job or
one that was there under the same name. Parents are locked first: none of them ends unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

import msgspec

from ...core.dependents import Fate, first_fate, orphaned, unknown_parent
from ...core.model import Failure, Job, NewJob, Receipt
from ...core.states import FINISHED, LIVE, State
from . import journal, windows
from .cancel import call_off
from .dependents import end, parents_among
from .lanes import conclude
from .line import Mover, is_special, moved
from .lock import lock
from .operation import Bulk, Operation, Plan, Row, Statement, one
from .rows import Locked
from .tally import Tally

replace = msgspec.structs.replace

Accept = Callable[[Sequence[NewJob], int, AbstractSet[str]], Operation[Sequence[Receipt]]]
"""Stores new jobs, those of the given ids as blocked. A receipt is of a duplicate if and only if
nothing was written for it."""


class Family(NamedTuple):
    """What is known of the parents of a call's jobs, as far as the call has come."""

    known: dict[str, Locked]
    """those that were there before the call, and those of the call that were looked at"""
    coming: set[str]
    """the ids of the call so far, whatever became of them"""
    born: set[str]
    """of these, the ids of jobs that are new, though nothing may have been kept of them"""


class Restored(NamedTuple):
    """What a step that restores jobs came to, and whether it owes something to dependents."""

    receipts: Sequence[Receipt]
    owing: bool = False


def insert(jobs: Sequence[NewJob], now: int, accept: Accept) -> Operation[Sequence[Receipt]]:
    """Store jobs some of which have parents; `UnknownJob`, before anything is written, if one of
    these is not there."""
    # On a connection that is not ours, nothing may be read before the first write: see
    # stores/sqlite/queries/arrive.sql.
    yield Statement("next_place", {"number": 0})
    family = yield from family_of(jobs)
    return (yield from bear(jobs, family, now, accept))


def family_of(jobs: Sequence[NewJob]) -> Operation[Family]:
    """The parents that do not come with this call. Nothing was written yet if one is unknown."""
    wanted: dict[str, str] = {}
    coming: set[str] = set()
    for job in jobs:
        for id in job.spec.parents:
            if id not in coming:
                wanted.setdefault(id, job.id)
        coming.add(job.id)
    found = yield from find_parents(wanted)
    for parent, child in wanted.items():
        if parent not in found:
            raise unknown_parent(child, parent)
    return Family(found, set(), set())


def bear(
    jobs: Sequence[NewJob], family: Family, now: int, accept: Accept
) -> Operation[Sequence[Receipt]]:
    """Store jobs, or the next ones of a call whose family is known."""
    known, coming, born = family
    receipts: list[Receipt] = []
    for part in _parts(jobs):
        inside = {id for job in part for id in job.spec.parents if id in coming}
        if inside:
            found = yield from find_parents(inside)
            for id in inside - found.keys():
                known.pop(id, None)
            known.update(found)
        answers = {job.id: Receipt(job.id, duplicate=True) for job in part}
        first = [job for job in part if job.id not in born]
        if first:
            got = yield from _bear(first, known, now, accept)
            answers.update(zip([job.id for job in first], got, strict=True))
        receipts += answers.values()
        born.update(id for id, receipt in answers.items() if not receipt.duplicate)
        coming.update(answers)
    return receipts


def find_parents(ids: Iterable[str]) -> Operation[dict[str, Locked]]:
    """Jobs by id, held against who would end them."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    found = {job.id: job for job in (yield from lock(wanted))}
    missing = [id for id in wanted if id not in found]
    # Where live jobs and finished ones have a table each, one that ended while we waited for its
    # lock is in neither; asked again, it is there.
    return found | {job.id: job for job in (yield from lock(missing))}


def _parts(jobs: Sequence[NewJob]) -> Iterator[Sequence[NewJob]]:
    """The jobs of a call in their order, each part without those that depend on others of it."""
    part: dict[str, NewJob] = {}
    for job in jobs:
        if job.id in part or any(id in part for id in job.spec.parents):
            yield [*part.values()]
            part = {}
        part[job.id] = job
    yield [*part.values()]


def _bear(
    jobs: Sequence[NewJob], known: Mapping[str, Locked], now: int, accept: Accept
) -> Operation[Sequence[Receipt]]:
    """Store jobs in the states that their parents put them in."""
    waiting: dict[str, list[str]] = {}
    failed: dict[str, Failure] = {}
    for job in jobs:
        parents = [known[id] for id in dict.fromkeys(job.spec.parents) if id in known]
        fate, culprit = first_fate(parents, runs_anyway=job.spec.runs_anyway)
        if culprit is not None:
            failed[job.id] = orphaned(culprit.id, culprit.state)
        elif fate is Fate.WAITS:
            waiting[job.id] = [parent.id for parent in parents if parent.state in LIVE]
    receipts = yield from accept(jobs, now, waiting.keys() | failed.keys())
    new = [job for job, receipt in zip(jobs, receipts, strict=True) if not receipt.duplicate]
    yield from add_edges(
        [(job.id, job.spec.runs_anyway, waiting[job.id]) for job in new if job.id in waiting]
    )
    orphans = yield from lock(job.id for job in new if job.id in failed)
    if orphans:
        tally = Tally()
        noting = yield from journal.is_kept()
        yield from call_off([(job, failed[job.id]) for job in orphans], tally, now, noting)
        yield from tally.write()
    return receipts


def add_edges(children: Sequence[tuple[str, bool, Sequence[str]]]) -> Operation[None]:
    """Let jobs wait for others, which are locked. Each child with whether it runs anyway.

    Numbered after the lock: so what an end noted concerns no edge of a later life of the job.
    """
    if not children:
        return
    number = len(children)
    first = one((yield Statement("next_place", {"number": number}))) - number + 1
    rows: list[Row] = [
        (parent, serial, child, int(anyway))
        for serial, (child, anyway, parents) in enumerate(children, first)
        for parent in parents
    ]
    yield Bulk("add_edge", sorted(rows))


def restore(
    jobs: Sequence[Job], now: int, accept: Callable[[Sequence[Job]], Plan[Sequence[Receipt]]]
) -> Operation[Restored]:
    """Take in jobs of another store, and see to those whose parents have ended meanwhile."""
    if not jobs:
        return Restored(())
    # One at a time: of two who bring a parent and its dependent, one must see what the other did.
    yield Statement("restoring")
    receipts: list[Receipt] = []
    owing = False
    tally = Tally()
    # One that waited for a slot there has to wait for it here.
    jobs = [
        replace(job, state=State.PENDING)
        if job.state is State.BLOCKED and not job.waits_for
        else job
        for job in jobs
    ]
    for part in (yield from _cut(jobs)):
        accepted = yield from windows.unless_held(part, now, accept)
        receipts += accepted
        new = [job for job, receipt in zip(part, accepted, strict=True) if not receipt.duplicate]
        special = [Mover(job.id, job.queue, job.spec, job.state) for job in new]
        yield from moved([job for job in special if is_special(job.spec)], tally, new=True)
        owing |= yield from _settle(new, tally, now)
    yield from conclude(tally, now)
    return Restored(receipts, owing)


def _cut(jobs: Sequence[Job]) -> Operation[list[Sequence[Job]]]:
    """The jobs in parts, each of which ends with one that may release others.

    In the line, these come before what is restored after that one.
    """
    awaited = {id for job in jobs for id in job.waits_for}
    ended = {job.id for job in jobs if job.state in FINISHED}
    if awaited:
        known = yield from find_parents(awaited)
        ended |= {id for id, job in known.items() if job.state in FINISHED}
    awaited |= yield from parents_among(job.id for job in jobs if job.state in FINISHED)
    parts: list[list[Job]] = [[]]
    for job in jobs:
        parts[-1].append(job)
        if (job.id in ended and job.id in awaited) or ended.intersection(job.waits_for):
            parts.append([])
    return [part for part in parts if part]


def _settle(jobs: Sequence[Job], tally: Tally, now: int) -> Operation[bool]:
    """Let restored jobs wait for their parents, and see to what has ended; whether more is owed."""
    blocked = [job for job in jobs if job.state is State.BLOCKED]
    known: dict[str, Locked] = {}
    if blocked:
        known = yield from find_parents(id for job in blocked for id in job.waits_for)
        yield from add_edges([(job.id, job.spec.runs_anyway, job.waits_for) for job in blocked])
    ended: dict[str, str] = {}
    for job in jobs:
        states = {id: known[id].state for id in job.waits_for if id in known}
        ended |= {
            id: state for id, state in (states | {job.id: job.state}).items() if state in FINISHED
        }
    return (yield from end(ended, tally, now))
