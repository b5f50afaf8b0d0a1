"""Where the jobs are, and every order in which they are looked for."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Iterable
from functools import partial

import msgspec

from ...core.model import Job
from ...core.states import FINISHED, LIVE, WAITING, State
from ...limits.fairness import place_of
from ..contract import PROMOTE_BATCH
from .grouped import Grouped

Entry = tuple[int, int, str]
"""What a line is sorted by, the place, and the job."""


class Shelf:
    """Jobs in dicts and heaps of this process.

    The heaps hold entries that may be out of date; an entry counts only if the job is
    still in the state, and at the place, that the entry was made for.
    """

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}
        self.place: dict[str, int] = {}
        self.unique: dict[str, str] = {}
        self.windows: dict[str, tuple[str, int]] = {}
        self.entered: set[str] = set()
        """the jobs that wait in their lane"""
        self._clocks: dict[str, int] = {}
        self._grouped = Grouped(self._stands)
        self.counts: dict[str, Counter[State]] = {}
        self._ready: dict[str, list[Entry]] = {}
        self._due: dict[str, list[Entry]] = {}
        self._leases: list[tuple[int, str]] = []
        self._expiry: list[tuple[int, str]] = []
        self._back = itertools.count(1)
        self._front = itertools.count(-1, -1)

    def holder(self, id: str, unique: str | None, now: int) -> str | None:
        """The job that has this id or holds this unique key."""
        if id in self.jobs:
            return id
        if unique is None:
            return None
        by_window, until = self.windows.get(unique, ("", 0))
        return self.unique.get(unique) or (by_window if until > now else None)

    def hold(self, key: str, id: str, until: int) -> None:
        """Let a job hold a key for a time, whatever becomes of it."""
        self.windows[key] = (id, until)

    def free_windows(self, id: str) -> None:
        """A job that was called off holds no key any more."""
        for key in [key for key, (holder, _) in self.windows.items() if holder == id]:
            del self.windows[key]

    def is_live(self, id: str) -> bool:
        return id in self.jobs and self.jobs[id].state in LIVE

    def holds(self, id: str, fence: int) -> bool:
        """Whether this fence is that of the claim that a job is active by."""
        job = self.jobs.get(id)
        return job is not None and job.state is State.ACTIVE and job.fence == fence

    def with_work(self) -> list[str]:
        """The queues that have jobs waiting; others may still have entries of former ones."""
        return [name for name in [*self.counts] if any(map(self.counts[name].get, WAITING))]

    # -- looking for jobs ----------------------------------------------------------------

    def first_ready(self, queue: str) -> Job | None:
        """Take the next pending job of a queue out of its line."""
        heap = self._ready.get(queue, [])
        while heap:
            entry = heapq.heappop(heap)
            # One that was replaced may have got its place back, with another priority; and one that
            # was made anew, in another queue.
            if self._is_current(entry, State.PENDING):
                job = self.jobs[entry[2]]
                if entry[0] == -job.priority and job.queue == queue:
                    return job
        return None

    def line_up(self, job: Job) -> None:
        """Let a pending job stand in its line, where its place is."""
        heap = self._ready.setdefault(job.queue, [])
        heapq.heappush(heap, (-job.priority, self.place[job.id], job.id))

    def take_due(self, queues: Iterable[str], now: int) -> list[Job]:
        """The jobs of these queues whose time has come, earliest first."""
        due: list[Entry] = []
        for queue in queues:
            heap = self._due.get(queue, [])
            while heap and heap[0][0] <= now and len(due) < PROMOTE_BATCH:
                entry = heapq.heappop(heap)
                if self._is_current(entry, State.SCHEDULED, State.RETRY):
                    # Entries of a time before the job was rescheduled are still here.
                    job = self.jobs[entry[2]]
                    due += [entry] if (job.due, job.queue) == (entry[0], queue) else []
        return [self.jobs[id] for _, _, id in sorted(due)]

    def next_due(self, queue: str) -> int | None:
        """The earliest time that a job of a queue may wait for."""
        heap = self._due.get(queue)
        return heap[0][0] if heap else None

    def take_expired(self, now: int) -> Job | None:
        """The job whose lease ran out longest ago."""
        while self._leases and self._leases[0][0] <= now:
            until, id = heapq.heappop(self._leases)
            job = self.jobs.get(id)
            if job is not None and job.state is State.ACTIVE and job.lease_until == until:
                return job
        return None

    def leased_by(self, worker: str, now: int) -> list[Job]:
        """The jobs that a worker has a lease of."""
        active = {
            id: self.jobs[id] for until, id in self._leases if until > now and id in self.jobs
        }
        return [job for job in active.values() if _is_leased(job, worker, now)]

    def take_prunable(self, now: int) -> Job | None:
        """A finished job that was kept long enough."""
        while self._expiry and self._expiry[0][0] <= now:
            until, id = heapq.heappop(self._expiry)
            job = self.jobs.get(id)
            if job is not None and _expires_at(job) == until:
                return job
        return None

    def _is_current(self, entry: Entry, *states: State) -> bool:
        _, place, id = entry
        return self.place.get(id) == place and self.jobs[id].state in states

    # -- putting them there --------------------------------------------------------------

    def put(self, job: Job, *, front: bool = False, place: bool | None = None) -> Job:
        """Store a job in its new state and everything that hangs on it.

        It gets a place, at the end of the line or at its front, if it is new or becomes pending;
        or as `place` says.
        """
        before = self.jobs.get(job.id)
        if before is not None:
            self._forget(before)
        becomes = job.state is State.PENDING and (not before or before.state is not State.PENDING)
        if place or (place is None and (before is None or becomes)):
            in_line = bool(place) or job.state is State.PENDING
            self.place[job.id] = self._next_place(job, front, in_line)
        if job.state in FINISHED and job.state is not State.DEAD and job.spec.keep == 0:
            self.jobs.pop(job.id, None)
            self.place.pop(job.id, None)
            return job
        self.jobs[job.id] = job
        self.counts.setdefault(job.queue, Counter())[job.state] += 1
        if job.unique is not None and job.state in LIVE:
            self.unique[job.unique] = job.id
        if job.spec.group and (job.state is State.PENDING or job.id in self.entered):
            self._grouped.add(job.queue, job.spec.group, self.place[job.id], job.id)
        self._index(job)
        return job

    def _next_place(self, job: Job, front: bool, in_line: bool) -> int:
        if front:
            return next(self._front)
        if not job.spec.group or not in_line:
            return next(self._back)
        mine = self._grouped.greatest(job.queue, job.spec.group)
        clock = self._clocks.get(job.queue, 0)
        last_between = partial(self._grouped.last_between, job.queue)
        return place_of(clock, mine, job.spec.weight, last_between)

    def _stands(self, queue: str, place: int, id: str, group: str | None) -> bool:
        """Whether a job of this group is pending, or waits in its lane, at this place."""
        job = self.jobs.get(id)
        return (
            job is not None
            and (id in self.entered or job.state is State.PENDING)
            and (job.queue, self.place[id]) == (queue, place)
            and (job.spec.group == group if group else job.spec.group != "")
        )

    def handed_out(self, job: Job) -> None:
        """The clock of a queue goes up to the place of what it gives."""
        if job.spec.group:
            clock = self._clocks.get(job.queue, 0)
            self._clocks[job.queue] = max(clock, self.place[job.id])

    def change(self, job: Job, **fields: object) -> None:
        """Note something of a job that no line is sorted by."""
        self.jobs[job.id] = msgspec.structs.replace(job, **fields)

    def remove(self, job: Job) -> None:
        self._forget(job)
        del self.jobs[job.id], self.place[job.id]

    def _index(self, job: Job) -> None:
        place = self.place[job.id]
        expires_at = _expires_at(job)
        if job.state is State.PENDING:
            self.line_up(job)
        elif job.state in (State.SCHEDULED, State.RETRY):
            heapq.heappush(self._due.setdefault(job.queue, []), (job.due, place, job.id))
        elif job.lease_until is not None:
            heapq.heappush(self._leases, (job.lease_until, job.id))
        elif expires_at is not None:
            heapq.heappush(self._expiry, (expires_at, job.id))

    def _forget(self, job: Job) -> None:
        self.counts[job.queue][job.state] -= 1
        if job.unique is not None and job.state in LIVE:
            del self.unique[job.unique]


def _is_leased(job: Job, worker: str, now: int) -> bool:
    return job.state is State.ACTIVE and job.worker == worker and (job.lease_until or 0) > now


def _expires_at(job: Job) -> int | None:
    """When a finished job may be pruned; a dead one never."""
    if job.state in (State.COMPLETED, State.CANCELLED) and job.finished_at is not None:
        return job.finished_at + job.spec.keep
    return None
