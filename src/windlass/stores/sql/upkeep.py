"""Leases, leaders and old jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.model import Job, Lease, Progress
from ...core.states import State
from ...core.workers import Term
from ..contract import ABANDON_BATCH, LONGEST_TERM
from . import crew, lanes
from .admin import get
from .fields import encode_progress
from .lock import lock
from .operation import Bulk, Operation, Statement, one
from .rows import json_array
from .tally import Tally


def renew(leases: Sequence[Lease], lease: int, now: int) -> Operation[frozenset[str]]:
    asked = {(each.id, each.fence) for each in leases}
    jobs = yield from lock(each.id for each in leases)
    held = [job for job in jobs if job.state == State.ACTIVE and (job.id, job.fence) in asked]
    if held:
        yield Bulk("renew", [(now + lease, job.id) for job in held])
    return frozenset(job.id for job in held)


def rescue(limit: int, lease: int, worker: str, now: int) -> Operation[Sequence[Job]]:
    expired = yield Statement("expired", {"now": now, "limit": limit})
    if not expired:
        return ()
    fence = one((yield Statement("next_fence", {"now": now})))
    yield Bulk("take_over", [(fence, now + lease, worker, id) for (id,) in expired])
    jobs = yield from get([id for (id,) in expired])
    return [jobs[id] for (id,) in expired if id in jobs]


def abandon(worker: str, now: int) -> Operation[int]:
    params = {"worker": worker, "now": now, "limit": ABANDON_BATCH}
    held = [id for (id,) in (yield Statement("leased_by", params))]
    if held:
        yield Statement("run_out", {"ids": json_array(held), "now": now})
    yield Statement("resign_all", {"holder": worker})
    yield from crew.leave(worker)
    return len(held)


def prune(limit: int, now: int) -> Operation[int]:
    yield Statement("prune_windows", {"now": now, "limit": limit})
    yield from lanes.prune(now)
    yield from crew.forget(now)
    rows = yield Statement("prunable", {"now": now, "limit": limit})
    if not rows:
        return 0
    tally = Tally()
    for _, queue, state in rows:
        tally.move(queue, state, None)
    yield Bulk("drop", [(id,) for id, _, _ in rows])
    yield from tally.write()
    return len(rows)


def elect(role: str, holder: str, ttl: int, now: int) -> Operation[Term | None]:
    yield Statement("add_term", {"role": role})
    current = Term(*(yield Statement("term", {"role": role}))[0])
    # One that ends later was given before the clock was set back.
    latest = now + max(ttl, LONGEST_TERM)
    if current.holder != holder and now < current.expires_at <= latest:
        return None
    number = current.term if current.holder == holder else current.term + 1
    term = Term(holder, number, now + ttl)
    yield Statement(
        "set_term",
        {"role": role, "holder": holder, "term": number, "expires_at": term.expires_at},
    )
    return term


def leaders() -> Operation[Mapping[str, Term]]:
    rows = yield Statement("leaders")
    return {role: Term(*term) for role, *term in rows}


def resign(role: str, holder: str) -> Operation[None]:
    yield Statement("resign", {"role": role, "holder": holder})


def report(reports: Sequence[tuple[Lease, Progress]]) -> Operation[None]:
    if reports:
        rows = [(encode_progress(made), lease.id, lease.fence) for lease, made in reports]
        yield Bulk("report", rows)


def checkpoint(states: Sequence[tuple[Lease, bytes]]) -> Operation[frozenset[str]]:
    given = {(lease.id, lease.fence): state for lease, state in states}
    jobs = yield from lock(lease.id for lease, _ in states)
    held = [job for job in jobs if job.state == State.ACTIVE and (job.id, job.fence) in given]
    if held:
        yield Bulk("checkpoint", [(given[job.id, job.fence], job.id) for job in held])
    return frozenset(job.id for job in held)
