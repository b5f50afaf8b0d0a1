"""A slot comes back, however its attempt was ended."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from windlass import Batch, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job
from windlass.task import Task
from windlass.testing.work import until
from windlass.worker.worker import Worker

ONE = WorkerSettings(queues=("served",), concurrency=1, shutdown_timeout=0.05)
"""The jobs of the queue `default` are claimed by the test."""

KINDS = ["async", "async with a timeout", "thread", "batch"]
TURNS = range(7)
"""An attempt needs one turn of the loop to begin and a few more to come to its handler."""


def endless(app: Windlass, kind: str, never: threading.Event) -> Task[..., Any, Any]:
    """A task whose jobs end only if they are stopped."""

    async def awaits() -> None:
        await asyncio.sleep(3600)

    async def awaits_all(items: list[int]) -> None:
        await asyncio.sleep(3600)

    def blocks() -> None:
        while not never.wait(0.01):
            pass

    if kind == "batch":
        return app.task(batch=Batch(size=2, grace=0, max_delay=0))(awaits_all)
    if kind == "thread":
        return app.task(blocks)
    return app.task(timeout=3600 if "timeout" in kind else None)(awaits)


async def begun(app: Windlass, worker: Worker, kind: str, never: threading.Event) -> list[Job]:
    """Jobs that this worker starts in this turn of the loop: two of a batch, or one."""
    task = endless(app, kind, never)
    given: list[tuple[int, ...]] = [(1,), (2,)] if kind == "batch" else [()]
    await app.aenqueue_many([task.call(*each) for each in given])
    return await taken(app, worker, len(given))


async def taken(app: Windlass, worker: Worker, number: int = 1) -> list[Job]:
    """Jobs that this worker has claimed and delivered just now."""
    store = await app.client.store()
    jobs = list(await store.claim({"default": number}, number, 60_000, worker.id))
    assert len(jobs) == number
    worker._fetcher._take(jobs)
    return jobs


def is_free(worker: Worker) -> Callable[[], bool]:
    return lambda: not (worker._runner.claims or worker.busy or len(worker._hand))


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_job_that_is_cancelled_in_any_turn_of_the_loop_gives_its_slot_back(
    app: Windlass, kind: str, turns: int
) -> None:
    never = threading.Event()

    @app.task(queue="served")
    async def fine() -> int:
        return 1

    worker = await app.worker(ONE)
    await worker.start()
    jobs = await begun(app, worker, kind, never)
    for _ in range(turns):
        await asyncio.sleep(0)
    for job in jobs:
        worker._runner.lose(job.lease)
    await until(is_free(worker))
    assert await (await fine.aenqueue()).aresult(timeout=20) == 1
    never.set()
    await worker.stop()


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("kind", KINDS)
async def test_a_job_that_was_just_started_goes_back_when_the_worker_stops(
    app: Windlass, kind: str, turns: int
) -> None:
    never = threading.Event()
    worker = await app.worker(replace(ONE, shutdown_timeout=0.0))
    await worker.start()
    jobs = await begun(app, worker, kind, never)
    for _ in range(turns):
        await asyncio.sleep(0)
    await worker.stop()
    never.set()
    assert is_free(worker)()
    store = await app.client.store()
    found = (await store.get([job.id for job in jobs])).values()
    # In a lane of a batch the second one waits behind the first.
    assert {job.state for job in found} <= {State.PENDING, State.BLOCKED}
    assert [job.attempt for job in found] == [0] * len(jobs)


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_a_queue_that_is_worked_on_can_be_cancelled_in_bulk(app: Windlass, kind: str) -> None:
    """By whoever looks up what is active, as often as possible: some have just been started."""

    async def awaits() -> None:
        await asyncio.sleep(0.001)

    def blocks() -> None:
        time.sleep(0.001)

    short = app.task(awaits if kind == "async" else blocks)
    worker = await app.worker(WorkerSettings(concurrency=20, lease=0.4))
    await worker.start()
    store = await app.client.store()
    stop = asyncio.Event()

    async def feed() -> None:
        while not stop.is_set():
            await app.aenqueue_many([short.call() for _ in range(200)])
            await until(lambda: len(worker._hand) < 20 or stop.is_set())

    async def cancel() -> int:
        number = 0
        while not stop.is_set():
            leases = worker._hand.leases
            number += len(await store.cancel([lease.id for lease in leases]))
            for lease in leases:
                worker._lose(lease)
            await asyncio.sleep(0)
        return number

    feeding, cancelling = asyncio.create_task(feed()), asyncio.create_task(cancel())
    await asyncio.sleep(1)
    stop.set()
    assert await cancelling > 100
    await feeding
    last = await app.aenqueue_many([short.call() for _ in range(40)])
    for job in last:
        await job.aresult(timeout=20)
    await until(is_free(worker), 20)
    await worker.stop()


async def test_what_was_claimed_and_not_started_can_be_taken_from_any_thread(
    app: Windlass,
) -> None:
    running: list[int] = []
    gate = asyncio.Event()

    @app.task
    async def hold(n: int) -> None:
        running.append(n)
        await gate.wait()

    await app.aenqueue_many(hold.call(n) for n in range(5))
    worker = await app.worker(ONE)
    jobs = await taken(app, worker, 5)
    await until(lambda: running == [0])
    found: list[Job] = []
    thread = threading.Thread(target=lambda: found.extend(worker._runner.take_backlog()))
    thread.start()
    thread.join()
    assert [job.id for job in found] == [job.id for job in jobs[1:]]
    assert worker._runner.take_backlog() == []
    gate.set()
    await until(lambda: not worker._runner.claims)
    assert running == [0]
