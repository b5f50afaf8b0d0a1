"""Run an app's jobs in a test: the real worker, until nothing is left to run now."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

import msgspec

from ..app import Windlass
from ..config import WorkerSettings
from ..core.clock import Clock, system_clock
from ..core.model import JobQuery
from ..core.states import State
from ..stores.contract import Store
from ..sync import refuse_in_loop
from ..worker.worker import Worker
from .ticks import make_ticks

UNBLOCK_BATCH: Final = 1_000


async def until(condition: Callable[[], bool], timeout: float = 20.0) -> None:
    """Wait for something to become true, looking often; `TimeoutError` says that it did not."""
    async with asyncio.timeout(timeout):
        while not condition():
            await asyncio.sleep(0.002)


async def counts(store: Store) -> Counter[State]:
    """How many jobs there are in each state, over all queues."""
    total: Counter[State] = Counter()
    for queue in await store.queues():
        total.update(queue.counts)
    return total


async def work(
    app: Windlass, settings: WorkerSettings | None = None, timeout: float = 20.0
) -> None:
    """Run jobs until none is left whose time has come; the others stay waiting.

    Schedules make theirs first: with a `FakeClock`, of each tick since it began.
    """
    worker = await app.worker(settings, ticks=False)
    store = await app.client.store()
    clock = app.clock or system_clock

    async def settled() -> None:
        while not await _is_idle(worker, store, clock):
            await asyncio.sleep(0.005)

    await worker.start()
    try:
        async with asyncio.timeout(timeout):
            await make_ticks(app, store, settled)
            await settled()
    finally:
        await worker.stop()


def work_blocking(
    app: Windlass, settings: WorkerSettings | None = None, timeout: float = 20.0
) -> None:
    """The same from blocking code: for tests that are a `def`."""
    refuse_in_loop("work_blocking(…)", "work(…)")

    async def run() -> None:
        try:
            await work(app, settings, timeout)
        finally:
            await app.aclose()

    asyncio.run(run())


async def _is_idle(worker: Worker, store: Store, clock: Clock) -> bool:
    ran = worker.ran
    states = await counts(store)
    if states[State.PENDING] or states[State.ACTIVE] or await _has_due(store, clock):
        return False
    # A store may see to dependents in a step of its own, after that of their parents.
    if await store.unblock(UNBLOCK_BATCH):
        return False
    # A job that came due between the two looks was in neither; one that was claimed and failed
    # again meanwhile is where it was.
    return await counts(store) == states and worker.ran == ran


async def _has_due(store: Store, clock: Clock) -> bool:
    query = JobQuery(states=(State.SCHEDULED, State.RETRY))
    while True:
        page = await store.find(query)
        # Only now: a retry at once may be due a moment after the look began.
        now = clock()
        if any(job.due <= now for job in page.jobs):
            return True
        if page.cursor is None:
            return False
        query = msgspec.structs.replace(query, cursor=page.cursor)
