"""Where handlers run, and how each is stopped: on the loop, in a thread."""

import asyncio
import threading
import time
from functools import partial

import pytest

from windlass import Context, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job
from windlass.errors import AttemptStopped
from windlass.testing.work import until, work
from windlass.worker.executors import thread_call
from windlass.worker.executors.threads import LEAST_SPARE, Threads

BEGUN = 0.5
"""Seconds by which a handler runs in its thread: one that was stopped before is never called."""


async def test_an_async_handler_is_cancelled_when_its_time_is_up(app: Windlass) -> None:
    seen: list[str] = []

    @app.task(timeout=0.05, max_retries=1, backoff=3600)
    async def endless() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    job = await endless.aenqueue()
    await work(app)
    assert ended(await job.aget()) == (State.RETRY, 1, "AttemptTimeout")
    assert seen == ["cancelled"]


async def test_a_thread_gets_an_exception_when_its_time_is_up(app: Windlass) -> None:
    seen: list[str] = []

    @app.task(timeout=BEGUN, max_retries=1, backoff=3600)
    def endless() -> None:
        try:
            while True:
                swallow_errors()
        except AttemptStopped:
            seen.append("stopped")
            raise

    job = await endless.aenqueue()
    await work(app)
    found = await job.aget()
    assert ended(found) == (State.RETRY, 1, "AttemptTimeout")
    assert found.error is not None and f"longer than {BEGUN} s" in found.error.message
    assert seen == ["stopped"]


def swallow_errors() -> None:
    """A step of a handler that lets no error out."""
    try:
        time.sleep(0.001)
    except Exception:
        pytest.fail("it must not be an Exception")


async def test_a_thread_gets_an_exception_when_its_job_is_cancelled(app: Windlass) -> None:
    running, stopped = threading.Event(), threading.Event()
    runs: list[int] = []

    @app.task(context=True, backoff=0)
    def endless(ctx: Context) -> None:
        runs.append(ctx.attempt)
        running.set()
        try:
            while True:
                swallow_errors()
        except AttemptStopped:
            stopped.set()
            raise

    job = await endless.aenqueue()
    worker = await app.worker(WorkerSettings(lease=0.4))
    await worker.start()
    await until(running.is_set)
    await job.acancel()
    await until(stopped.is_set)
    await worker.stop()
    found = await job.aget()
    assert (found.state, found.attempt, runs) == (State.CANCELLED, 1, [1])


async def test_the_thread_of_a_stopped_handler_runs_the_next_job(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_call, "GRACE", 20.0)
    threads: list[str] = []

    @app.task(timeout=BEGUN, max_retries=0)
    def endless() -> None:
        threads.append(threading.current_thread().name)
        while True:
            swallow_errors()

    @app.task
    def fine() -> None:
        threads.append(threading.current_thread().name)

    await endless.aenqueue()
    await fine.aenqueue()
    await work(app, WorkerSettings(concurrency=1))
    assert threads == ["windlass-handler-1"] * 2


async def test_a_job_that_is_stopped_while_it_returns_does_not_harm_the_next_one() -> None:
    """The exception is sent at every moment of a call's life; only that call may meet it."""
    threads = Threads(1)
    stopped = 0
    for n in range(400):
        begun = threading.Event()
        victim = threads.run(partial(begin_and_spin, begun, n % 40))
        if n % 2:
            begun.wait()
        victim.cancel()
        heirs = [threads.run(partial(spin, 20 + m)) for m in range(3)]
        assert await asyncio.gather(*heirs) == [20, 21, 22]
        [end] = await asyncio.gather(victim, return_exceptions=True)
        stopped += isinstance(end, asyncio.CancelledError)
    assert stopped > 0
    threads.close()


def begin_and_spin(begun: threading.Event, steps: int) -> int:
    begun.set()
    return spin(steps)


def spin(steps: int) -> int:
    for _ in range(steps):
        threading.get_ident()
    return steps


async def test_a_call_that_was_cancelled_before_it_began_is_never_made() -> None:
    threads = Threads(1)
    gate = threading.Event()
    made: list[int] = []
    first = threads.run(gate.wait)
    second = threads.run(lambda: made.append(2))
    third = threads.run(lambda: made.append(3))
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    gate.set()
    await first
    await third
    assert made == [3]
    threads.close()


async def test_a_thread_that_will_not_end_is_replaced(app: Windlass) -> None:
    gate = threading.Event()

    @app.task(timeout=BEGUN, max_retries=0)
    def stubborn() -> None:
        gate.wait()

    @app.task
    def fine() -> str:
        return threading.current_thread().name

    stuck = await stubborn.aenqueue()
    good = await fine.aenqueue()
    await work(app, WorkerSettings(concurrency=1))
    assert not gate.is_set()
    assert ended(await stuck.aget()) == (State.DEAD, 1, "AttemptTimeout")
    assert await good.aresult() == "windlass-handler-2"
    gate.set()


async def test_threads_that_will_not_end_are_replaced_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thread_call, "GRACE", 0.01)
    threads = Threads(1, "bounded")
    gate = threading.Event()
    for _ in range(LEAST_SPARE + 1):
        begun = threading.Event()
        stuck = threads.run(partial(begin_and_wait, begun, gate))
        await until(begun.is_set)
        stuck.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stuck
    late = threads.run(lambda: "late")
    _, waiting = await asyncio.wait([late], timeout=0.1)
    assert waiting == {late}
    gate.set()
    assert await late == "late"
    # The spare ones have ended, and those that are left can do everything.
    await until(lambda: names("bounded") <= 1)
    assert await threads.run(lambda: "again") == "again"
    threads.close()
    await until(lambda: names("bounded") == 0)


def begin_and_wait(begun: threading.Event, gate: threading.Event) -> None:
    begun.set()
    gate.wait()


def names(prefix: str) -> int:
    return sum(thread.name.startswith(prefix) for thread in threading.enumerate())


async def test_blocking_calls_run_side_by_side() -> None:
    threads = Threads(20)
    together = threading.Barrier(20)
    assert sorted(
        await asyncio.gather(*(threads.run(lambda: together.wait(20)) for _ in range(20)))
    ) == list(range(20))
    threads.close()


async def test_every_one_of_many_short_calls_comes_back() -> None:
    threads = Threads(8)
    for _ in range(20):
        calls = [threads.run(partial(spin, n)) for n in range(500)]
        assert await asyncio.gather(*calls) == list(range(500))
    threads.close()


async def test_a_burst_of_short_calls_needs_few_threads() -> None:
    threads = Threads(100)
    used: set[str] = set()

    def short() -> None:
        used.add(threading.current_thread().name)

    for _ in range(20):
        await asyncio.gather(*(threads.run(short) for _ in range(100)))
    threads.close()
    assert 1 <= len(used) < 50


def ended(job: Job) -> tuple[State, int, str]:
    assert job.error is not None
    return job.state, job.attempt, job.error.kind


async def test_a_system_without_more_threads_fails_only_what_nobody_can_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    threads = Threads(5)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            threads.run(partial(spin, 1))
    assert await threads.run(partial(spin, 2)) == 2
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        calls = [threads.run(partial(spin, n)) for n in range(50)]
        assert await asyncio.gather(*calls) == list(range(50))
    threads.close()
