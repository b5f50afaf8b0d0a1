"""The contract as plainly as it can be written: the specification that runs.

Every other store is compared with this one, operation by operation, by the model test.
It lives in one process and forgets everything at its end; for tests and for trying out.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from ...core.clock import Clock, system_clock
from ...core.dependents import Fate, first_fate, orphaned, unknown_parent
from ...core.model import (
    Entry,
    Job,
    JobQuery,
    Lease,
    NewJob,
    Page,
    Progress,
    QueueStats,
    Receipt,
    Term,
    Transition,
    WorkerInfo,
)
from ...core.schedule import Schedule, Turn, following, turn
from ...core.states import DELETABLE, FINISHED, LIVE, REPLAYABLE, RESCHEDULABLE, WAITING, State
from ..contract import PROMOTE_BATCH, SCAN_BATCH, refuse_active
from ..cursor import Cursor, Key, plan
from .dependents import Dependents

replace = msgspec.structs.replace

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate["MemoryStore", P], Coroutine[Any, Any, T]]


def atomic(method: Method[P, T]) -> Method[P, T]:
    """One step for all threads: handlers may enqueue from theirs. The method never suspends."""

    @wraps(method)
    async def step(self: MemoryStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            return await method(self, *args, **kwargs)

    return step


class MemoryStore:
    """Jobs in dicts and heaps of this process.

    The heaps hold entries that may be out of date; an entry counts only if the job is
    still in the state, and at the place, that the entry was made for.
    """

    blocking = True

    def __init__(self, clock: Clock | None = None) -> None:
        self._now = clock or system_clock
        self._jobs: dict[str, Job] = {}
        self._place: dict[str, int] = {}
        self._ready: dict[str, list[tuple[int, int, str]]] = {}
        self._due: dict[str, list[tuple[int, int, str]]] = {}
        self._leases: list[tuple[int, str]] = []
        self._expiry: list[tuple[int, str]] = []
        self._unique: dict[str, str] = {}
        self._dependents = Dependents()
        self._counts: dict[str, Counter[State]] = {}
        self._paused: set[str] = set()
        self._terms: dict[str, Term] = {}
        self._schedules: dict[str, Schedule] = {}
        self._workers: dict[str, tuple[int, WorkerInfo]] = {}
        self._back = itertools.count(1)
        self._front = itertools.count(-1, -1)
        self._fence = itertools.count(1)
        self._journal: dict[str, Entry] = {}
        self._keeps_journal = False
        self._noted = itertools.count(1)
        self._waiters: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._lock = threading.RLock()

    # -- life of the store ---------------------------------------------------------------

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        self._wake()

    async def migrate(self) -> Sequence[str]:
        return ()

    async def ping(self) -> None:
        pass

    async def now(self) -> int:
        return self._now()

    # -- the way of a job ----------------------------------------------------------------

    @atomic
    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        now = self._now()
        self._check_parents(jobs)
        receipts = [self._insert(job, now) for job in jobs]
        self._wake()
        return receipts

    def _check_parents(self, jobs: Sequence[NewJob]) -> None:
        coming: set[str] = set()
        for job in jobs:
            for parent in job.spec.parents:
                if parent not in self._jobs and parent not in coming:
                    raise unknown_parent(job.id, parent)
            coming.add(job.id)

    def _insert(self, new: NewJob, now: int) -> Receipt:
        holder = self._holder(new.id, new.unique)
        if holder is not None:
            return Receipt(holder, duplicate=True)
        due = now + new.delay if new.due is None else new.due
        job = Job(
            id=new.id,
            spec=new.spec,
            queue=new.queue,
            state=State.SCHEDULED if due > now else State.PENDING,
            priority=new.priority,
            created_at=now,
            due=due,
            unique=new.unique,
        )
        self._put(self._born(job, now) if new.spec.parents else job)
        return Receipt(new.id)

    def _born(self, job: Job, now: int) -> Job:
        """A new job with parents, in the state that these put it in."""
        parents = [self._jobs[id] for id in dict.fromkeys(job.spec.parents) if id in self._jobs]
        fate, failed = first_fate(parents, runs_anyway=job.spec.runs_anyway)
        if failed is not None:
            why = orphaned(failed.id, failed.state)
            job = replace(job, state=State.CANCELLED, finished_at=now, error=why)
            self._note(job, now, ran=False)
        elif fate is Fate.WAITS:
            job = self._block(job, [parent.id for parent in parents if parent.state in LIVE])
        return job

    def _block(self, job: Job, parents: Sequence[str]) -> Job:
        self._dependents.add(job.id, parents, runs_anyway=job.spec.runs_anyway)
        return replace(job, state=State.BLOCKED, waits_for=tuple(parents))

    def _holder(self, id: str, unique: str | None) -> str | None:
        """The job that has this id or holds this unique key."""
        if id in self._jobs:
            return id
        return None if unique is None else self._unique.get(unique)

    @atomic
    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        return {id: self._jobs[id] for id in ids if id in self._jobs}

    @atomic
    async def claim(
        self, queues: Mapping[str, int], limit: int, lease: int, worker: str
    ) -> Sequence[Job]:
        now = self._now()
        self._promote(queues, now)
        claimed: list[Job] = []
        fence = next(self._fence)
        for queue, most in queues.items():
            for _ in range(min(most, limit - len(claimed))):
                job = self._next_ready(queue)
                if job is None:
                    break
                claimed.append(
                    self._put(
                        replace(
                            job,
                            state=State.ACTIVE,
                            attempt=job.attempt + 1,
                            fence=fence,
                            lease_until=now + lease,
                            worker=worker,
                            started_at=now,
                            progress=None,
                        )
                    )
                )
        return claimed

    def _promote(self, queues: Iterable[str], now: int) -> None:
        due: list[tuple[int, int, str]] = []
        for queue in queues:
            heap = self._due.get(queue, [])
            while heap and heap[0][0] <= now and len(due) < PROMOTE_BATCH:
                entry = heapq.heappop(heap)
                if self._is_current(entry, State.SCHEDULED, State.RETRY):
                    # Entries of a time before the job was rescheduled are still here.
                    due += [entry] if self._jobs[entry[2]].due == entry[0] else []
        for _, _, id in sorted(due):
            self._put(replace(self._jobs[id], state=State.PENDING))

    def _next_ready(self, queue: str) -> Job | None:
        heap = self._ready.get(queue, [])
        while heap and queue not in self._paused:
            entry = heapq.heappop(heap)
            if self._is_current(entry, State.PENDING):
                return self._jobs[entry[2]]
        return None

    def _is_current(self, entry: tuple[int, int, str], *states: State) -> bool:
        _, place, id = entry
        return self._place.get(id) == place and self._jobs[id].state in states

    @atomic
    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        until = self._now() + lease
        held = [self._jobs[each.id] for each in leases if self._holds(each.id, each.fence)]
        for job in held:
            self._put(replace(job, lease_until=until))
        return frozenset(job.id for job in held)

    def _holds(self, id: str, fence: int) -> bool:
        job = self._jobs.get(id)
        return job is not None and job.state is State.ACTIVE and job.fence == fence

    @atomic
    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        now = self._now()
        held: dict[str, Transition] = {}
        for transition in transitions:
            if self._holds(transition.id, transition.fence):
                held.setdefault(transition.id, transition)
        # Each goes before the one put there last: backwards, a batch keeps its order.
        for transition in reversed(held.values()):
            self._apply(transition, now)
        self._end([(id, move.state) for id, move in held.items() if move.state in FINISHED], now)
        self._wake()
        return frozenset(held)

    def _apply(self, transition: Transition, now: int) -> None:
        job = self._jobs[transition.id]
        due = job.due
        if transition.state in (State.RETRY, State.SCHEDULED):
            due = now + transition.delay if transition.due is None else transition.due
        done = replace(
            job,
            state=transition.state,
            due=due,
            attempt=job.attempt - transition.refund,
            lease_until=None,
            result=transition.result,
            error=transition.error or job.error,
            finished_at=now if transition.state in FINISHED else None,
        )
        if transition.state is State.COMPLETED:
            done = replace(done, checkpoint=None)
        self._put(done, front=transition.state is State.PENDING)
        self._note(done, now)

    @atomic
    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        for lease, progress in reports:
            if self._holds(lease.id, lease.fence):
                self._jobs[lease.id] = replace(self._jobs[lease.id], progress=progress)

    @atomic
    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        held = {lease.id: state for lease, state in states if self._holds(lease.id, lease.fence)}
        for id, state in held.items():
            self._jobs[id] = replace(self._jobs[id], checkpoint=state)
        return frozenset(held)

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        now = self._now()
        names = [queue for queue in queues or self._with_work() if queue not in self._paused]
        dues = [self._due[queue][0][0] for queue in names if self._due.get(queue)]
        seconds = min([timeout, *((due - now) / 1000 for due in dues)])
        if seconds <= 0 or any(self._counts.get(q, Counter())[State.PENDING] for q in names):
            return
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        self._waiters.add(waiter)
        try:
            await asyncio.wait_for(waiter[1].wait(), seconds)
        except TimeoutError:
            pass
        finally:
            self._waiters.discard(waiter)

    def _with_work(self) -> list[str]:
        """The queues that have jobs waiting; others may still have entries of former ones."""
        return [name for name in [*self._counts] if any(map(self._counts[name].get, WAITING))]

    def _wake(self) -> None:
        for loop, changed in tuple(self._waiters):
            loop.call_soon_threadsafe(changed.set)

    # -- upkeep --------------------------------------------------------------------------

    @atomic
    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        now = self._now()
        fence = next(self._fence)
        rescued: list[Job] = []
        while self._leases and self._leases[0][0] <= now and len(rescued) < limit:
            until, id = heapq.heappop(self._leases)
            job = self._jobs.get(id)
            if job is not None and job.state is State.ACTIVE and job.lease_until == until:
                owned = replace(job, fence=fence, lease_until=now + lease, worker=worker)
                rescued.append(self._put(owned))
        return rescued

    @atomic
    async def unblock(self, limit: int) -> int:
        return 0  # nothing is ever owed here: all dependents are seen to at once

    def _end(self, ended: Sequence[tuple[str, str]], now: int) -> None:
        """See to the dependents of jobs that ended, each with the word for how it did."""
        left = [(id, how, orphaned(id, how)) for id, how in ended]
        while left:
            parent, how, why = left.pop(0)
            ready: list[Job] = []
            for id, fate in self._dependents.ended(parent, completed=how == State.COMPLETED):
                job = self._jobs[id]
                match fate:
                    case Fate.WAITS:
                        self._jobs[id] = replace(job, waits_for=self._dependents.waits_for(id))
                    case Fate.READY:
                        ready.append(job)
                    case Fate.CANCELLED:
                        self._call_off(replace(job, error=why), now)
                        left.append((id, State.CANCELLED, why))
            for job in sorted(ready, key=lambda job: self._place[job.id]):
                state = State.SCHEDULED if job.due > now else State.PENDING
                self._put(replace(job, state=state, waits_for=()))

    @atomic
    async def prune(self, limit: int) -> int:
        now = self._now()
        pruned = 0
        while self._expiry and self._expiry[0][0] <= now and pruned < limit:
            until, id = heapq.heappop(self._expiry)
            job = self._jobs.get(id)
            if job is not None and _expires_at(job) == until:
                self._remove(job)
                pruned += 1
        return pruned

    @atomic
    async def elect(self, role: str, holder: str, ttl: int) -> Term | None:
        now = self._now()
        term = self._terms.get(role)
        if term is None or (term.expires_at <= now and term.holder != holder):
            term = Term(holder, term.term + 1 if term else 1, now + ttl)
        elif term.holder != holder:
            return None
        self._terms[role] = replace(term, expires_at=now + ttl)
        return self._terms[role]

    @atomic
    async def resign(self, role: str, holder: str) -> None:
        term = self._terms.get(role)
        if term is not None and term.holder == holder:
            self._terms[role] = Term("", term.term, 0)

    @atomic
    async def beat(self, worker: WorkerInfo, ttl: int) -> None:
        now = self._now()
        self._workers[worker.id] = (now + ttl, replace(worker, seen_at=now))

    @atomic
    async def leave(self, worker: str) -> None:
        self._workers.pop(worker, None)

    # -- schedules -----------------------------------------------------------------------

    @atomic
    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        for new in schedules:
            old = self._schedules.get(new.name) or replace(new, last=new.last or self._now())
            kept = replace(new, paused=old.paused, last=old.last, job=old.job)
            self._schedules[new.name] = kept

    @atomic
    async def schedules(self) -> Sequence[Schedule]:
        return [self._schedules[name] for name in sorted(self._schedules)]

    @atomic
    async def pause_schedules(self, names: Sequence[str], paused: bool) -> frozenset[str]:
        known = frozenset(names) & self._schedules.keys()
        for name in known:
            kept = self._schedules[name]
            resumes = kept.paused and not paused
            last = max(kept.last, self._now()) if resumes else kept.last
            self._schedules[name] = replace(kept, paused=paused, last=last)
        return known

    @atomic
    async def drop_schedules(self, names: Sequence[str]) -> frozenset[str]:
        known = frozenset(names) & self._schedules.keys()
        for name in known:
            del self._schedules[name]
        return known

    @atomic
    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        now = self._now()
        kept = self._schedules.get(schedule.name)
        if kept is None or kept.paused or kept.last != schedule.last:
            return None
        if not kept.last < tick <= now:
            return None
        self._schedules[kept.name] = replace(kept, last=tick)
        new = kept.new_job(tick)
        match turn(kept.overlap, self._jobs.get(kept.job)):
            case Turn.LEFT_OUT:
                return Receipt(kept.job, duplicate=True)
            case Turn.FOLLOWS:
                new = following(new, kept.job)
        self._schedules[kept.name] = replace(kept, last=tick, job=new.id)
        receipt = self._insert(new, now)
        self._wake()
        return receipt

    # -- journal -------------------------------------------------------------------------

    @atomic
    async def keep_journal(self, on: bool) -> None:
        self._keeps_journal = on

    @atomic
    async def read_journal(self, limit: int) -> Sequence[Entry]:
        return list(itertools.islice(self._journal.values(), limit))

    @atomic
    async def trim_journal(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self._journal.pop(entry.key, None)

    def _note(self, job: Job, at: int, *, ran: bool = True) -> None:
        if self._keeps_journal:
            key = str(next(self._noted))
            self._journal[key] = Entry(key, at, job, ran)

    # -- move ----------------------------------------------------------------------------

    @atomic
    async def restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        refuse_active(jobs)
        receipts = [self._restore(job) for job in jobs]
        self._wake()
        return receipts

    def _restore(self, job: Job) -> Receipt:
        holder = self._holder(job.id, job.unique if job.state in LIVE else None)
        if holder is not None:
            return Receipt(holder, duplicate=True)
        self._fence = itertools.count(max(next(self._fence), job.fence + 1))
        job = replace(job, ref=0)
        self._put(self._block(job, job.waits_for) if job.state is State.BLOCKED else job)
        ended = {id: self._jobs[id].state for id in job.waits_for if id in self._jobs}
        if job.state in FINISHED:
            ended[job.id] = job.state
        self._end([(id, how) for id, how in ended.items() if how in FINISHED], self._now())
        return Receipt(job.id)

    # -- people --------------------------------------------------------------------------

    @atomic
    async def find(self, query: JobQuery) -> Page:
        found: list[Job] = []
        seen: Cursor | None = None
        for scanned, (cursor, job) in enumerate(self._listing(query)):
            if len(found) == query.limit or scanned == SCAN_BATCH:
                return Page(found, seen.encode() if seen else None)
            seen = cursor
            if query.matches(job):
                found.append(job)
        return Page(found)

    def _listing(self, query: JobQuery) -> Iterator[tuple[Cursor, Job]]:
        for state, after in plan(query):
            jobs = [job for job in self._jobs.values() if job.state is state]
            down = state in FINISHED
            for key, job in sorted(((self._key(job), job) for job in jobs), reverse=down):
                if after is None or (key < after if down else key > after):
                    yield Cursor(state, key), job

    def _key(self, job: Job) -> Key:
        match job.state:
            case State.PENDING:
                return job.queue, -job.priority, self._place[job.id]
            case State.SCHEDULED | State.RETRY:
                return job.queue, job.due, self._place[job.id]
            case State.ACTIVE:
                return job.fence, job.id
            case State.BLOCKED:
                return (job.id,)
        return job.finished_at or 0, self._place[job.id]

    @atomic
    async def queues(self) -> Sequence[QueueStats]:
        names = {name for name, counts in self._counts.items() if counts.total()}
        return [
            QueueStats(
                name,
                {state: n for state, n in self._counts.get(name, Counter()).items() if n},
                name in self._paused,
            )
            for name in sorted(names | self._paused)
        ]

    @atomic
    async def workers(self) -> Sequence[WorkerInfo]:
        now = self._now()
        heard_of = [info for until, info in self._workers.values() if until > now]
        return sorted(heard_of, key=lambda info: info.id)

    @atomic
    async def reschedule(
        self, ids: Sequence[str], delay: int = 0, due: int | None = None
    ) -> frozenset[str]:
        now = self._now()
        moment = now + delay if due is None else due
        return self._each(ids, RESCHEDULABLE, lambda job: self._reschedule(job, moment, now))

    def _reschedule(self, job: Job, due: int, now: int) -> bool:
        state = State.SCHEDULED if job.state is State.PENDING else job.state
        # Off the line first, so that a job that stays pending goes to the end of it.
        self._put(replace(job, state=state, due=due))
        if due <= now:
            self._put(replace(job, state=State.PENDING, due=due))
        return True

    @atomic
    async def cancel(self, ids: Sequence[str]) -> frozenset[str]:
        now = self._now()
        cancelled = self._each(ids, LIVE, lambda job: self._call_off(job, now))
        self._end([(id, State.CANCELLED) for id in dict.fromkeys(ids) if id in cancelled], now)
        return cancelled

    @atomic
    async def replay(self, ids: Sequence[str]) -> frozenset[str]:
        return self._each(ids, REPLAYABLE, self._replay)

    @atomic
    async def delete(
        self,
        ids: Sequence[str],
        states: frozenset[State] = DELETABLE,
        *,
        moved: bool = False,
    ) -> frozenset[str]:
        failed = [id for id in dict.fromkeys(ids) if self._is_live(id) and not moved]
        deleted = self._each(ids, states & DELETABLE, self._delete)
        self._end([(id, "deleted") for id in failed if id in deleted], self._now())
        return deleted

    def _is_live(self, id: str) -> bool:
        return id in self._jobs and self._jobs[id].state in LIVE

    @atomic
    async def pause(self, queue: str) -> None:
        self._paused.add(queue)

    @atomic
    async def resume(self, queue: str) -> None:
        self._paused.discard(queue)
        self._wake()

    def _each(
        self, ids: Sequence[str], states: frozenset[State], act: Callable[[Job], bool]
    ) -> frozenset[str]:
        jobs = [self._jobs[id] for id in dict.fromkeys(ids) if id in self._jobs]
        done = frozenset(job.id for job in jobs if job.state in states and act(job))
        self._wake()
        return done

    def _call_off(self, job: Job, now: int) -> bool:
        """Cancel a live job; its dependents are the caller's to see to."""
        self._dependents.forget(job.id)
        done = replace(job, state=State.CANCELLED, finished_at=now, lease_until=None, waits_for=())
        self._put(done)
        self._note(done, now, ran=job.state is State.ACTIVE)
        return True

    def _delete(self, job: Job) -> bool:
        self._dependents.forget(job.id)
        return self._remove(job)

    def _replay(self, job: Job) -> bool:
        if job.unique is not None and job.unique in self._unique:
            return False
        again = replace(job, state=State.PENDING, due=self._now(), attempt=0, finished_at=None)
        parents = dict.fromkeys(job.spec.parents)
        live = [id for id in parents if self._is_live(id)]
        self._put(self._block(again, live) if live else again)
        return True

    # -- bookkeeping ---------------------------------------------------------------------

    def _put(self, job: Job, *, front: bool = False) -> Job:
        """Store a job in its new state and everything that hangs on it."""
        before = self._jobs.get(job.id)
        self._forget(before)
        if before is None or (job.state is State.PENDING and before.state is not State.PENDING):
            self._place[job.id] = next(self._front if front else self._back)
        if job.state in FINISHED and job.state is not State.DEAD and job.spec.keep == 0:
            self._jobs.pop(job.id, None)
            self._place.pop(job.id, None)
            return job
        self._jobs[job.id] = job
        self._counts.setdefault(job.queue, Counter())[job.state] += 1
        if job.unique is not None and job.state in LIVE:
            self._unique[job.unique] = job.id
        self._index(job)
        return job

    def _index(self, job: Job) -> None:
        place = self._place[job.id]
        expires_at = _expires_at(job)
        if job.state is State.PENDING:
            heap = self._ready.setdefault(job.queue, [])
            heapq.heappush(heap, (-job.priority, place, job.id))
        elif job.state in (State.SCHEDULED, State.RETRY):
            heapq.heappush(self._due.setdefault(job.queue, []), (job.due, place, job.id))
        elif job.lease_until is not None:
            heapq.heappush(self._leases, (job.lease_until, job.id))
        elif expires_at is not None:
            heapq.heappush(self._expiry, (expires_at, job.id))

    def _forget(self, job: Job | None) -> None:
        if job is None:
            return
        self._counts[job.queue][job.state] -= 1
        if job.unique is not None and job.state in LIVE:
            del self._unique[job.unique]

    def _remove(self, job: Job) -> bool:
        self._forget(job)
        del self._jobs[job.id], self._place[job.id]
        return True


def _expires_at(job: Job) -> int | None:
    """When a finished job may be pruned; a dead one never."""
    if job.state in (State.COMPLETED, State.CANCELLED) and job.finished_at is not None:
        return job.finished_at + job.spec.keep
    return None
