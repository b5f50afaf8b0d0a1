"""Giving jobs that wait another priority."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.model import Job
from ...core.states import WAITING, State
from . import groups
from .admin import get
from .groups import Member
from .lock import lock
from .operation import Bulk, Operation, Row, Statement, one
from .rows import TOP_PRIORITY, Locked


def prioritize(ids: Sequence[str], priority: int) -> Operation[frozenset[str]]:
    jobs = [job for job in (yield from lock(ids)) if job.state in WAITING]
    whole = yield from get([job.id for job in jobs])
    others = [job for job in jobs if whole[job.id].priority != priority]
    yield from _move([job for job in others if not _takes_turns(job, whole)], priority)
    # Of several that leave their turns for new ones, each finds the next one where it was.
    for job in others:
        if _takes_turns(job, whole):
            yield from _move([job], priority)
            yield from _take_turn(job, whole[job.id])
    return frozenset(job.id for job in jobs)


def _takes_turns(job: Locked, whole: dict[str, Job]) -> bool:
    return job.state == State.PENDING and whole[job.id].spec.group != ""


def _move(jobs: Sequence[Locked], priority: int) -> Operation[None]:
    """Change priorities; who is in line goes to its end, who is elsewhere stays there."""
    if not jobs:
        return
    waiting = [job.id for job in jobs if job.state == State.PENDING]
    number = len(waiting)
    place = one((yield Statement("next_place", {"number": number}))) - number if waiting else 0
    places = {id: place + n for n, id in enumerate(waiting, 1)}
    rows: list[Row] = [(TOP_PRIORITY - priority, places.get(job.id), job.id) for job in jobs]
    yield Bulk("prioritize", rows)


def _take_turn(job: Locked, whole: Job) -> Operation[None]:
    """The place that a job of a group gets, once it has left the one that it had."""
    spec = whole.spec
    member = Member(job.id, job.queue, spec.group, spec.weight)
    places = yield from groups.places([member])
    lane = None if spec.lane is None else spec.lane.name
    yield Bulk("join", [(lane, spec.group, None, job.slot, places[job.id], job.id)])
