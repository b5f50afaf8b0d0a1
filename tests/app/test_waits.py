"""Signals and batches from the producer to the handler and back, on every engine."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Batch, Context, SignalTimeout, State, Windlass
from windlass.config import WorkerSettings
from windlass.errors import WrongState
from windlass.testing.work import until, work

TWO = WorkerSettings(concurrency=2)


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


async def test_a_job_goes_on_when_its_signal_comes(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    async def ask(ctx: Context) -> list[Any]:
        return [ctx.attempt, await ctx.await_for("first", 600), await ctx.await_for("second")]

    job = await ask.aenqueue()
    worker = await app.worker(TWO)
    await worker.start()
    for name, value in (("first", {"a": b"\0"}), ("second", None)):
        while (await job.aget()).awaits != name:
            await asyncio.sleep(0.005)
        await app.asignal(job.id, name, value)
        if name == "first":
            # On an outage a sender tries again; the job cannot end before the second one.
            await app.asignal(job.id, name, value)
    assert await job.aresult(timeout=20) == [1, {"a": b"\0"}, None]
    with pytest.raises(WrongState, match="it is completed already"):
        await job.asignal("first", 1)
    await worker.stop()


async def test_a_job_goes_on_when_its_time_is_over(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    async def ask(ctx: Context) -> str:
        for _ in range(3):
            with contextlib.suppress(SignalTimeout):
                return str(await ctx.await_for("word", 0.05))
        return "given up"

    job = await ask.aenqueue()
    worker = await app.worker(TWO)
    await worker.start()
    assert await job.aresult(timeout=20) == "given up"
    await worker.stop()


async def test_of_two_who_signal_one_is_told_that_it_came_too_late(app: Windlass) -> None:
    @app.task(context=True)
    async def ask(ctx: Context) -> Any:
        return await ctx.await_for("word")

    job = await ask.aenqueue()
    answers = await asyncio.gather(
        *(job.asignal("word", n) for n in range(5)), return_exceptions=True
    )
    [chosen] = [n for n, answer in enumerate(answers) if answer is None]
    await work(app, TWO)
    assert await job.aresult(timeout=20) == chosen


async def test_jobs_of_a_batch_come_together_and_end_by_themselves(app: Windlass) -> None:
    calls: list[list[int]] = []

    @app.task(batch=Batch(size=5, grace=0.1, max_delay=5), max_retries=1, backoff=0.01)
    async def gather(numbers: list[int]) -> list[int | Exception]:
        calls.append(numbers)
        first = len(calls) == 1
        return [ValueError("3") if n == 3 and first else n * len(numbers) for n in numbers]

    jobs = await app.aenqueue_many(gather.call(n) for n in range(6))
    worker = await app.worker(TWO)
    await worker.start()
    await until(lambda: sum(map(len, calls)) == 7)
    results = [await job.aresult(timeout=20) for job in jobs]
    await worker.stop()
    assert calls[0] == [0, 1, 2, 3, 4]
    assert sorted(n for call in calls[1:] for n in call) == [3, 5]
    assert [results[n] for n in (0, 1, 2, 4)] == [0, 5, 10, 20]
    assert [(await job.aget()).attempt for job in jobs] == [1, 1, 1, 2, 1, 1]


async def test_a_batch_that_is_given_back_is_gathered_again(app: Windlass) -> None:
    entered = asyncio.Event()
    calls: list[int] = []

    @app.task(batch=Batch(size=3, grace=0.05, max_delay=1))
    async def gather(numbers: list[int]) -> None:
        calls.append(len(numbers))
        if len(calls) == 1:
            entered.set()
            await asyncio.sleep(60)

    jobs = await app.aenqueue_many(gather.call(n) for n in range(3))
    worker = await app.worker(WorkerSettings(concurrency=1, shutdown_timeout=0.01))
    await worker.start()
    await entered.wait()
    await worker.stop()
    assert State.ACTIVE not in [(await job.aget()).state for job in jobs]
    worker = await app.worker(TWO)
    await worker.start()
    for job in jobs:
        await job.aresult(timeout=20)
    await worker.stop()
    assert calls == [3, 3]
    assert {(await job.aget()).attempt for job in jobs} == {1}
