"""Real worker code on a clock that jumps: what a seed shows, and that it would show a fault."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from hashlib import sha256

import pytest

from windlass.core.model import Job, Lease, NewJob, Receipt, Transition
from windlass.stores.memory import MemoryStore
from windlass.testing.chaos.record import Fault
from windlass.testing.simulation.run import simulate

SECONDS = float(os.environ.get("WINDLASS_SIMULATION_SECONDS", "6"))
PRINT_DIGEST = """
import sys
from tests.chaos.test_simulation import digest
print(digest(int(sys.argv[1])))
"""


def digest(seed: int) -> str:
    return sha256(repr(simulate(seed).events).encode()).hexdigest()


def test_no_promise_is_broken_whatever_is_killed() -> None:
    until = time.monotonic() + SECONDS
    calls = faults = 0
    while time.monotonic() < until:
        report = simulate(random.SystemRandom().randrange(2**32))
        assert not report.breaches, f"seed {report.seed}: {'; '.join(map(str, report.breaches))}"
        calls += report.calls
        faults += report.faults
    assert calls > 0 and faults > 0


@pytest.mark.parametrize("seed", [3, 17])
def test_a_seed_shows_the_same_events_in_another_process(seed: int) -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST, str(seed)],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert found == {digest(seed)}


def test_processes_are_killed_halted_and_stopped_and_the_store_fails() -> None:
    kinds = {
        event.kind
        for seed in range(8)
        for event in simulate(seed).events
        if isinstance(event, Fault)
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
def test_a_fault_is_found(broken: Callable[..., MemoryStore], rule: str) -> None:
    # From where the rarest of them was found: so it takes few.
    for seed in range(58, 200):
        if rule in {breach.rule for breach in simulate(seed, broken).breaches}:
            return
    raise AssertionError(f"no seed broke {rule}")
