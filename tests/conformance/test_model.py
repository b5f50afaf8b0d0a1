"""Every store against the specification, and the comparison against broken stores.

The second half is there because a comparison that cannot fail proves nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conformance.stores import STORES, VARIANTS, maker
from windlass.core.clock import Clock
from windlass.core.model import Entry, Job, JobQuery, Lease, NewJob, Page, Receipt, Transition
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.stores.contract import CLAIM_BYTES, Store
from windlass.stores.memory import MemoryStore
from windlass.stores.memory.journal import Journal
from windlass.stores.memory.lanes import Lanes
from windlass.stores.memory.shelf import Shelf
from windlass.testing.clock import FakeClock
from windlass.testing.model import MODEL_SETTINGS, RULES, machine

replace = msgspec.structs.replace


PARTS: Mapping[str, int] = {
    **dict.fromkeys(VARIANTS, 6),
    # The specification itself: it is compared with itself to test the comparison.
    "memory": 6,
    # Their operations are those of SQLite, their scripts those of Redis.
    "postgres": 2,
    "mariadb": 2,
    "redis-cluster": 3,
}
"""How much fewer examples those get that share code with another store, compared in full."""


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", STORES)
def test_a_store_does_as_the_specification_does(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    serial = count()
    make = maker(name, request)

    async def open_fresh(clock: FakeClock) -> Store:
        path = tmp_path / str(next(serial))
        path.mkdir()
        store = make(path, clock)()
        await store.open()
        return store

    number = max(MODEL_SETTINGS.max_examples // PARTS.get(name, 1), 1)
    run_state_machine_as_test(
        machine(open_fresh), settings=settings(MODEL_SETTINGS, max_examples=number)
    )


class IgnoresFences(Shelf):
    def holds(self, id: str, fence: int) -> bool:
        return id in self.jobs and self.jobs[id].state is State.ACTIVE


class FinishIgnoresFences(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, IgnoresFences())


class RenewIgnoresFences(MemoryStore):
    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        jobs = await self.get([each.id for each in leases])
        return await super().renew([job.lease for job in jobs.values()], lease)


class KeepsTheKey(Shelf):
    def put(self, job: Job, **how: Any) -> Job:
        done = super().put(job, **how)
        if job.state is State.CANCELLED and job.unique is not None:
            self.unique[job.unique] = job.id
        return done

    def _forget(self, job: Job) -> None:
        if job.unique is not None:
            self.unique.setdefault(job.unique, job.id)
        super()._forget(job)


class CancelKeepsTheKey(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, KeepsTheKey())


class IgnoresPriorities(Shelf):
    def _index(self, job: Job) -> None:
        super()._index(replace(job, priority=0))


class ClaimIgnoresPriorities(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, IgnoresPriorities())


class ClaimIgnoresPauses(MemoryStore):
    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        paused, self._paused = self._paused, set()
        try:
            return await super().claim(queues, limit, lease, worker, most_bytes)
        finally:
            self._paused = paused


class IsEarly(Shelf):
    def take_due(self, queues: Iterable[str], now: int) -> list[Job]:
        return super().take_due(queues, now + 1)


class RunsEarly(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, IsEarly())


class RescueKeepsTheFence(MemoryStore):
    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        before = dict(self._jobs)
        jobs = await super().rescue(limit, lease, worker)
        return [self._shelf.put(replace(job, fence=before[job.id].fence)) for job in jobs]


class HasNoFront(Shelf):
    def put(self, job: Job, *, front: bool = False, **how: Any) -> Job:
        return super().put(job, **how)


class ReleaseGoesToTheEnd(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, HasNoFront())


class RefundsNothing(MemoryStore):
    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        return await super().finish([replace(each, refund=False) for each in transitions])


class ForgetsErrors(MemoryStore):
    def _apply(self, transition: Transition, now: int) -> None:
        self._shelf.put(replace(self._jobs[transition.id], error=None))
        super()._apply(transition, now)


class MiscountsRemovals(Shelf):
    def remove(self, job: Job) -> None:
        super().remove(job)
        self.counts[job.queue][job.state] += 1


class CountsWrong(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, MiscountsRemovals())


class PrunesTheDead(MemoryStore):
    async def prune(self, limit: int) -> int:
        dead = [job for job in self._jobs.values() if job.state is State.DEAD]
        for job in dead[:limit]:
            self._shelf.remove(job)
        return len(dead[:limit]) or await super().prune(limit)


class SkipsAPageBreak(MemoryStore):
    async def find(self, query: JobQuery) -> Page:
        page = await super().find(query)
        return replace(page, cursor=None) if len(page.jobs) == 2 else page


class ListsTheActiveById(MemoryStore):
    async def find(self, query: JobQuery) -> Page:
        page = await super().find(replace(query, limit=100))
        return replace(page, jobs=sorted(page.jobs, key=lambda job: (job.state, job.id)))


class TakesDuplicates(MemoryStore):
    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        return [replace(each, duplicate=False) for each in await super().insert(jobs)]


class NeverChangesTheTerm(MemoryStore):
    async def resign(self, role: str, holder: str) -> None:
        pass


class CancelsWithoutANote(MemoryStore):
    def _call_off(self, job: Job, now: int) -> bool:
        kept, self._journal.kept = self._journal.kept, False
        super()._call_off(job, now)
        self._journal.kept = kept
        return True


class LateJournal(Journal):
    def note(self, job: Job, at: int, *, ran: bool = True) -> None:
        super().note(replace(job, attempt=max(job.attempt - 1, 0)), at, ran=ran)


class NotesTheAttemptBefore(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._journal = LateJournal()


class TrimsTooMuch(MemoryStore):
    async def trim_journal(self, entries: Sequence[Entry]) -> None:
        await super().trim_journal(await self.read_journal(len(entries) + 1))


class RestoresAsNew(MemoryStore):
    def _restore(self, job: Job) -> Receipt:
        return super()._restore(replace(job, attempt=0))


class ForgetsDependents(MemoryStore):
    def _end(self, ended: Sequence[tuple[str, str]], now: int) -> None:
        super()._end(ended[:1], now)


class ReleasesTooEarly(MemoryStore):
    def _block(self, job: Job, parents: Sequence[str]) -> Job:
        return super()._block(job, parents[:1])


class OrphansNobody(MemoryStore):
    def _block(self, job: Job, parents: Sequence[str]) -> Job:
        return super()._block(replace(job, spec=replace(job.spec, runs_anyway=True)), parents)


class ForgetsCheckpoints(MemoryStore):
    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        jobs = await super().claim(queues, limit, lease, worker, most_bytes)
        return [replace(job, checkpoint=None) for job in jobs]


class TicksTwice(MemoryStore):
    async def tick(self, schedule: Schedule, tick: int) -> Receipt | None:
        kept = {each.name: each for each in await self.schedules()}
        return await super().tick(kept.get(schedule.name, schedule), tick)


class IgnoresOverlap(MemoryStore):
    async def put_schedules(self, schedules: Sequence[Schedule]) -> None:
        await super().put_schedules([replace(each, overlap="allow") for each in schedules])


class RestoresTwice(MemoryStore):
    def _restore(self, job: Job) -> Receipt:
        return replace(super()._restore(job), duplicate=False)


class RestoresWithoutTheKey(MemoryStore):
    def _restore(self, job: Job) -> Receipt:
        return super()._restore(replace(job, unique=None))


class HasNoWindows(Shelf):
    def hold(self, key: str, id: str, until: int) -> None:
        pass


class ForgetsWindows(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, HasNoWindows())


class ChangesSignals(MemoryStore):
    async def signal(self, id: str, name: str, value: bytes) -> bool:
        return await super().signal(id, name, value + b"!")


class PrioritizesInPlace(MemoryStore):
    def _prioritize(self, job: Job, priority: int) -> bool:
        self._shelf.put(replace(job, priority=priority))
        return True


class Generous(Lanes):
    def set_limits(self, job: Job) -> None:
        if job.spec.lane is not None and job.spec.lane.slots:
            lane = replace(job.spec.lane, slots=job.spec.lane.slots + 1)
            job = replace(job, spec=replace(job.spec, lane=lane))
        super().set_limits(job)


class GivesOneSlotMore(MemoryStore):
    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._lanes = Generous(self._shelf)
        self._put = self._lanes.put


RUN = ("insert", "claim_all", "finish", "advance")

BROKEN: Mapping[type[MemoryStore], Sequence[str]] = {
    FinishIgnoresFences: (*RUN, "rescue"),
    RenewIgnoresFences: (*RUN, "renew", "rescue"),
    CancelKeepsTheKey: ("insert", "cancel"),
    ClaimIgnoresPriorities: ("insert", "claim"),
    ClaimIgnoresPauses: ("insert", "claim_all", "set_paused"),
    RunsEarly: ("insert", "claim_all", "advance"),
    RescueKeepsTheFence: ("insert", "claim_all", "advance", "rescue"),
    ReleaseGoesToTheEnd: ("insert", "claim", "give_back"),
    RefundsNothing: (*RUN, "give_back"),
    ForgetsErrors: RUN,
    CountsWrong: ("insert", "delete"),
    PrunesTheDead: (*RUN, "prune"),
    SkipsAPageBreak: ("insert", "find"),
    ListsTheActiveById: ("insert", "claim", "find"),
    TakesDuplicates: ("insert",),
    NeverChangesTheTerm: ("lead",),
    ForgetsDependents: (*RUN, "cancel"),
    ReleasesTooEarly: RUN,
    OrphansNobody: ("insert", "cancel"),
    ForgetsCheckpoints: (*RUN, "checkpoint"),
    RestoresAsNew: (*RUN, "move"),
    TicksTwice: ("put_schedules", "tick", "advance"),
    IgnoresOverlap: ("put_schedules", "tick", "advance", "claim_all"),
    RestoresTwice: ("insert", "move"),
    RestoresWithoutTheKey: ("insert", "move"),
    CancelsWithoutANote: ("insert", "cancel"),
    NotesTheAttemptBefore: RUN,
    ForgetsWindows: ("insert",),
    ChangesSignals: ("insert", "signal"),
    PrioritizesInPlace: ("insert", "prioritize"),
    GivesOneSlotMore: ("insert", "claim_all"),
    TrimsTooMuch: ("insert", "cancel", "advance", "trim_journal"),
}
"""Faults, each with the rules that can show it: among all rules the hunt would take minutes."""

HUNT = settings(
    MODEL_SETTINGS,
    max_examples=3000,
    # Half of what a comparison takes: with so few rules there are soon no ids left to use.
    stateful_step_count=20,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    report_multiple_bugs=False,
)
"""Ends at the first fault; the same examples each time, so that this test is not a lottery."""

STEPS: Mapping[type[MemoryStore], int] = {
    # Only the first steps can show it: those who hold the slots then have them for ever.
    GivesOneSlotMore: 6,
    PrunesTheDead: 12,
    # A job has to fail, wait and move: rare in few steps.
    RestoresAsNew: 40,
}
"""Faults that are found sooner with fewer or with more steps in a row."""


def test_the_hunt_names_rules_that_there_are() -> None:
    assert {rule for rules in BROKEN.values() for rule in rules} <= set(RULES)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_store_is_found_out(broken: type[MemoryStore]) -> None:
    async def open_fresh(clock: FakeClock) -> Store:
        return broken(clock)

    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            machine(open_fresh, BROKEN[broken]),
            settings=settings(
                HUNT, stateful_step_count=STEPS.get(broken, HUNT.stateful_step_count)
            ),
        )
