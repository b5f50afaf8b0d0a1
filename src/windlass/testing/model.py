"""A store against the specification: the same random steps on both, every answer compared.

`machine` makes a Hypothesis state machine for a way to open a fresh store. It drives that
store and a `MemoryStore` on one fake clock, and after each step compares every job and
every count. Only what the contract leaves open is not compared: the numbers of fences and
terms (their growth is), the order of jobs that are equal in all that a listing sorts by
or that are released in one call, and which of several expired jobs a limit leaves for
the next call.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from functools import partialmethod
from typing import Any, ClassVar, Final, TypeVar

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RULE_MARKER,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from ..core.model import Job, JobQuery, NewJob, Progress, Transition
from ..core.outcome import Lost, Outcome, Released, decide
from ..core.schedule import Schedule
from ..core.states import FINISHED, LIVE, State
from ..core.workers import Term
from ..stores.contract import Store
from ..stores.memory import MemoryStore
from ..sync import drive
from .clock import FakeClock
from .comparison import (
    MANY,
    Grant,
    accepted,
    as_list,
    by_id,
    in_order,
    is_reachable,
    line,
    noted,
    one_release,
    place,
    trim,
    visible,
    with_known_parents,
)
from .draws import (
    IDS,
    MAX_PICKS,
    QUEUES,
    SCHEDULES,
    SIGNALS,
    WORKERS,
    Pick,
    durations,
    leases_for,
    new_jobs,
    offsets,
    outcomes,
    picks,
    queue_caps,
    raw_moves,
    some_ids,
    some_schedules,
)
from .jobs import ids as ids_of
from .jobs import listing

T = TypeVar("T")
OpenFresh = Callable[[FakeClock], Awaitable[Store]]
"""Gives an opened store with nothing in it, on this clock. The machine closes it."""

MODEL_SETTINGS = settings(
    max_examples=int(os.environ.get("WINDLASS_MODEL_EXAMPLES", "60")),
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)

replace = msgspec.structs.replace


class StoreMachine(RuleBasedStateMachine):
    """The comparison. Subclasses say how to open the store under test."""

    open_fresh: ClassVar[OpenFresh]

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.clock = FakeClock()
        self.spec = MemoryStore(self.clock)
        self.store = self.run_async(type(self).open_fresh(self.clock))
        self.ids = list(IDS)
        """those that jobs can have; ticks make more"""
        self.fences: dict[str, int] = {}
        self.grants: list[Grant] = []
        self.terms: dict[str, tuple[Term, Term]] = {}
        self.seen: dict[str, Job] = {}
        self.may_leave: set[str] = set()
        self.read_schedules: list[Schedule] = []
        self.packed: dict[str, Grant] = {}
        self.limited = False
        """whether jobs have lanes and groups; if some do, most do, for they must meet"""

    def teardown(self) -> None:
        try:
            self.check_listing()
        finally:
            self.run_async(self.store.close())
            self.loop.close()

    def run_async(self, step: Awaitable[T]) -> T:
        return self.loop.run_until_complete(step)

    def both(self, step: Callable[[Store], Coroutine[Any, Any, T]]) -> tuple[T, T]:
        """The answers of the specification and of the store under test."""
        # The specification never waits for anything: without an event loop it answers sooner.
        expected = drive(step(self.spec))
        return expected, (drive if self.store.blocking else self.run_async)(step(self.store))

    def same(self, step: Callable[[Store], Coroutine[Any, Any, T]]) -> T:
        expected, actual = self.both(step)
        assert actual == expected
        return actual

    # -- the way of a job ----------------------------------------------------------------

    @initialize(
        batch=st.lists(new_jobs, min_size=2, max_size=6),
        journal=st.booleans(),
        limited=st.booleans(),
    )
    def begin(self, batch: list[NewJob], journal: bool, limited: bool) -> None:
        self.limited = limited
        self.both(lambda store: store.keep_journal(journal))
        self.insert(batch)

    @rule(batch=st.lists(new_jobs, max_size=5), strays=st.sampled_from([False] * 9 + [True]))
    def insert(self, batch: list[NewJob], strays: bool = False) -> None:
        now = self.clock()
        jobs = [
            job if job.due is None else replace(job, due=now + job.due, delay=0) for job in batch
        ]
        if not self.limited:
            jobs = [replace(job, spec=replace(job.spec, lane=None, group="")) for job in jobs]
        if not strays:
            jobs = with_known_parents(jobs, self.seen)
        expected, actual = self.both(lambda store: accepted(store, jobs))
        assert actual == expected, (actual, expected)

    @rule(
        queues=queue_caps,
        limit=st.integers(1, 6),
        lease=leases_for,
        worker=st.sampled_from(WORKERS),
    )
    def claim(self, queues: dict[str, int], limit: int, lease: int, worker: str) -> None:
        expected, actual = self.both(lambda store: store.claim(queues, limit, lease, worker))
        self.grant(expected, actual)

    @rule(lease=leases_for, worker=st.sampled_from(WORKERS))
    def claim_all(self, lease: int, worker: str) -> None:
        self.claim(dict.fromkeys(QUEUES, len(IDS)), len(IDS), lease, worker)

    @precondition(lambda self: self.grants)
    @rule(which=picks, outcome=st.lists(outcomes, min_size=MAX_PICKS, max_size=MAX_PICKS))
    def finish(self, which: list[Pick], outcome: list[Outcome]) -> None:
        """As a worker does, be it in time or late."""
        self.apply(
            [
                (grant, decide(grant.expected, each, uniform=lambda: 0.5))
                for grant, each in zip(self.pick(which), outcome, strict=False)
            ]
        )

    @precondition(lambda self: self.grants)
    @rule(which=picks)
    def give_back(self, which: list[Pick]) -> None:
        """As a worker that stops; a rule of its own, for what it takes to the front is much."""
        self.apply([(grant, decide(grant.expected, Released())) for grant in self.pick(which)])

    @precondition(lambda self: self.grants)
    @rule(which=picks, move=raw_moves, times=st.integers(1, 2))
    def finish_oddly(self, which: list[Pick], move: Transition, times: int) -> None:
        """As no worker of today does and the contract allows, the same move twice for one."""
        if move.state is State.COMPLETED:
            move = replace(move, error=None, result=b"odd", refund=False)
        if move.due is not None:
            move = replace(move, due=self.clock() + move.due)
        moves = [(grant, replace(move, id=grant.expected.id)) for grant in self.pick(which)]
        self.apply(moves * times)

    @precondition(lambda self: self.grants)
    @rule(which=picks, left=st.binary(max_size=3))
    def checkpoint(self, which: list[Pick], left: bytes) -> None:
        grants = self.pick(which)
        expected = drive(self.spec.checkpoint([(g.expected.lease, left) for g in grants]))
        actual = self.run_async(self.store.checkpoint([(g.actual.lease, left) for g in grants]))
        assert actual == expected

    @rule(
        id=st.sampled_from(IDS), name=st.sampled_from(SIGNALS), value=st.sampled_from([b"", b"v"])
    )
    def signal(self, id: str, name: str, value: bytes) -> None:
        self.same(lambda store: store.signal(id, name, value))

    @precondition(lambda self: self.grants)
    @rule(which=picks, lease=leases_for)
    def renew(self, which: list[Pick], lease: int) -> None:
        grants = self.pick(which)
        expected = drive(self.spec.renew([g.expected.lease for g in grants], lease))
        actual = self.run_async(self.store.renew([g.actual.lease for g in grants], lease))
        assert actual == expected

    @rule(seconds=st.sampled_from([0.001, 0.999, 1, 5, 30, 60, 600]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    # -- upkeep --------------------------------------------------------------------------

    @rule(
        limit=st.integers(1, 4),
        lease=leases_for,
        worker=st.sampled_from(WORKERS),
        settle=st.booleans(),
    )
    def rescue(self, limit: int, lease: int, worker: str, settle: bool) -> None:
        jobs = drive(self.spec.get(self.ids)).values()
        leases = sorted(job.lease_until for job in jobs if job.lease_until is not None)
        # Jobs of one claim expire together and any of them may come first: take all or none.
        while limit < len(leases) and leases[limit] == leases[limit - 1]:
            limit += 1
        order = {job.id: job.lease_until for job in jobs}
        expected, actual = self.both(lambda store: store.rescue(limit, lease, worker))
        assert [order[job.id] for job in actual] == [order[job.id] for job in expected]
        rescued = self.grant(by_id(expected), by_id(actual))
        if settle:
            self.apply(
                [(grant, decide(grant.expected, Lost(), uniform=lambda: 0.5)) for grant in rescued]
            )

    @rule(worker=st.sampled_from(WORKERS))
    def abandon(self, worker: str) -> None:
        self.same(lambda store: store.abandon(worker))

    @rule(limit=st.integers(1, 4))
    def unblock(self, limit: int) -> None:
        for store in (self.spec, self.store):
            while self.run_async(store.unblock(limit)):
                pass

    @rule(limit=st.integers(1, 4))
    def prune(self, limit: int) -> None:
        """Until nothing is left to prune, for the contract does not say which goes first."""
        before = drive(self.spec.get(self.ids))
        for store in (self.spec, self.store):
            while (pruned := self.run_async(store.prune(limit))) != 0:
                assert 0 < pruned <= limit
        gone = set(before) - set(drive(self.spec.get(self.ids)))
        assert all(before[id].state in (State.COMPLETED, State.CANCELLED) for id in gone)
        self.may_leave |= gone

    @rule(
        role=st.sampled_from(["r1", "r2"]),
        holder=st.sampled_from(WORKERS),
        ttl=st.sampled_from([None, 1_000, 60_000]),
    )
    def lead(self, role: str, holder: str, ttl: int | None) -> None:
        """Stand for a role, or resign from it."""
        if ttl is None:
            self.both(lambda store: store.resign(role, holder))
            return
        expected, actual = self.both(lambda store: store.elect(role, holder, ttl))
        assert (actual is None) == (expected is None)
        if expected is None or actual is None:
            return
        assert (actual.holder, actual.expires_at) == (expected.holder, expected.expires_at)
        if role in self.terms:
            last_expected, last_actual = (term.term for term in self.terms[role])
            assert actual.term >= last_actual
            assert (actual.term == last_actual) == (expected.term == last_expected)
        self.terms[role] = (expected, actual)

    # -- schedules -----------------------------------------------------------------------

    @rule(schedules=st.lists(some_schedules, min_size=1, max_size=2))
    def put_schedules(self, schedules: list[Schedule]) -> None:
        self.both(lambda store: store.put_schedules(schedules))

    @rule(name=st.sampled_from(SCHEDULES), what=st.sampled_from(["pause", "resume", "drop"]))
    def change_schedule(self, name: str, what: str) -> None:
        if what == "drop":
            self.same(lambda store: store.drop_schedules([name]))
        else:
            self.same(lambda store: store.pause_schedules([name], what == "pause"))

    @rule(late=st.sampled_from([False, False, False, True]), back=st.sampled_from([0, 0, 1, -1]))
    def tick(self, late: bool, back: int) -> None:
        """As a scheduler does: for what it has read, be that of now or of a while ago."""
        found = list(drive(self.spec.schedules()))
        for schedule in self.read_schedules if late else found:
            tick = (self.clock() // 1_000 - back) * 1_000
            receipt = self.same(lambda store: store.tick(schedule, tick))  # noqa: B023
            if receipt is not None and receipt.id not in self.ids:
                self.ids.append(receipt.id)
        self.read_schedules = found

    # -- journal -------------------------------------------------------------------------

    @rule(number=st.sampled_from([0, 1, 1, 2]), on=st.sampled_from([True, True, False]))
    def trim_journal(self, number: int, on: bool) -> None:
        """Drop some lines, or switch it: in one rule, for each takes the turn of others."""
        if number == 0:
            self.both(lambda store: store.keep_journal(on))
            return
        assert len(self.run_async(self.store.read_journal(number))) <= number
        self.both(lambda store: trim(store, number))

    # -- move ----------------------------------------------------------------------------

    @rule(ids=some_ids)
    def move(self, ids: list[str]) -> None:
        """Bring jobs back that were taken out, twice over; if there are none, take some out."""
        pairs = [self.packed.pop(id) for id in dict.fromkeys(ids) if id in self.packed] * 2
        if not pairs:
            self.take_out(ids)
            return
        expected = drive(self.spec.restore([pair.expected for pair in pairs]))
        actual = self.run_async(self.store.restore([pair.actual for pair in pairs]))
        assert list(actual) == list(expected), (actual, expected)

    def take_out(self, ids: list[str]) -> None:
        expected, actual = self.both(lambda store: store.get(ids))
        gone = self.same(lambda store: store.delete(ids))
        self.may_leave |= gone
        self.packed |= {id: Grant(expected[id], actual[id]) for id in gone}

    # -- people --------------------------------------------------------------------------

    @rule(ids=some_ids)
    def cancel(self, ids: list[str]) -> None:
        self.same(lambda store: store.cancel(ids))
        self.may_leave |= {id for id in ids if id in self.seen and self.seen[id].spec.keep == 0}

    @rule(ids=some_ids)
    def replay(self, ids: list[str]) -> None:
        self.same(lambda store: store.replay(ids))

    @rule(ids=some_ids, delay=durations, due=offsets)
    def reschedule(self, ids: list[str], delay: int, due: int | None) -> None:
        moment = None if due is None else self.clock() + due
        self.same(lambda store: store.reschedule(ids, delay, moment))

    @rule(ids=some_ids, priority=st.sampled_from([0, 50, 100]))
    def prioritize(self, ids: list[str], priority: int) -> None:
        self.same(lambda store: store.prioritize(ids, priority))

    @precondition(lambda self: self.grants)
    @rule(which=picks, percent=st.sampled_from([0.0, 12.5, 100.0]))
    def report(self, which: list[Pick], percent: float) -> None:
        grants = self.pick(which)
        made = Progress(percent, "on the way")
        drive(self.spec.report([(g.expected.lease, made) for g in grants]))
        self.run_async(self.store.report([(g.actual.lease, made) for g in grants]))

    @rule(ids=some_ids)
    def delete(self, ids: list[str]) -> None:
        self.may_leave |= self.same(lambda store: store.delete(ids))

    @rule(queue=st.sampled_from(QUEUES), paused=st.sampled_from([True, False, False]))
    def set_paused(self, queue: str, paused: bool) -> None:
        self.both(lambda store: store.pause(queue) if paused else store.resume(queue))

    @rule(
        states=st.lists(st.sampled_from(sorted(State)), unique=True, max_size=3).map(tuple),
        queue=st.none() | st.sampled_from(QUEUES),
        task=st.none() | st.sampled_from(["t1", "t2", "t3"]),
        limit=st.integers(1, 4),
    )
    def find(
        self, states: tuple[State, ...], queue: str | None, task: str | None, limit: int
    ) -> None:
        expected, actual = self.both(
            lambda store: listing(store, states=states, queue=queue, task=task, limit=limit)
        )
        assert [place(job) for job in actual] == [place(job) for job in expected]
        assert Counter(ids_of(actual)) == Counter(ids_of(expected))

    # -- what holds after every step -----------------------------------------------------

    @invariant()
    def all_is_as_specified(self) -> None:
        self.check_jobs()
        self.check_lines()
        self.check_counts()
        self.check_keys()
        self.check_journal()
        self.same(lambda store: as_list(store.schedules()))

    def check_jobs(self) -> None:
        expected, actual = self.both(lambda store: store.get(self.ids))
        assert {id: visible(job) for id, job in actual.items()} == {
            id: visible(job) for id, job in expected.items()
        }
        fences = {grant.fences for grant in self.grants}
        for id, job in expected.items():
            if job.state is State.ACTIVE:
                assert Grant(job, actual[id]).fences in fences
        self.check_moves(dict(actual))

    def check_lines(self) -> None:
        """The order in which pending jobs will run, queue by queue."""
        query = JobQuery(states=(State.PENDING,), limit=MANY)
        expected, actual = self.both(lambda store: store.find(query))
        for name in QUEUES:
            assert line(actual.jobs, name) == line(expected.jobs, name)

    def check_counts(self) -> None:
        expected, actual = self.both(lambda store: store.queues())
        assert list(actual) == list(expected)
        jobs = Counter((job.queue, job.state) for job in self.seen.values())
        assert jobs == {
            (stats.name, state): n for stats in actual for state, n in stats.counts.items()
        }

    def check_keys(self) -> None:
        keys = [job.unique for job in self.seen.values() if job.unique and job.state in LIVE]
        assert len(keys) == len(set(keys))

    def check_journal(self) -> None:
        journals = self.both(lambda store: store.read_journal(MANY))
        expected, actual = (sorted(journal, key=in_order) for journal in journals)
        assert [noted(entry) for entry in actual] == [noted(entry) for entry in expected]
        assert [entry.at for entry in journals[1]] == sorted(entry.at for entry in actual)
        fences = {grant.fences for grant in self.grants}
        for one, other in zip(expected, actual, strict=True):
            assert not one.ran or Grant(one.job, other.job).fences in fences

    def check_listing(self) -> None:
        listed = self.run_async(listing(self.store, limit=3))
        jobs = self.run_async(self.store.get(self.ids))
        assert sorted(ids_of(listed)) == sorted(jobs)
        assert {job.id: job for job in listed} == jobs

    # -- bookkeeping ---------------------------------------------------------------------

    def grant(self, expected: Sequence[Job], actual: Sequence[Job]) -> list[Grant]:
        """Compare what was claimed, job by job, and that every fence is new."""
        assert [visible(job) for job in actual] == [visible(job) for job in expected]
        for job in actual:
            assert job.fence > self.fences.get(job.id, 0), "a fence did not grow"
            self.fences[job.id] = job.fence
        granted = [Grant(e, a) for e, a in zip(expected, actual, strict=True)]
        self.grants += granted
        return granted

    def pick(self, which: list[Pick]) -> list[Grant]:
        """Grants that hold, or late ones, the latest first: those may meet the next owner."""
        latest = {grant.actual.id: grant for grant in self.grants}
        active = {id for id, job in self.seen.items() if job.state is State.ACTIVE}
        held = [grant for id, grant in latest.items() if id in active]
        late = [grant for grant in reversed(self.grants) if grant not in held]
        late.sort(key=lambda grant: grant.actual.id not in active)
        pools = {"held": held or late, "late": late or held}
        chosen = [pools[pool][n % len(pools[pool])] for pool, n in which]
        return [grant for n, grant in enumerate(chosen) if grant not in chosen[:n]]

    def apply(self, pairs: Sequence[tuple[Grant, Transition]]) -> None:
        """Finish on both sides, each with the fence that it gave."""
        pairs = one_release(pairs)
        expected = [replace(move, fence=grant.expected.fence) for grant, move in pairs]
        actual = [
            replace(move, fence=job.fence, queue=job.queue, ref=job.ref)
            for job, move in ((grant.actual, move) for grant, move in pairs)
        ]
        held = drive(self.spec.finish(expected))
        assert self.run_async(self.store.finish(actual)) == held
        for grant, move in pairs:
            if move.id in held and move.state in FINISHED and grant.expected.spec.keep == 0:
                self.may_leave.add(move.id)

    def check_moves(self, now: dict[str, Job]) -> None:
        """No job vanished without leave, and none moved where the table has no way."""
        gone = self.seen.keys() - now.keys()
        # The end of a parent can end a job too.
        orphans = {id for id in gone if self.seen[id].waits_for and self.seen[id].spec.keep == 0}
        assert gone <= self.may_leave | orphans, f"lost: {gone - self.may_leave}"
        for id in self.seen.keys() & now.keys():
            assert is_reachable(self.seen[id].state, now[id].state)
        self.seen, self.may_leave = now, set()


def machine(open_fresh: OpenFresh, only: Collection[str] = ()) -> type[StoreMachine]:
    """The state machine for one kind of store; run it with `run_state_machine_as_test`.

    `only` names the rules that it may use, if not all of them.
    """
    unused = [name for name in RULES if only and name not in only]
    # A plain method in the place of a rule is no rule, and other rules can still call it.
    plain = {name: partialmethod(getattr(StoreMachine, name)) for name in unused}
    return type("Machine", (StoreMachine,), {"open_fresh": staticmethod(open_fresh), **plain})


RULES: Final = tuple(
    name for name, member in vars(StoreMachine).items() if hasattr(member, RULE_MARKER)
)
