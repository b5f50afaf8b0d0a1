"""Taking in jobs of another store, where live jobs and finished ones have a table each.

All of them come in among the live ones, where one index says who has an id. Those that were
finished elsewhere leave again at once, in the way of every job that ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ...core.model import Job, Receipt, encode_spec
from ...core.states import LIVE, State
from . import windows
from .fields import encode_failure, encode_mail, encode_progress
from .insert import expiry
from .operation import Bulk, Operation, Row, Statement, one
from .rows import TOP_PRIORITY, json_array, to_end
from .tally import Tally

PASSING: Final = State.BLOCKED
"""What a finished job is for a moment: no claim looks at it."""


def restore(jobs: Sequence[Job], now: int | None = None) -> Operation[Sequence[Receipt]]:
    """`now` where keys that are held for a time are in the index of the jobs."""
    receipts: dict[int, Receipt] = {}
    left = dict(enumerate(jobs))
    if jobs:
        yield Statement("raise_fence", {"fence": max(job.fence for job in jobs)})
    while left:
        ended = yield from _finished(left.values())
        receipts |= {n: Receipt(job.id, True) for n, job in left.items() if job.id in ended}
        left = {n: job for n, job in left.items() if n not in receipts}
        if left:
            receipts |= yield from _store(left, now)
        # Whoever was in the way of the rest has gone since: try again.
        left = {n: job for n, job in left.items() if n not in receipts}
    return [receipts[n] for n in range(len(jobs))]


def _store(jobs: Mapping[int, Job], now: int | None) -> Operation[dict[int, Receipt]]:
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    places = {n: place + offset for offset, n in enumerate(jobs, 1)}
    yield Bulk("restore", [_row(job, places[n]) for n, job in jobs.items()])
    # Ended while we waited to write it: it is not among the live ones any more.
    late = yield from _finished(jobs.values())
    if late:
        yield Bulk("withdraw", [(id,) for id in sorted(late)])
    there = dict((yield Statement("places", {"ids": _ids(jobs.values())})))
    keys = [key for job in jobs.values() if (key := _key(job)) is not None]
    holders = dict((yield Statement("holders", {"keys": json_array(keys)}))) if keys else {}
    if now is not None:
        holders |= yield from windows.held(keys, now)
    receipts: dict[int, Receipt] = {}
    stored: list[Job] = []
    last = max(places.values())
    for n, job in jobs.items():
        found = None if job.id in late else there.get(job.id)
        if found == places[n]:
            stored.append(job)
            receipts[n] = Receipt(job.id)
        elif job.id in late or (found is not None and not places[n] < found <= last):
            receipts[n] = Receipt(job.id, duplicate=True)
        elif _key(job) in holders:
            receipts[n] = Receipt(holders[_key(job)], duplicate=True)
    yield from _settle(stored)
    return receipts


def _settle(jobs: Sequence[Job]) -> Operation[None]:
    """Let finished ones leave, and count all."""
    finished = [job for job in jobs if job.state not in LIVE]
    if finished:
        yield Bulk("end", [_ending(job) for job in finished])
    keyed: list[Row] = [(job.unique, job.id) for job in finished if job.unique is not None]
    if keyed:
        yield Bulk("restore_key", keyed)
    tally = Tally()
    tally.update([(job.queue, job.state.value) for job in jobs])
    yield from tally.write()


def _row(job: Job, place: int) -> Row:
    """The parameters of `restore.sql`: what a live job has."""
    return (
        job.id,
        encode_spec(job.spec),
        job.queue,
        job.state.value if job.state in LIVE else PASSING.value,
        TOP_PRIORITY - job.priority,
        place,
        job.created_at,
        job.due,
        job.spec.keep,
        _key(job),
        job.attempt,
        job.fence,
        job.worker,
        job.started_at,
        encode_failure(job.error),
        None if job.progress is None else encode_progress(job.progress),
        job.checkpoint,
        job.awaits,
        None if job.mail is None else encode_mail(job.mail),
        job.lost,
    )


def _ending(job: Job) -> Row:
    """The parameters of `end.sql`."""
    return to_end(job.id, job.state, job.finished_at or 0, expiry(job), job.error, job.result)


def _key(job: Job) -> str | None:
    """The unique key that a job is to hold; a finished one holds none."""
    return job.unique if job.state in LIVE else None


def _finished(jobs: Iterable[Job]) -> Operation[set[str]]:
    """Those of these ids that are of finished jobs."""
    return {id for (id,) in (yield Statement("finished_ids", {"ids": _ids(jobs)}))}


def _ids(jobs: Iterable[Job]) -> str:
    return json_array([job.id for job in jobs])
