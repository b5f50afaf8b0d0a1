"""A time limit begins with the handler, and nothing that a handler does puts it off."""

import asyncio
import threading
import time
from typing import Any

import pytest

from windlass import Batch, JobHandle, Middleware, State, Windlass
from windlass.config import WorkerSettings
from windlass.errors import AttemptStopped
from windlass.middleware import Attempt, CallNext
from windlass.testing.work import counts, until, work
from windlass.worker.executors.threads import LEAST_SPARE

FEW = WorkerSettings(concurrency=1, shutdown_timeout=0.1)


async def outcome(app: Windlass, id: str) -> tuple[State, int, str]:
    job = (await (await app.client.store()).get([id]))[id]
    return job.state, job.attempt, job.error.kind if job.error else ""


async def test_whoever_returns_when_it_is_cancelled_has_taken_too_long(app: Windlass) -> None:
    @app.task(timeout=0.05, max_retries=0)
    async def partial() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "partial"
        return "all"

    job = await partial.aenqueue()
    await work(app)
    assert await outcome(app, job.id) == (State.DEAD, 1, "AttemptTimeout")


async def test_whoever_goes_on_when_it_is_cancelled_has_taken_too_long(app: Windlass) -> None:
    swallowed = 0

    @app.task(timeout=0.05, max_retries=1, backoff=3600)
    async def stubborn() -> str:
        nonlocal swallowed
        for _ in range(10):
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                swallowed += 1
        return "done"

    job = await stubborn.aenqueue()
    await work(app)
    assert swallowed == 1
    assert await outcome(app, job.id) == (State.RETRY, 1, "AttemptTimeout")


async def test_whoever_computes_beyond_its_time_has_taken_too_long(app: Windlass) -> None:
    @app.task(timeout=0.05, max_retries=0)
    async def compute() -> int:
        time.sleep(0.1)
        return 1

    job = await compute.aenqueue()
    await work(app)
    assert await outcome(app, job.id) == (State.DEAD, 1, "AttemptTimeout")


async def test_a_thread_that_returns_when_it_is_stopped_has_taken_too_long(app: Windlass) -> None:
    @app.task(timeout=0.2, max_retries=0)
    def careful() -> str:
        try:
            while True:
                time.sleep(0.001)
        except AttemptStopped:
            return "saved"

    job = await careful.aenqueue()
    await work(app)
    assert await outcome(app, job.id) == (State.DEAD, 1, "AttemptTimeout")


async def test_an_error_of_its_own_is_told_as_it_is(app: Windlass) -> None:
    @app.task(timeout=0.05, max_retries=0)
    async def translates() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ConnectionError("gave up") from None

    job = await translates.aenqueue()
    await work(app)
    assert await outcome(app, job.id) == (State.DEAD, 1, "ConnectionError")


@pytest.mark.parametrize("batch", [False, True])
async def test_a_coroutine_that_never_ends_is_left_behind_and_its_slot_is_free(
    app: Windlass, caplog: pytest.LogCaptureFixture, batch: bool
) -> None:
    ended = asyncio.Event()
    done = False

    async def deaf() -> str:
        while not done:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        ended.set()
        return "late"

    async def deaf_to_all(items: list[int]) -> None:
        await deaf()

    @app.task
    async def fine() -> int:
        return 1

    options: dict[str, Any] = {"timeout": 0.05, "max_retries": 0, "name": "deaf"}
    if batch:
        options["batch"] = Batch(size=1, grace=0, max_delay=0)
        one: JobHandle[Any] = await app.task(**options)(deaf_to_all).aenqueue(1)
    else:
        one = await app.task(**options)(deaf).aenqueue()
    worker = await app.worker(FEW)
    await worker.start()
    store = await app.client.store()
    async with asyncio.timeout(20):
        while (await store.get([one.id]))[one.id].state is not State.DEAD:
            await asyncio.sleep(0.01)
    assert await outcome(app, one.id) == (State.DEAD, 1, "AttemptTimeout")
    assert await (await fine.aenqueue()).aresult(timeout=20) == 1
    assert "goes on though it was cancelled" in caplog.text
    done = True
    await asyncio.wait_for(ended.wait(), 20)
    await until(lambda: not worker._runner._left)
    await worker.stop()
    assert await outcome(app, one.id) == (State.DEAD, 1, "AttemptTimeout")
    assert len(worker._hand) == 0


async def test_a_cancelled_job_whose_handler_never_ends_gives_its_slot_back(
    app: Windlass,
) -> None:
    running, done = asyncio.Event(), False

    @app.task
    async def deaf() -> None:
        running.set()
        while not done:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    @app.task
    async def fine() -> int:
        return 1

    job = await deaf.aenqueue()
    worker = await app.worker(WorkerSettings(concurrency=1, lease=0.4))
    await worker.start()
    await asyncio.wait_for(running.wait(), 20)
    await job.acancel()
    assert await (await fine.aenqueue()).aresult(timeout=20) == 1
    assert (await job.aget()).state is State.CANCELLED
    done = True
    await worker.stop()


async def test_too_many_of_them_are_a_fault_of_the_worker(app: Windlass) -> None:
    done = False

    @app.task(timeout=0.05, max_retries=0)
    async def deaf() -> None:
        while not done:
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    await app.aenqueue_many([deaf.call() for _ in range(10)])
    worker = await app.worker(WorkerSettings(concurrency=5, shutdown_timeout=0.1))
    await worker.start()
    assert worker._runner.fault() is None
    await until(lambda: worker._runner.fault() is not None, 20)
    assert worker._runner.fault() == ("10 async handlers were cancelled and do not end: deaf (10).")
    done = True
    await until(lambda: worker._runner.fault() is None, 20)
    await worker.stop()
    assert await counts(await app.client.store()) == {State.DEAD: 10}


async def test_the_wait_for_a_thread_takes_no_time_of_a_job(app: Windlass) -> None:
    gate, running = threading.Event(), threading.Event()

    @app.task(priority=99)
    def first() -> None:
        running.set()
        gate.wait(20)

    @app.task(timeout=0.1, max_retries=0)
    def second() -> int:
        return 1

    ahead = await first.aenqueue()
    jobs = [await second.aenqueue() for _ in range(3)]
    worker = await app.worker(FEW)
    worker._fetcher.quiet = True
    worker._runner.waiting.blocking.seconds = 0.001
    await worker.start()
    store = await app.client.store()
    worker._fetcher._take(await store.claim({"default": 4}, 4, 60_000, worker.id))
    await until(running.is_set)
    assert len(worker._runner.claims) == 4
    asyncio.get_running_loop().call_later(0.3, gate.set)
    assert [await job.aresult(timeout=20) for job in jobs] == [1, 1, 1]
    await ahead.aresult(timeout=20)
    await worker.stop()


async def test_middleware_has_the_limit_before_the_handler_and_with_it(app: Windlass) -> None:
    """The clock begins anew with the handler."""
    pauses = {"before": (0.6, 0.0), "after": (0.0, 0.6), "each": (0.3, 0.3)}

    class Slow(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            before, after = pauses[attempt.args[0]]
            await asyncio.sleep(before)
            value = await call_next()
            await asyncio.sleep(after)
            return value

    app.add_middleware(Slow())

    @app.task(timeout=0.5, max_retries=0)
    async def work_async(when: str) -> str:
        return when

    @app.task(timeout=0.5, max_retries=0)
    def work_blocking(when: str) -> str:
        return when

    for task in (work_async, work_blocking):
        jobs = {when: await task.aenqueue(when) for when in pauses}
        await work(app)
        found = {when: await outcome(app, job.id) for when, job in jobs.items()}
        assert found == {
            "before": (State.DEAD, 1, "AttemptTimeout"),
            "after": (State.DEAD, 1, "AttemptTimeout"),
            "each": (State.COMPLETED, 1, ""),
        }


async def test_with_threads_that_all_hang_no_other_job_is_lost_and_the_worker_says_so(
    app: Windlass,
) -> None:
    gate = threading.Event()

    @app.task(timeout=0.05, max_retries=0, priority=99)
    def hang() -> None:
        gate.wait()

    @app.task(timeout=0.5, max_retries=0)
    def healthy(n: int) -> int:
        return n

    @app.task(queue="light")
    async def light(n: int) -> int:
        return n

    hanging = 2 + LEAST_SPARE
    await app.aenqueue_many(hang.call() for _ in range(hanging))
    queues = ("default", "light")
    worker = await app.worker(
        WorkerSettings(queues=queues, concurrency=4, threads=2, shutdown_timeout=0.1)
    )
    await worker.start()
    await until(lambda: worker._runner.fault() is not None, 30)
    assert worker._runner.fault() == (
        "No thread is left for blocking handlers: 12 were stopped and do not end, of hang (12)."
    )
    jobs = await app.aenqueue_many(healthy.call(n) for n in range(20))
    # Long enough for some to have been claimed and given back.
    lights = await app.aenqueue_many(light.using(delay=n / 10).call(n) for n in range(15))
    assert [await job.aresult(timeout=20) for job in lights] == list(range(15))
    store = await app.client.store()
    found = (await store.get([job.id for job in jobs])).values()
    assert {job.state for job in found} <= {State.PENDING, State.ACTIVE}
    gate.set()
    assert [await job.aresult(timeout=20) for job in jobs] == list(range(20))
    assert worker._runner.fault() is None
    await worker.stop()
