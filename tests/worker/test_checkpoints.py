"""What an attempt leaves for the next one, wherever handlers run."""

import asyncio
import threading
from typing import Any

import pytest

from tests.worker.handlers import count_up, crowd, large, odd
from tests.worker.kinds import KINDS
from windlass import Context, Retry, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.codec import JSON
from windlass.core.context import local_context
from windlass.errors import JobFailed
from windlass.testing.work import until, work

ONE = WorkerSettings(concurrency=1)


async def acount_up(ctx: Context) -> list[int]:
    done: list[int] = ctx.state or []
    await ctx.acheckpoint([*done, ctx.attempt])
    if ctx.attempt < 3:
        raise Retry(after=0)
    return [*done, ctx.attempt]


@KINDS
async def test_the_next_attempt_goes_on_where_the_last_one_stopped(
    app: Windlass, kind: str
) -> None:
    handler: Any = acount_up if kind == "async" else count_up
    job = await app.task(context=True, process=kind == "process")(handler).aenqueue()
    await work(app, ONE)
    assert await job.aresult() == [1, 2, 3]
    assert (await job.aget()).checkpoint is None


async def test_the_last_checkpoint_of_an_attempt_counts(app: Windlass) -> None:
    @app.task(context=True)
    async def climb(ctx: Context) -> Any:
        if ctx.state is None:
            for step in range(5):
                await ctx.acheckpoint({"step": step, "raw": b"\0"})
            raise Retry(after=0)
        return ctx.state["step"]

    job = await climb.aenqueue()
    await work(app)
    assert await job.aresult() == 4


async def test_it_is_written_by_the_codec_of_the_job() -> None:
    app = Windlass("memory://", codec=JSON)

    @app.task(context=True)
    async def stop(ctx: Context) -> None:
        await ctx.acheckpoint({"page": 7})
        raise Retry(after=600)

    job = await stop.aenqueue()
    await work(app)
    assert (await job.aget()).checkpoint == b'[1,{"page":7}]'


@pytest.mark.parametrize("process", [False, True])
async def test_one_that_is_too_large_is_refused(process: bool) -> None:
    app = Windlass("memory://", max_payload=100)
    task = app.task(context=True, process=process)(large)
    job = await task.aenqueue()
    await work(app, ONE)
    with pytest.raises(JobFailed, match=r"The checkpoints of large take 1,0\d\d bytes, the limit"):
        await job.aresult()


@KINDS
async def test_one_that_cannot_be_encoded_is_told(app: Windlass, kind: str) -> None:
    handler: Any = aodd if kind == "async" else odd
    task = app.task(context=True, process=kind == "process", max_retries=0)(handler)
    job = await task.aenqueue()
    await work(app, ONE)
    with pytest.raises(JobFailed, match="the checkpoint: a value of type `complex`"):
        await job.aresult()


async def aodd(ctx: Context) -> None:
    await ctx.acheckpoint(1j)


async def test_an_async_handler_that_would_block_is_told(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    async def block(ctx: Context) -> None:
        ctx.checkpoint(1)

    job = await block.aenqueue()
    await work(app)
    with pytest.raises(JobFailed, match=r"use `await context\.acheckpoint"):
        await job.aresult()


async def test_a_blocking_handler_with_a_loop_of_its_own_is_told(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    def own(ctx: Context) -> None:
        asyncio.run(ctx.acheckpoint(1))

    job = await own.aenqueue()
    await work(app)
    with pytest.raises(JobFailed, match=r"in a blocking handler use context\.checkpoint"):
        await job.aresult()


async def test_an_async_handler_whose_lease_is_lost_is_stopped(app: Windlass) -> None:
    ended: list[str] = []
    going = asyncio.Event()

    @app.task(context=True)
    async def persist(ctx: Context) -> None:
        await going.wait()
        try:
            await ctx.acheckpoint(1)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    job = await persist.aenqueue()
    worker = await app.worker(ONE)
    await worker.start()
    store = await app.client.store()
    while (await job.aget()).state is not State.ACTIVE:
        await asyncio.sleep(0.002)
    await store.cancel([job.id])
    going.set()
    await until(lambda: ended == ["cancelled"])
    await worker.stop()
    assert (await job.aget()).state is State.CANCELLED
    assert (await job.aget()).checkpoint is None


async def test_a_blocking_handler_whose_lease_is_lost_is_stopped(app: Windlass) -> None:
    ended: list[str] = []
    going = threading.Event()

    @app.task(context=True)
    def persist(ctx: Context) -> None:
        going.wait(20)
        try:
            ctx.checkpoint(1)
            threading.Event().wait(20)
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    job = await persist.aenqueue()
    worker = await app.worker(ONE)
    await worker.start()
    store = await app.client.store()
    while (await job.aget()).state is not State.ACTIVE:
        await asyncio.sleep(0.002)
    await store.cancel([job.id])
    going.set()
    await until(lambda: bool(ended))
    await worker.stop()
    assert ended[0] in ("AttemptStopped", "LeaseLost")
    assert (await job.aget()).state is State.CANCELLED


async def test_threads_of_a_handler_can_keep_too(app: Windlass) -> None:
    task = app.task(context=True, process=True)(crowd)
    job = await task.aenqueue()
    await work(app, ONE)
    assert await job.aresult() is True


def test_a_handler_that_is_called_directly_keeps_nothing() -> None:
    context = local_context("t")
    context.checkpoint(1)
    asyncio.run(context.acheckpoint(1))
    assert context.state is None
