"""What people ask for: cancel, replay, delete, pause, and the state of the queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...core.model import Job, QueueStats, WorkerInfo
from ...core.states import LIVE, REPLAYABLE, RESCHEDULABLE, State
from . import journal
from .births import add_edges, find_parents
from .cancel import call_off, stop_waiting
from .dependents import Ended, end
from .finish import lock
from .operation import Bulk, Operation, Row, Statement, one
from .rows import Locked, decode_worker, json_array, to_job
from .tally import Tally


def get(ids: Sequence[str]) -> Operation[dict[str, Job]]:
    if not ids:
        return {}
    rows = yield Statement("get", {"ids": json_array(list(ids))})
    return {job.id: job for job in map(to_job, rows)}


def cancel(ids: Sequence[str], now: int) -> Operation[Ended]:
    jobs = [job for job in (yield from lock(ids)) if job.state in LIVE]
    if not jobs:
        return Ended(frozenset())
    tally = Tally()
    noting = yield from journal.is_kept()
    yield from call_off([(job, None) for job in jobs], tally, now, noting)
    ids = [job.id for job in jobs]
    owing = yield from end(dict.fromkeys(ids, State.CANCELLED), tally, now, noting)
    yield from tally.write()
    return Ended(frozenset(ids), owing)


def reschedule(ids: Sequence[str], due: int, now: int) -> Operation[frozenset[str]]:
    jobs = [job for job in (yield from lock(ids)) if job.state in RESCHEDULABLE]
    if not jobs:
        return frozenset()
    tally = Tally()
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    rows: list[Row] = []
    for n, job in enumerate(jobs, 1):
        later = State.SCHEDULED if job.state == State.PENDING else State(job.state)
        state = State.PENDING if due <= now else later
        rows.append((state.value, due, place + n if due <= now else None, job.id))
        tally.move(job.queue, job.state, state)
    yield Bulk("reschedule", rows)
    yield from tally.write()
    return frozenset(job.id for job in jobs)


def replay(ids: Sequence[str], now: int) -> Operation[frozenset[str]]:
    jobs = [job for job in (yield from lock(ids)) if job.state in REPLAYABLE]
    jobs = yield from _without_rivals(jobs)
    if not jobs:
        return frozenset()
    tally = Tally()
    blocked = yield from _blocked_again(jobs)
    place = one((yield Statement("next_place", {"number": len(jobs)}))) - len(jobs)
    rows: list[Row] = []
    for n, job in enumerate(jobs, 1):
        state = State.BLOCKED if job.id in blocked else State.PENDING
        rows.append((state.value, now, None if job.id in blocked else place + n, job.id))
        tally.move(job.queue, job.state, state)
    yield Bulk("replay", rows)
    yield from add_edges([(id, anyway, live) for id, (anyway, live) in blocked.items()])
    yield from tally.write()
    return frozenset(job.id for job in jobs)


def _blocked_again(jobs: Sequence[Locked]) -> Operation[dict[str, tuple[bool, list[str]]]]:
    """Those that have live parents: whether they run anyway, and these parents.

    The jobs are replayed in their order: one before is live again.
    """
    whole = yield from get([job.id for job in jobs])
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


def _without_rivals(jobs: list[Locked]) -> Operation[list[Locked]]:
    """Leave out jobs whose unique key is held, by a live job or by one before them."""
    keys = [job.unique for job in jobs if job.unique is not None]
    held = {key for key, _ in (yield Statement("holders", {"keys": json_array(keys)}))}
    free = []
    for job in jobs:
        if job.unique is None or job.unique not in held:
            free.append(job)
            held.add(job.unique)
    return free


def delete(
    ids: Sequence[str], states: frozenset[State], now: int, *, moved: bool
) -> Operation[Ended]:
    jobs = [job for job in (yield from lock(ids)) if job.state in states]
    tally = Tally()
    for job in jobs:
        tally.move(job.queue, job.state, None)
    yield from stop_waiting(jobs)
    if jobs:
        yield Bulk("drop", [(job.id,) for job in jobs])
    failed = [job.id for job in jobs if job.state in LIVE and not moved]
    owing = yield from end(dict.fromkeys(failed, "deleted"), tally, now)
    yield from tally.write()
    return Ended(frozenset(job.id for job in jobs), owing)


def pause(queue: str) -> Operation[None]:
    yield Statement("pause", {"queue": queue})


def resume(queue: str) -> Operation[None]:
    yield Statement("resume", {"queue": queue})


def workers(now: int) -> Operation[Sequence[WorkerInfo]]:
    rows = yield Statement("workers", {"now": now})
    return [decode_worker(*row) for row in rows]


def queues() -> Operation[Sequence[QueueStats]]:
    counts: defaultdict[str, dict[State, int]] = defaultdict(dict)
    for queue, state, number in (yield Statement("counts")):
        counts[queue][State(state)] = number
    paused = {name for (name,) in (yield Statement("paused"))}
    names = sorted(counts.keys() | paused)
    return [QueueStats(name, counts.get(name, {}), name in paused) for name in names]
