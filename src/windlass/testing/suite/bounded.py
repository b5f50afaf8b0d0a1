"""No step grows with the backlog: measured with a few jobs waiting and with very many.

The bound is wide, twenty times and a constant, and each time is the best of several, and of
more when it is too long: it is there to catch work that grows with the number of jobs, not a slow
machine, nor one that is busy.
"""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from typing import Any

from ...core.model import Job, JobQuery, Spec, Transition
from ...core.states import State
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import BRIEF, LEASE, claim, new_job, put

Step = Callable[[], Awaitable[object]]
Round = tuple[Step, Mapping[str, Step]]
"""What is done to the jobs that wait, and the steps that are measured then."""

FEW = 100
MANY = 100_000
MANY_TO_LIST = 30_000
BATCH = 1_000
RUNS = 8
FACTOR = 20
CONSTANT = 0.02


async def fill(store: Store, first: int, last: int) -> None:
    """Waiting jobs of every kind: most of them pending, some far from due."""
    for start in range(first, last, BATCH):
        await store.insert(
            [
                new_job(
                    f"waiting-{n}",
                    queue=f"q{n % 2}",
                    priority=n % 101,
                    delay=0 if n % 5 else 3_600_000 + n,
                    unique=f"key-{n}" if n % 10 == 0 else None,
                )
                for n in range(start, min(start + BATCH, last))
            ]
        )


async def claim_all(store: Store) -> None:
    """Claim every pending job, a hundred at a time."""
    while await store.claim({"q0": FEW, "q1": FEW}, FEW, LEASE, "w"):
        pass


async def best(step: Step, bound: float = 0) -> float:
    """The shortest time of a few runs; one that is within the bound is short enough."""
    shortest = math.inf
    for _ in range(RUNS):
        start = time.perf_counter()
        await step()
        shortest = min(shortest, time.perf_counter() - start)
        if shortest <= bound:
            break
    return shortest


async def compare(store: Store, many: int, *rounds: Round) -> None:
    """Fail, with the times, at the first step that takes much longer in front of a long line."""
    before: list[dict[str, float]] = []
    await fill(store, 0, FEW)
    for prepare, steps in rounds:
        await prepare()
        before.append({name: await best(step) for name, step in steps.items()})
    await fill(store, FEW, many)
    assert sum(sum(stats.counts.values()) for stats in await store.queues()) >= many
    for (prepare, steps), times in zip(rounds, before, strict=True):
        await prepare()
        for name, step in steps.items():
            bound = times[name] * FACTOR + CONSTANT
            after = await best(step, bound)
            assert after <= bound, (
                f"grows with the backlog: {name}: {times[name] * 1000:.2f} ms with {FEW}, "
                f"{after * 1000:.2f} ms with {many}"
            )


async def nothing() -> None:
    """Leave the jobs as they are."""


async def test_no_step_of_a_job_grows(store: Store, clock: FakeClock) -> None:
    serial = count()

    async def round_trip() -> None:
        await put(store, *(f"job-{next(serial)}" for _ in range(10)), queue="q0", priority=100)
        jobs = await claim(store, 10, queue="q0")
        await store.renew([job.lease for job in jobs], LEASE)
        await store.finish([Transition(job.id, job.fence, State.COMPLETED) for job in jobs])

    async def release(jobs: Sequence[Job]) -> None:
        moves = [Transition(job.id, job.fence, State.PENDING, refund=True) for job in jobs]
        assert len(await store.finish(moves)) == len(jobs) > 0

    async def claim_and_release() -> None:
        await release(await store.claim({"q0": 50, "q1": 50}, 100, LEASE, "w"))

    async def rescue() -> None:
        assert len(await claim(store, 10, queue="q1", lease=1)) == 10
        clock.now += 1
        await release(await store.rescue(10, LEASE, "w"))

    async def cancel_and_prune() -> None:
        names = [f"job-{next(serial)}" for _ in range(10)]
        await put(store, *names, spec=BRIEF)
        await store.cancel(names)
        clock.now += BRIEF.keep
        await store.prune(100)

    async def replay_and_delete() -> None:
        names = [f"job-{next(serial)}" for _ in range(10)]
        await put(store, *names)
        await store.cancel(names)
        await store.replay(names)
        await store.delete(names)

    async def prioritize() -> None:
        # Forth and back: who has the priority asked for stays where it is.
        for priority in (1, 99):
            names = [f"waiting-{n}" for n in range(20, 30)]
            assert len(await store.prioritize(names, priority)) == len(names)

    await compare(
        store,
        MANY,
        (
            nothing,
            {
                "round trip": round_trip,
                "claim and release": claim_and_release,
                "rescue": rescue,
                "cancel and prune": cancel_and_prune,
                "replay and delete": replay_and_delete,
                "prioritize": prioritize,
                "insert of a duplicate": lambda: store.insert([new_job("waiting-1")]),
                "get": lambda: store.get(["waiting-1", "nobody"]),
                "queues": store.queues,
                "wait": lambda: store.wait(["q0", "q1"], 1),
            },
        ),
    )


async def test_no_listing_grows(store: Store) -> None:
    def find(**query: Any) -> Step:
        return lambda: store.find(JobQuery(**query))

    def two_pages(**query: Any) -> Step:
        async def step() -> None:
            page = await store.find(JobQuery(**query, limit=FEW // 4))
            await store.find(JobQuery(**query, limit=FEW // 4, cursor=page.cursor))

        return step

    await store.insert([new_job("rare", Spec("rare", b""))])
    waiting = {
        "all": find(limit=50),
        "pending": find(states=(State.PENDING,), limit=50),
        "pending of a queue": find(states=(State.PENDING,), queue="q1", limit=50),
        "scheduled": find(states=(State.SCHEDULED,), limit=50),
        "scheduled of a queue": find(states=(State.SCHEDULED,), queue="q0", limit=50),
        "empty states": find(states=(State.DEAD, State.CANCELLED), limit=50),
        "a rare task": find(task="rare", limit=50),
        "with a cursor": two_pages(states=(State.PENDING,), queue="q1"),
        "oldest": lambda: store.oldest(["q0", "q1"]),
    }
    active = {
        "all, most of them active": find(limit=50),
        "active": find(states=(State.ACTIVE,), limit=50),
        "active with a cursor": two_pages(states=(State.ACTIVE,)),
    }
    await compare(store, MANY_TO_LIST, (nothing, waiting), (lambda: claim_all(store), active))
