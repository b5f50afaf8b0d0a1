"""The contract as plainly as it can be written: the specification that runs.

Every other store is compared with this one, operation by operation, by the model test.
It lives in one process and forgets everything at its end; for tests and for trying out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec

from ...core.clock import Clock, system_clock
from ...core.dependents import Fate, first_fate, orphaned, unknown_parent
from ...core.lane import LanePage
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
    Transition,
)
from ...core.moved import refuse_active
from ...core.schedule import Schedule, Turn, following, turn
from ...core.states import DELETABLE, FINISHED, LIVE, REPLAYABLE, RESCHEDULABLE, WAITING, State
from ...core.unique import Clash, clash
from ..contract import ABANDON_BATCH, CLAIM_BYTES
from .dependents import Dependents
from .fences import Fences
from .jobs import awaited, fresh, kept_key
from .journal import Journal
from .lanes import Lanes
from .listing import find, oldest
from .registers import Registers
from .shelf import Shelf
from .step import atomic
from .waiters import Waiters

replace = msgspec.structs.replace


class MemoryStore(Registers):
    """Jobs in one process."""

    blocking = True

    def __init__(self, clock: Clock | None = None, shelf: Shelf | None = None) -> None:
        self._shelf = shelf or Shelf()
        self._jobs = self._shelf.jobs
        super().__init__(clock or system_clock, Lanes(self._shelf))
        self._put = self._lanes.put
        self._dependents = Dependents()
        self._journal = Journal()
        self._paused: set[str] = set()
        self._fences = Fences()
        self._waiters = Waiters()
        self._wake = self._waiters.wake

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
        receipts: list[Receipt] = []
        born: set[str] = set()
        for job in jobs:
            # Nothing may be kept of one that is cancelled at once; it came first all the same.
            receipt = self._insert(job, now) if job.id not in born else Receipt(job.id, True)
            receipts.append(receipt)
            if not receipt.duplicate:
                born.add(job.id)
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
        holder = self._shelf.holder(new.id, new.unique, now)
        if holder == new.id or holder is None:
            return Receipt(new.id, duplicate=True) if holder else self._accept(new, now)
        held_by = self._jobs.get(holder)
        match clash(new.conflict, held_by):
            case Clash.REPLACES if held_by is not None:
                self._replace(held_by, new, now)
            case Clash.FOLLOWS if held_by is not None:
                if held_by.unique == new.unique:
                    self._put(replace(held_by, unique=None))
                self._shelf.free_windows(holder)
                return self._accept(following(new, holder), now)
        return Receipt(holder, duplicate=True)

    def _accept(self, new: NewJob, now: int) -> Receipt:
        job = fresh(new, now)
        self._lanes.set_limits(job)
        self._hold_window(job.id, new, now)
        self._put(self._born(job, now) if new.spec.parents else job)
        return Receipt(new.id)

    def _replace(self, old: Job, new: NewJob, now: int) -> None:
        job = replace(fresh(new, now), id=old.id, queue=old.queue)
        self._shelf.free_windows(old.id)
        self._hold_window(job.id, new, now)
        self._lanes.forget(old)
        self._lanes.set_limits(job)
        if old.waits_for:
            self._put(replace(job, state=State.BLOCKED, waits_for=old.waits_for))
        else:
            self._shelf.remove(old)
            self._put(job)

    def _hold_window(self, id: str, new: NewJob, now: int) -> None:
        if new.unique is not None and new.spec.unique_for > 0:
            self._shelf.hold(new.unique, id, now + new.spec.unique_for)

    def _born(self, job: Job, now: int) -> Job:
        """A new job with parents, in the state that these put it in."""
        parents = [self._jobs[id] for id in dict.fromkeys(job.spec.parents) if id in self._jobs]
        fate, failed = first_fate(parents, runs_anyway=job.spec.runs_anyway)
        if failed is not None:
            why = orphaned(failed.id, failed.state)
            job = replace(job, state=State.CANCELLED, finished_at=now, error=why)
            self._shelf.free_windows(job.id)
            self._journal.note(job, now, ran=False)
        elif fate is Fate.WAITS:
            job = self._block(job, [parent.id for parent in parents if parent.state in LIVE])
        return job

    def _block(self, job: Job, parents: Sequence[str]) -> Job:
        self._dependents.add(job.id, parents, runs_anyway=job.spec.runs_anyway)
        return replace(job, state=State.BLOCKED, waits_for=tuple(parents))

    @atomic
    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        return {id: self._jobs[id] for id in ids if id in self._jobs}

    @atomic
    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        now = self._now()
        for due in self._shelf.take_due(queues, now):
            self._put(replace(due, state=State.PENDING))
        self._lanes.settle(now)
        fence = self._fences.next(now)

        def start(job: Job) -> Job:
            self._shelf.handed_out(job)
            started = replace(job, state=State.ACTIVE, attempt=job.attempt + 1, fence=fence)
            run = {"lease_until": now + lease, "worker": worker, "started_at": now}
            return self._shelf.put(
                replace(started, progress=None, unique=kept_key(job), waits_for=(), **run)
            )

        claimed: list[Job] = []
        room = limit
        for queue, most in queues.items():
            for _ in range(min(most, room)):
                job = None if queue in self._paused else self._shelf.first_ready(queue)
                if job is None:
                    break
                most_bytes -= len(job.spec.payload)
                if most_bytes < 0 and claimed:
                    self._shelf.line_up(job)
                    return claimed
                room -= 1
                along = self._lanes.started(job, now, start, most_bytes)
                most_bytes -= sum(len(each.spec.payload) for each in along[1:])
                claimed += along
        return claimed

    @atomic
    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        until = self._now() + lease
        held = [self._jobs[each.id] for each in leases if self._shelf.holds(each.id, each.fence)]
        for job in held:
            self._put(replace(job, lease_until=until))
        return frozenset(job.id for job in held)

    @atomic
    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        now = self._now()
        held: dict[str, Transition] = {}
        for transition in transitions:
            if self._shelf.holds(transition.id, transition.fence):
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
        state = transition.state
        if transition.awaits in (job.mail or ()):
            state = State.PENDING
        if state in (State.RETRY, State.SCHEDULED):
            due = now + transition.delay if transition.due is None else transition.due
        done = replace(
            job,
            state=state,
            due=due,
            attempt=job.attempt - transition.refund,
            lease_until=None,
            result=transition.result,
            error=transition.error or job.error,
            finished_at=now if state in FINISHED else None,
            awaits=awaited(job, transition, state),
            lost=0 if state is State.COMPLETED else transition.lost,
        )
        if state is State.COMPLETED:
            done = replace(done, checkpoint=None, mail=None)
        elif state is State.CANCELLED:
            self._shelf.free_windows(job.id)
        self._put(done, front=state is State.PENDING)
        self._journal.note(done, now)

    @atomic
    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        for lease, progress in reports:
            if self._shelf.holds(lease.id, lease.fence):
                self._shelf.change(self._jobs[lease.id], progress=progress)

    @atomic
    async def checkpoint(self, states: Sequence[tuple[Lease, bytes]]) -> frozenset[str]:
        held = {
            lease.id: state for lease, state in states if self._shelf.holds(lease.id, lease.fence)
        }
        for id, state in held.items():
            self._shelf.change(self._jobs[id], checkpoint=state)
        return frozenset(held)

    @atomic
    async def signal(self, id: str, name: str, value: bytes) -> bool:
        job = self._jobs.get(id)
        if job is None or job.state not in LIVE:
            return False
        mail = {name: value, **(job.mail or {})}
        self._shelf.change(job, mail=mail)
        if job.awaits == name and job.state is State.SCHEDULED:
            woken = replace(job, mail=mail, state=State.PENDING, awaits=None, due=self._now())
            self._put(woken)
            self._wake()
        return mail[name] == value

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        now = self._now()
        shelf = self._shelf
        names = [queue for queue in queues or shelf.with_work() if queue not in self._paused]
        dues = [due for due in map(shelf.next_due, names) if due is not None]
        seconds = min([timeout, *((due - now) / 1000 for due in dues)])
        if seconds > 0 and not any(shelf.counts.get(q, Counter())[State.PENDING] for q in names):
            await self._waiters.sleep(seconds)

    # -- upkeep --------------------------------------------------------------------------

    @atomic
    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        now = self._now()
        fence = self._fences.next(now)
        rescued: list[Job] = []
        while len(rescued) < limit and (job := self._shelf.take_expired(now)):
            owned = replace(job, fence=fence, lease_until=now + lease, worker=worker)
            rescued.append(self._put(owned))
        return rescued

    @atomic
    async def abandon(self, worker: str) -> int:
        now = self._now()
        leased = self._shelf.leased_by(worker, now)[:ABANDON_BATCH]
        for job in leased:
            self._put(replace(job, lease_until=now))
        self._roster.abandon(worker)
        return len(leased)

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
                        self._shelf.change(job, waits_for=self._dependents.waits_for(id))
                    case Fate.READY:
                        ready.append(job)
                    case Fate.CANCELLED:
                        self._call_off(replace(job, error=why), now)
                        left.append((id, State.CANCELLED, why))
            for job in sorted(ready, key=lambda job: self._shelf.place[job.id]):
                state = State.SCHEDULED if job.due > now else State.PENDING
                self._put(replace(job, state=state, waits_for=()))

    @atomic
    async def prune(self, limit: int) -> int:
        now = self._now()
        pruned = 0
        self._lanes.prune(now)
        self._attempts.prune(now)
        self._stats.prune(now)
        while pruned < limit and (job := self._shelf.take_prunable(now)):
            self._shelf.remove(job)
            pruned += 1
        return pruned

    @atomic
    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        now = self._now()
        kept = self._timetable.tick(schedule, tick, now)
        if kept is None:
            return None
        new = kept.new_job(tick)
        match turn(kept.overlap, self._jobs.get(kept.job)):
            case Turn.LEFT_OUT:
                return Receipt(kept.job, duplicate=True)
            case Turn.FOLLOWS:
                new = following(new, kept.job)
        self._timetable.made(kept.name, new.id)
        receipt = self._insert(new, now)
        self._wake()
        return receipt

    # -- journal and move ----------------------------------------------------------------

    @atomic
    async def keep_journal(self, on: bool) -> None:
        self._journal.kept = on

    @atomic
    async def read_journal(self, limit: int) -> Sequence[Entry]:
        return self._journal.read(limit)

    @atomic
    async def trim_journal(self, entries: Sequence[Entry]) -> None:
        self._journal.trim(entries)

    @atomic
    async def restore(self, jobs: Sequence[Job]) -> Sequence[Receipt]:
        refuse_active(jobs)
        receipts = [self._restore(job) for job in jobs]
        self._wake()
        return receipts

    def _restore(self, job: Job) -> Receipt:
        key = job.unique if job.state in LIVE else None
        holder = self._shelf.holder(job.id, key, self._now())
        if holder is not None:
            return Receipt(holder, duplicate=True)
        self._fences.go_beyond(job.fence)
        job = replace(job, ref=0)
        self._lanes.set_limits(job)
        if job.state is State.BLOCKED and not job.waits_for:
            job = replace(job, state=State.PENDING)
        self._put(self._block(job, job.waits_for) if job.waits_for else job)
        ended = {id: self._jobs[id].state for id in job.waits_for if id in self._jobs}
        if job.state in FINISHED:
            ended[job.id] = job.state
        self._end([(id, how) for id, how in ended.items() if how in FINISHED], self._now())
        return Receipt(job.id)

    # -- people --------------------------------------------------------------------------

    @atomic
    async def find(self, query: JobQuery) -> Page:
        return find(self._shelf, query)

    @atomic
    async def queues(self) -> Sequence[QueueStats]:
        names = {name for name, counts in self._shelf.counts.items() if counts.total()}
        return [
            QueueStats(
                name,
                {state: n for state, n in self._shelf.counts.get(name, Counter()).items() if n},
                name in self._paused,
            )
            for name in sorted(names | self._paused)
        ]

    @atomic
    async def oldest(self, queues: Sequence[str]) -> Mapping[str, int]:
        return oldest(self._shelf, queues)

    @atomic
    async def risks(self) -> Sequence[str]:
        return ["The memory store forgets everything when its process ends."]

    async def lanes(self, limit: int, cursor: str | None = None) -> LanePage:
        return self._lanes.listed(limit, cursor)

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
    async def prioritize(self, ids: Sequence[str], priority: int) -> frozenset[str]:
        return self._each(ids, WAITING, lambda job: self._prioritize(job, priority))

    def _prioritize(self, job: Job, priority: int) -> bool:
        if job.state is not State.PENDING:
            self._shelf.change(job, priority=priority)
        elif job.priority != priority:
            # It has its slot, if it needs one: only its place in the line is another.
            self._shelf.put(replace(job, priority=priority), place=True)
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
        failed = [id for id in dict.fromkeys(ids) if self._shelf.is_live(id) and not moved]
        deleted = self._each(ids, states & DELETABLE, self._delete)
        self._attempts.drop(deleted)
        self._end([(id, "deleted") for id in failed if id in deleted], self._now())
        return deleted

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
        self._shelf.free_windows(job.id)
        done = replace(job, state=State.CANCELLED, finished_at=now, lease_until=None, waits_for=())
        done = replace(done, awaits=None)
        self._put(done)
        self._journal.note(done, now, ran=job.state is State.ACTIVE)
        return True

    def _delete(self, job: Job) -> bool:
        self._dependents.forget(job.id)
        self._shelf.free_windows(job.id)
        self._lanes.forget(job)
        self._shelf.remove(job)
        return True

    def _replay(self, job: Job) -> bool:
        if job.unique is not None and self._shelf.holder("", job.unique, self._now()):
            return False
        again = replace(job, state=State.PENDING, due=self._now(), attempt=0, lost=0)
        again = replace(again, finished_at=None)
        parents = dict.fromkeys(job.spec.parents)
        live = [id for id in parents if self._shelf.is_live(id)]
        self._put(self._block(again, live) if live else again)
        return True
