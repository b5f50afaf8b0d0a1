"""Jobs with a lane or a group on their way into the line and out of it.

An operation moves such jobs like all others; what is theirs alone is done here, afterwards and in
the same transaction: who became pending may have to wait for a slot, or gets another place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ...core.model import NewJob, Spec, decode_spec
from ...core.states import LIVE, State
from . import groups
from .groups import Member
from .lanes import HAS, WAITS
from .operation import Bulk, Operation, Row
from .rows import Locked
from .tally import Tally


class Mover(NamedTuple):
    """A job with a lane or a group that an operation has moved."""

    id: str
    queue: str
    spec: Spec
    after: str | None
    """its state by now; None if it is gone"""
    slot: int | None = None
    """what it had before"""
    front: bool = False
    """whether it stands before all others, and stays there"""


def is_special(spec: Spec) -> bool:
    """Whether a job has a lane or a group."""
    return spec.lane is not None or spec.group != ""


def first_state(job: NewJob, now: int, blocked: AbstractSet[str] = frozenset()) -> State:
    """The state that a new job is stored in."""
    if job.id in blocked:
        return State.BLOCKED
    due = now + job.delay if job.due is None else job.due
    return State.SCHEDULED if due > now else State.PENDING


def movers(jobs: Iterable[tuple[Locked, str | None]], *, front: bool = False) -> list[Mover]:
    """Those of these jobs that are of concern here, each with its state by now."""
    return [
        Mover(job.id, job.queue, decode_spec(job.special), after, job.slot, front)
        for job, after in jobs
        if job.special is not None
    ]


def moved(jobs: Sequence[Mover], tally: Tally, *, new: bool = False) -> Operation[None]:
    """Let jobs leave lanes and enter them, and give those that have a group their places.

    The limits of `new` jobs hold from now on.
    """
    members = [
        Member(job.id, job.queue, job.spec.group, job.spec.weight)
        for job in jobs
        if job.spec.group and job.after == State.PENDING and not job.front
    ]
    places = (yield from groups.places(members)) if members else {}
    rows: list[Row] = []
    for job in jobs:
        slot, state = _pass(job, tally, new=new)
        lane = None if job.spec.lane is None else job.spec.lane.name
        # Those too that nothing is new of, and those that are gone: an engine may have noted
        # where they stood.
        rows.append((lane, job.spec.group or None, state, slot, places.get(job.id), job.id))
    if rows:
        yield Bulk("join", rows)


def _pass(job: Mover, tally: Tally, *, new: bool) -> tuple[int | None, str | None]:
    """The slot of a job from now on, and another state if it has to wait for one."""
    lane = job.spec.lane
    if lane is None or (job.after is None and job.slot is None):
        return None, None
    touch, slot = tally.lane(job.queue, lane), job.slot
    if new:
        touch.limits, touch.changed = lane, True
    keeps = lane.strict and job.after in LIVE
    if slot == WAITS or (slot == HAS and job.after != State.ACTIVE and not keeps):
        slot, touch.changed = None, True
    if job.after != State.PENDING or slot == HAS:
        return slot, None
    touch.changed = touch.entered = True
    tally.move(job.queue, State.PENDING, State.BLOCKED)
    return WAITS, State.BLOCKED.value


def ripen(jobs: Sequence[Mover], tally: Tally) -> Operation[None]:
    """Tickets whose moment has come wait on where they stand, and are the first to be looked at."""
    rows: list[Row] = []
    for job in jobs:
        if job.spec.lane is not None:
            tally.lane(job.queue, job.spec.lane).changed = True
            tally.move(job.queue, State.SCHEDULED, State.BLOCKED)
            group = job.spec.group or None
            rows.append((job.spec.lane.name, group, State.BLOCKED.value, WAITS, None, job.id))
    if rows:
        yield Bulk("join", rows)
