"""What people ask for: cancel, replay, delete, pause, and the state of the queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ...core.model import Job, QueueStats
from ...core.states import DELETABLE, LIVE, REPLAYABLE, RESCHEDULABLE, State
from . import attempts, journal, line, windows
from .births import add_edges, find_parents
from .cancel import call_off, stop_waiting
from .dependents import Ended, end
from .lanes import conclude
from .line import Mover, is_special, movers
from .lock import lock
from .operation import Bulk, Operation, Row, Statement, one
from .rows import STATES, Locked, json_array, to_jobs
from .tally import Tally


def get(ids: Sequence[str]) -> Operation[dict[str, Job]]:
    if not ids:
        return {}
    rows = yield Statement("get", {"ids": json_array(list(ids))})
    return {job.id: job for job in to_jobs(rows)}


def cancel(ids: Sequence[str], now: int) -> Operation[Ended]:
    jobs = [job for job in (yield from lock(ids)) if job.state in LIVE]
    if not jobs:
        return Ended(frozenset())
    tally = Tally()
    noting = yield from journal.is_kept()
    yield from call_off([(job, None) for job in jobs], tally, now, noting)
    ids = [job.id for job in jobs]
    owing = yield from end(dict.fromkeys(ids, State.CANCELLED), tally, now, noting)
    yield from conclude(tally, now)
    return Ended(frozenset(ids), owing)


def reschedule(ids: Sequence[str], due: int, now: int) -> Operation[frozenset[str]]:
    jobs = [job for job in (yield from lock(ids)) if job.state in RESCHEDULABLE]
    if not jobs:
        return frozenset()
    tally = Tally()
    special = any([job.special is not None for job in jobs])
    # Of several that leave the line and come back, each finds the next one where it was.
    for some in [[job] for job in jobs] if special else [jobs]:
        yield from _reschedule(some, due, tally, now)
    yield from conclude(tally, now)
    return frozenset(job.id for job in jobs)


def _reschedule(jobs: Sequence[Locked], due: int, tally: Tally, now: int) -> Operation[None]:
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    rows: list[Row] = []
    after: list[tuple[Locked, str]] = []
    for n, job in enumerate(jobs, 1):
        later = State.SCHEDULED if job.state == State.PENDING else State(job.state)
        state = State.PENDING if due <= now else later
        rows.append((state.value, due, place + n if due <= now else None, job.id))
        tally.move(job.queue, job.state, state)
        after.append((job, state))
    yield Bulk("reschedule", rows)
    yield from line.moved(movers(after), tally)


def replay(ids: Sequence[str], now: int) -> Operation[frozenset[str]]:
    jobs = [job for job in (yield from lock(ids)) if job.state in REPLAYABLE]
    jobs = yield from _without_rivals(jobs, now)
    if not jobs:
        return frozenset()
    tally = Tally()
    whole = yield from get([job.id for job in jobs])
    blocked = yield from _blocked_again(jobs, whole)
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    rows: list[Row] = []
    special: list[Mover] = []
    for n, job in enumerate(jobs, 1):
        state = State.BLOCKED if job.id in blocked else State.PENDING
        rows.append((state.value, now, None if job.id in blocked else place + n, job.id))
        tally.move(job.queue, job.state, state)
        if is_special(whole[job.id].spec):
            special.append(Mover(job.id, job.queue, whole[job.id].spec, state))
    yield Bulk("replay", rows)
    yield from line.moved(special, tally)
    yield from add_edges([(id, anyway, live) for id, (anyway, live) in blocked.items()])
    yield from conclude(tally, now)
    return frozenset(job.id for job in jobs)


def _blocked_again(
    jobs: Sequence[Locked], whole: Mapping[str, Job]
) -> Operation[dict[str, tuple[bool, list[str]]]]:
    """Those that have live parents: whether they run anyway, and these parents.

    The jobs are replayed in their order: one before is live again.
    """
    parents = {id for job in whole.values() for id in job.spec.parents}
    found = (yield from find_parents(parents)) if parents else {}
    live = {job.id for job in found.values() if job.state in LIVE}
    blocked: dict[str, tuple[bool, list[str]]] = {}
    for job in jobs:
        spec = whole[job.id].spec
        if waits_for := [id for id in dict.fromkeys(spec.parents) if id in live]:
            blocked[job.id] = (spec.runs_anyway, waits_for)
        live.add(job.id)
    return blocked


def _without_rivals(jobs: list[Locked], now: int) -> Operation[list[Locked]]:
    """Leave out jobs whose unique key is held, by another job or by one before them."""
    keys = [job.unique for job in jobs if job.unique is not None]
    held: set[str | None] = {*(yield from windows.held(keys, now))}
    held |= {key for key, _ in (yield Statement("holders", {"keys": json_array(keys)}))}
    free = []
    for job in jobs:
        if job.unique is None or job.unique not in held:
            free.append(job)
            held.add(job.unique)
    return free


def delete(
    ids: Sequence[str], states: frozenset[State], now: int, *, moved: bool
) -> Operation[Ended]:
    # What is in a state that there is not goes if any may: there is no other way for it to go.
    any_goes = states == DELETABLE
    locked = yield from lock(ids)
    jobs = [job for job in locked if job.state in states or (any_goes and job.state not in STATES)]
    tally = Tally()
    for job in jobs:
        if job.state in STATES:
            tally.move(job.queue, job.state, None)
    yield from stop_waiting(jobs)
    if jobs:
        yield from windows.free(job.id for job in jobs)
        yield Bulk("drop", [(job.id,) for job in jobs])
        yield from attempts.drop([job.id for job in jobs])
        yield from line.moved(movers((job, None) for job in jobs), tally)
    failed = [job.id for job in jobs if job.state in LIVE and not moved]
    owing = yield from end(dict.fromkeys(failed, "deleted"), tally, now)
    yield from conclude(tally, now)
    return Ended(frozenset(job.id for job in jobs), owing)


def pause(queue: str) -> Operation[None]:
    yield Statement("pause", {"queue": queue})


def resume(queue: str) -> Operation[None]:
    yield Statement("resume", {"queue": queue})


def queues() -> Operation[Sequence[QueueStats]]:
    counts: defaultdict[str, dict[State, int]] = defaultdict(dict)
    for queue, state, number in (yield Statement("counts")):
        # A count of something else was written by somebody else.
        if state in STATES:
            counts[queue][State(state)] = number
    paused = {name for (name,) in (yield Statement("paused"))}
    names = sorted(counts.keys() | paused)
    return [QueueStats(name, counts.get(name, {}), name in paused) for name in names]
