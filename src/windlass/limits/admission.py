"""Who gets a slot of a lane. Used by every store after each step that changes a lane."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from ..core.lane import Lane
from .rate import Log, idle_at, opens_at, started, tokens

MOST_ADMITTED: Final = 100
"""The most jobs that one step lets into the line of their queue."""


class LaneState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a store keeps of a lane besides its limits and its jobs."""

    full_at: int = 0
    log: Log = ()
    """these two are the rate's: see `rate`"""
    ticket: str = ""
    """the job that is scheduled for the moment at which the lane lets someone in"""
    first: int = 0
    """since when jobs have been waiting; 0 while none is"""
    last: int = 0
    """when one entered it last"""


class Standing(NamedTuple):
    """The jobs of a lane."""

    holders: int
    """that have a slot"""
    pending: int
    """of these, that are pending"""
    waiting: int
    """that wait for one, the ticket included"""
    entered: bool = False
    """whether one of them has come with this very step"""


class Verdict(NamedTuple):
    """What is to be done: so many of the first waiting get slots, or one is scheduled."""

    admitted: int
    ticket_at: int | None = None


def noticed(state: LaneState, jobs: Standing, now: int) -> LaneState:
    """The state that a lane is settled by, and that is kept after it but for the ticket."""
    first = (state.first or now) if jobs.waiting else 0
    last = now if jobs.entered else state.last
    return msgspec.structs.replace(state, first=first, last=last)


def settle(lane: Lane, state: LaneState, jobs: Standing, now: int) -> Verdict:
    """What a lane allows, by its state as `noticed`."""
    if jobs.waiting == 0:
        return Verdict(0)
    free = lane.slots - jobs.holders if lane.slots else MOST_ADMITTED
    if lane.size:
        return _settle_batch(lane, state, jobs, now)
    number = min(free, jobs.waiting, MOST_ADMITTED)
    if lane.starts:
        number = min(number, tokens(lane, state.full_at, state.log, now) - jobs.pending)
        if number <= 0 and jobs.pending == 0 and free > 0:
            return Verdict(0, opens_at(lane, state.full_at, state.log, now))
    return Verdict(max(0, number))


def _settle_batch(lane: Lane, state: LaneState, jobs: Standing, now: int) -> Verdict:
    """The first leads: whoever claims it takes the others along."""
    if jobs.pending:
        return Verdict(0)
    ripe_at = min(state.first + lane.longest, state.last + lane.grace)
    if jobs.waiting >= lane.size or ripe_at <= now:
        return Verdict(1)
    return Verdict(0, ripe_at)


def after_starts(lane: Lane, state: LaneState, now: int, number: int) -> LaneState:
    """The state once so many of its jobs were claimed."""
    if not lane.starts:
        return msgspec.structs.replace(state, first=0)
    full_at, log = started(lane, state.full_at, state.log, now, number)
    return msgspec.structs.replace(state, full_at=full_at, log=log)


def idle_from(lane: Lane, state: LaneState, now: int) -> int:
    """From when on a lane without jobs can be forgotten."""
    return idle_at(lane, state.full_at, state.log, now) if lane.starts else now
