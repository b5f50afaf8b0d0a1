"""Calling jobs off: asked for by people, or because what they depend on has failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core.model import Failure
from ...core.states import State
from . import journal, windows
from .line import moved, movers
from .operation import Bulk, Operation, Row
from .rows import Locked, expires_at, to_end
from .tally import Tally


def call_off(
    jobs: Sequence[tuple[Locked, Failure | None]], tally: Tally, now: int, noting: bool
) -> Operation[None]:
    """Cancel live jobs, each for its reason; their dependents are the caller's to see to."""
    cancelled: list[Row] = []
    dropped: list[Row] = []
    for job, why in jobs:
        expiry = expires_at(State.CANCELLED, job.keep, now)
        if expiry == now:
            dropped.append((job.id,))
        if noting or expiry != now:
            cancelled.append(to_end(job.id, State.CANCELLED, now, expiry, why))
        tally.move(job.queue, job.state, None if expiry == now else State.CANCELLED)
    yield from stop_waiting(job for job, _ in jobs)
    yield from windows.free(job.id for job, _ in jobs)
    if cancelled:
        yield Bulk("end", cancelled)
    if noting:
        for ran in (True, False):
            these = [job.id for job, _ in jobs if (job.state == State.ACTIVE) is ran]
            yield from journal.note(these, now, ran=ran)
    if dropped:
        yield Bulk("drop", dropped)
    yield from moved(movers((job, State.CANCELLED) for job, _ in jobs), tally)


def stop_waiting(jobs: Iterable[Locked]) -> Operation[None]:
    """Drop the edges to those that are blocked."""
    blocked: list[Row] = [(job.id,) for job in jobs if job.state == State.BLOCKED]
    if blocked:
        yield Bulk("forget_edges", blocked)
