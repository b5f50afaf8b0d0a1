"""Real worker code on a clock that jumps: what a seed shows, and that it would show a fault."""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256

import pytest

from windlass.core.model import Job, Lease, NewJob, Receipt, Transition
from windlass.stores.memory import MemoryStore
from windlass.testing.chaos.record import Event, Fault
from windlass.testing.simulation import world
from windlass.testing.simulation.run import Report, simulate

SEEDS = int(os.environ.get("WINDLASS_SIMULATION_SEEDS", "24"))
"""How many are run: some that are the same each time, and as many others."""

SAME = range(8)
REPEATED = (3, 4)
"""Those of them whose events are looked at in other processes as well."""

PRINT_DIGESTS = """
import sys
from hashlib import sha256
from windlass.testing.simulation.run import simulate

for seed in map(int, sys.argv[1:]):
    print(sha256(repr(simulate(seed).events).encode()).hexdigest())
"""


def digest(events: Sequence[Event]) -> str:
    return sha256(repr(events).encode()).hexdigest()


@cache
def report(seed: int) -> Report:
    return simulate(seed)


def test_no_promise_is_broken_whatever_is_killed() -> None:
    others = [random.SystemRandom().randrange(2**32) for _ in range(SEEDS - len(SAME))]
    reports = [report(seed) for seed in (*SAME, *others)]
    assert sum(each.calls for each in reports) > 0
    assert sum(each.faults for each in reports) > 0
    for each in reports:
        assert not each.breaches, f"seed {each.seed}: {'; '.join(map(str, each.breaches))}"


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_seed_shows_the_same_events_in_another_process(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS, *map(str, REPEATED)],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [digest(report(seed).events) for seed in REPEATED]


def test_processes_are_killed_halted_and_stopped_and_the_store_fails() -> None:
    kinds = {
        event.kind for seed in SAME for event in report(seed).events if isinstance(event, Fault)
    }
    assert kinds >= {"kill", "stop", "end", "restart", "cut", "slow"}


class NoFence(MemoryStore):
    """Takes what anybody writes who once had the job."""

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        found = await self.get([each.id for each in transitions])
        own = [
            Transition(each.id, found[each.id].fence, each.state, each.delay, each.due)
            for each in transitions
            if each.id in found
        ]
        return await super().finish(own)


class Forgetful(MemoryStore):
    """Answers that it has a job before it has it, and loses some."""

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        kept = [job for job in jobs if not job.id.endswith("3")]
        await super().insert(kept)
        return [Receipt(job.id) for job in jobs]


class NobodyIsRescued(MemoryStore):
    """Leaves jobs with the dead."""

    async def rescue(self, limit: int, lease: int, worker: str) -> Sequence[Job]:
        return ()


class NoKeys(MemoryStore):
    """Lets a unique key be held by any number of jobs."""

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        for job in jobs:
            await super().insert([NewJob(job.id, job.spec, job.queue, job.priority, job.delay)])
        return [Receipt(job.id) for job in jobs]


class EndlessLeases(MemoryStore):
    """Tells everybody that they still hold what they ask for."""

    async def renew(self, leases: Sequence[Lease], lease: int) -> frozenset[str]:
        await super().renew(leases, lease)
        return frozenset(each.id for each in leases)

    async def finish(self, transitions: Sequence[Transition]) -> frozenset[str]:
        await super().finish(transitions)
        return frozenset(each.id for each in transitions)


FIRST = 90
"""The seed at which the rarest of the faults is found: so it takes few."""

SHORT = 200.0
"""Seconds of the simulation: what never ends is waited for no longer."""


def test_a_store_without_a_fault_has_enough_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "PATIENCE", SHORT)
    assert not simulate(FIRST).breaches


@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        (NoFence, "a_stale_fence_writes_nothing"),
        (Forgetful, "nothing_accepted_is_lost"),
        (NobodyIsRescued, "everything_ends"),
        (NoKeys, "a_unique_key_has_one_live_job"),
        (EndlessLeases, "nothing_ends_twice"),
    ],
)
def test_a_fault_is_found(
    broken: Callable[..., MemoryStore], rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "PATIENCE", SHORT)
    for seed in range(FIRST, 200):
        if rule in {breach.rule for breach in simulate(seed, broken).breaches}:
            return
    raise AssertionError(f"no seed broke {rule}")
