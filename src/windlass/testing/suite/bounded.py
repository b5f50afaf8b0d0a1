"""No step grows with the backlog: measured with a few jobs waiting and with very many.

The bound is wide, twenty times and a constant, and each time is the best of several, and of
more when it is too long: it is there to catch work that grows with the number of jobs, not a slow
machine, nor one that is busy.
"""

from __future__ import annotations

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
Fill = Callable[[Store, int, int], Awaitable[None]]

FEW = 100
MANY = 100_000
MANY_TO_LIST = 30_000
BATCH = 1_000
RUNS = 5
FACTOR = 20
CONSTANT = 0.02
AGAIN = 3


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


async def fill_active(store: Store, first: int, last: int) -> None:
    """Jobs that were claimed, a hundred at a time."""
    await fill(store, first, last)
    while await store.claim({"q0": FEW, "q1": FEW}, FEW, LEASE, "w"):
        pass


async def best(step: Step) -> float:
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        await step()
        times.append(time.perf_counter() - start)
    return min(times)


async def compare(store: Store, steps: Mapping[str, Step], many: int, fill: Fill = fill) -> None:
    """Fail, with the times, if a step takes much longer in front of a long line."""
    await fill(store, 0, FEW)
    before = {name: await best(step) for name, step in steps.items()}
    await fill(store, FEW, many)
    assert sum(sum(stats.counts.values()) for stats in await store.queues()) >= many
    after = {name: await best(step) for name, step in steps.items()}
    for _ in range(AGAIN):
        for name in grown(before, after):
            after[name] = min(after[name], await best(steps[name]))
    found = [
        f"{name}: {before[name] * 1000:.2f} ms with {FEW}, {after[name] * 1000:.2f} ms with {many}"
        for name in grown(before, after)
    ]
    assert not found, f"grows with the backlog: {'; '.join(found)}"


def grown(before: Mapping[str, float], after: Mapping[str, float]) -> Sequence[str]:
    return [name for name in before if after[name] > before[name] * FACTOR + CONSTANT]


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
        MANY,
    )


async def test_no_listing_grows(store: Store) -> None:
    def find(**query: Any) -> Step:
        return lambda: store.find(JobQuery(**query))

    async def second_page() -> None:
        page = await store.find(JobQuery(states=(State.PENDING,), queue="q1", limit=FEW // 4))
        await store.find(JobQuery(states=(State.PENDING,), queue="q1", cursor=page.cursor))

    await store.insert([new_job("rare", Spec("rare", b""))])
    await compare(
        store,
        {
            "all": find(limit=50),
            "pending": find(states=(State.PENDING,), limit=50),
            "pending of a queue": find(states=(State.PENDING,), queue="q1", limit=50),
            "scheduled": find(states=(State.SCHEDULED,), limit=50),
            "scheduled of a queue": find(states=(State.SCHEDULED,), queue="q0", limit=50),
            "empty states": find(states=(State.DEAD, State.ACTIVE), limit=50),
            "a rare task": find(task="rare", limit=50),
            "with a cursor": second_page,
            "oldest": lambda: store.oldest(["q0", "q1"]),
        },
        MANY_TO_LIST,
    )


async def test_no_listing_grows_with_the_active(store: Store) -> None:
    async def two_pages() -> None:
        page = await store.find(JobQuery(states=(State.ACTIVE,), limit=FEW // 4))
        await store.find(JobQuery(states=(State.ACTIVE,), limit=FEW // 4, cursor=page.cursor))

    await compare(
        store,
        {
            "all": lambda: store.find(JobQuery(limit=50)),
            "active": lambda: store.find(JobQuery(states=(State.ACTIVE,), limit=50)),
            "with a cursor": two_pages,
        },
        MANY_TO_LIST,
        fill_active,
    )
