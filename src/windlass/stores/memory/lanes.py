"""Who is in which lane: with a slot, or waiting for one."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...core.lane import Lane, LanePage, LaneStats
from ...core.model import Job
from ...core.states import FINISHED, State
from ...limits.admission import LaneState, Standing, after_starts, idle_from, noticed, settle
from ..cursor import LaneCursor, decode_lane_cursor
from .shelf import Shelf

Key = tuple[str, str]
"""The queue and the name of a lane."""

replace = msgspec.structs.replace


class Lanes:
    """Puts jobs on the shelf by way of their lanes, if they have one."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._limits: dict[Key, Lane] = {}
        self._states: dict[Key, LaneState] = {}
        self._holders: dict[Key, set[str]] = {}
        self._waiting: dict[Key, set[str]] = {}
        self._touched: dict[Key, bool] = {}
        """the lanes that a step has changed, and whether a job has entered them by it"""

    def put(self, job: Job, *, front: bool = False) -> Job:
        """Store a job in its new state; if that is pending, it may have to wait for it."""
        lane = job.spec.lane
        if lane is None:
            return self._shelf.put(job, front=front)
        key = (job.queue, lane.name)
        self._limits.setdefault(key, lane)
        if job.state is State.PENDING and job.id == self._ticket(key):
            # Its moment has come. It waits on where it stands, and is the first to be looked at.
            self._touch(key)
            return self._shelf.put(replace(job, state=State.BLOCKED))
        self._stops_waiting(key, job.id)
        keeps = lane.strict and job.state not in FINISHED and not job.waits_for
        if job.state is not State.ACTIVE and not keeps:
            self._gives_up(key, job.id)
        if job.state is not State.PENDING or job.id in self._holders.get(key, ()):
            return self._shelf.put(job, front=front)
        self._waiting.setdefault(key, set()).add(job.id)
        self._shelf.entered.add(job.id)
        self._touched[key] = True
        return self._shelf.put(replace(job, state=State.BLOCKED), front=front, place=True)

    def set_limits(self, job: Job) -> None:
        """The limits that come with a new job hold from now on."""
        if job.spec.lane is not None:
            key = (job.queue, job.spec.lane.name)
            self._limits[key] = job.spec.lane
            self._touch(key)

    def forget(self, job: Job) -> None:
        """A job that leaves the shelf, or is to be another one."""
        if job.spec.lane is not None:
            key = (job.queue, job.spec.lane.name)
            self._stops_waiting(key, job.id)
            self._gives_up(key, job.id)

    def started(self, job: Job, now: int, start: Callable[[Job], Job], room: int) -> list[Job]:
        """Start a job that was claimed, and those that come along with it, as far as there is room
        for their payloads."""
        if job.spec.lane is None:
            return [start(job)]
        key = (job.queue, job.spec.lane.name)
        lane = self._limits[key]
        along: list[str] = []
        for id in self._in_order(key)[: lane.size - 1] if lane.size else []:
            room -= len(self._shelf.jobs[id].spec.payload)
            if room < 0:
                break
            along.append(id)
        for id in along:
            self._stops_waiting(key, id)
        self._holders.setdefault(key, set()).update([job.id, *along])
        jobs = [start(each) for each in (job, *(self._shelf.jobs[id] for id in along))]
        if lane.counts_starts:
            state = self._states.get(key, LaneState())
            self._states[key] = after_starts(lane, state, now, len(jobs))
            self._touch(key)
        return jobs

    def settle(self, now: int) -> None:
        """The end of every step: give out the slots that are free."""
        for key, entered in self._touched.items():
            self._settle(key, entered, now)
        self._touched.clear()

    def prune(self, now: int) -> None:
        for key in [*self._limits]:
            lane, state = self._limits[key], self._states.get(key, LaneState())
            empty = not self._holders.get(key) and not self._waiting.get(key)
            if empty and idle_from(lane, state, now) <= now:
                for part in (self._limits, self._states, self._holders, self._waiting):
                    part.pop(key, None)

    def listed(self, limit: int, cursor: str | None) -> LanePage:
        """One page of all lanes, with their limits and counts."""
        last = decode_lane_cursor(cursor)
        keys = [key for key in sorted(self._limits) if key > (last.queue, last.name)]
        page = tuple(
            LaneStats(
                key[0],
                self._limits[key],
                len(self._holders.get(key, ())),
                len(self._waiting.get(key, ())),
            )
            for key in keys[:limit]
        )
        return LanePage(page, LaneCursor(*keys[limit - 1]).encode() if keys[limit:] else None)

    def _settle(self, key: Key, entered: bool, now: int) -> None:
        lane, waiting = self._limits[key], self._in_order(key)
        held = [self._shelf.jobs[id] for id in self._holders.get(key, ())]
        pending = sum(job.state is State.PENDING for job in held)
        standing = Standing(len(held), pending, len(waiting), entered)
        state = noticed(self._states.get(key, LaneState()), standing, now)
        admitted, ticket_at = settle(lane, state, standing, now)
        for id in waiting[:admitted]:
            self._stops_waiting(key, id)
            self._holders.setdefault(key, set()).add(id)
            self._shelf.put(replace(self._shelf.jobs[id], state=State.PENDING), place=False)
        left = waiting[admitted:]
        ticket = state.ticket if state.ticket in left else ""
        if ticket_at is not None:
            ticket = ticket or left[0]
            job = replace(self._shelf.jobs[ticket], state=State.SCHEDULED, due=ticket_at)
            self._shelf.put(job)
        elif ticket:
            self._shelf.put(replace(self._shelf.jobs[ticket], state=State.BLOCKED))
            ticket = ""
        self._states[key] = replace(state, ticket=ticket)

    def _in_order(self, key: Key) -> list[str]:
        in_order = self._limits[key].in_order
        shelf = self._shelf

        def turn(id: str) -> tuple[int, int]:
            return 0 if in_order else -shelf.jobs[id].priority, shelf.place[id]

        return sorted(self._waiting.get(key, ()), key=turn)

    def _ticket(self, key: Key) -> str | None:
        """The ticket, unless it has left the lane since that was settled."""
        ticket = self._states.get(key, LaneState()).ticket
        return ticket if ticket in self._waiting.get(key, ()) else None

    def _stops_waiting(self, key: Key, id: str) -> None:
        if id in self._waiting.get(key, ()):
            self._waiting[key].discard(id)
            self._shelf.entered.discard(id)
            self._touch(key)

    def _gives_up(self, key: Key, id: str) -> None:
        if id in self._holders.get(key, ()):
            self._holders[key].discard(id)
            self._touch(key)

    def _touch(self, key: Key) -> None:
        self._touched.setdefault(key, False)
