"""Handlers that wait for something from outside: parked, called again, resumed once."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from tests.worker.handlers import approve, approve_in_time, in_a_loop
from tests.worker.kinds import KINDS, ON_MEMORY
from windlass import Context, Retry, SignalTimeout, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.codec import JSON
from windlass.core.context import local_context
from windlass.core.model import NEVER
from windlass.errors import (
    InvalidOption,
    JobFailed,
    PayloadTooLarge,
    UnencodableValue,
    UnknownJob,
    UsageError,
    WrongState,
)
from windlass.testing.clock import FakeClock
from windlass.testing.work import work

ONE = WorkerSettings(concurrency=1)


async def aapprove(ctx: Context, key: str) -> Any:
    return [ctx.attempt, await ctx.await_for("approved")]


async def aapprove_in_time(ctx: Context) -> str:
    try:
        return f"yes: {await ctx.await_for('approved', timeout=timedelta(minutes=1))}"
    except TimeoutError as error:
        return f"no: {error}"


def declare(app: Windlass, kind: str, blocking: Any, on_the_loop: Any) -> Any:
    handler = on_the_loop if kind == "async" else blocking
    return app.task(context=True, process=kind == "process", max_retries=0)(handler)


@KINDS
async def test_a_job_is_parked_until_its_signal_comes(app: Windlass, kind: str) -> None:
    job = await declare(app, kind, approve, aapprove).aenqueue("x")
    await work(app, ONE)
    parked = await job.aget()
    assert (parked.state, parked.awaits, parked.due) == (State.SCHEDULED, "approved", NEVER)
    assert (parked.attempt, parked.error, parked.lease_until) == (0, None, None)
    await job.asignal("approved", {"by": "Ada", "raw": b"\0"})
    await work(app, ONE)
    assert await job.aresult() == [1, {"by": "Ada", "raw": b"\0"}]
    assert (await job.aget()).mail is None


@KINDS
async def test_a_signal_that_came_before_the_wait_is_there(app: Windlass, kind: str) -> None:
    job = await declare(app, kind, approve, aapprove).aenqueue("x")
    await job.asignal("approved")
    await work(app, ONE)
    assert await job.aresult() == [1, None]


@KINDS
async def test_a_wait_can_be_in_vain(timed: Windlass, clock: FakeClock, kind: str) -> None:
    app = timed
    task = declare(app, kind, approve_in_time, aapprove_in_time)
    late, early = await task.aenqueue(), await task.aenqueue()
    await work(app, ONE)
    await early.asignal("approved", 1)
    clock.advance(60)
    await work(app, ONE)
    assert await late.aresult() == "no: The signal 'approved' did not come in time."
    assert await early.aresult() == "yes: 1"


async def test_a_signal_that_comes_while_the_handler_runs_is_not_lost(app: Windlass) -> None:
    runs: list[int] = []

    @app.task(context=True)
    async def ask(ctx: Context) -> Any:
        runs.append(ctx.attempt)
        if len(runs) == 1:
            await app.asignal(ctx.id, "answer", 42)
        return await ctx.await_for("answer", timeout=600)

    job = await ask.aenqueue()
    await work(app)
    assert (await job.aresult(), runs) == (42, [1, 1])


async def test_several_signals_one_after_the_other(app: Windlass) -> None:
    @app.task(context=True)
    async def order(ctx: Context) -> list[Any]:
        return [await ctx.await_for("paid"), await ctx.await_for("packed")]

    job = await order.aenqueue()
    await work(app)
    await job.asignal("packed", 2)
    await work(app)
    assert (await job.aget()).awaits == "paid"
    await job.asignal("paid", 1)
    await work(app)
    assert await job.aresult() == [1, 2]


async def test_a_handler_can_wait_in_a_task_group(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    async def both(ctx: Context) -> Any:
        async with asyncio.TaskGroup() as group:
            paid = group.create_task(ctx.await_for("paid"))
            packed = group.create_task(ctx.await_for("packed"))
        return [paid.result(), packed.result()]

    job = await both.aenqueue()
    for name in ("packed", "paid"):
        await work(app)
        await job.asignal(name, name)
    await work(app)
    assert await job.aresult(timeout=5) == ["paid", "packed"]


async def test_handlers_that_catch_every_exception_are_parked_all_the_same(app: Windlass) -> None:
    cleaned: list[str] = []

    @app.task(context=True)
    def careless(ctx: Context) -> Any:
        try:
            return ctx.wait_for("approved")
        except Exception:
            return "swallowed"
        finally:
            cleaned.append("up")

    job = await careless.aenqueue()
    await work(app)
    await job.asignal("approved", "good")
    await work(app)
    assert (await job.aresult(), cleaned) == ("good", ["up", "up"])


async def test_it_frees_the_slot_and_costs_no_attempt(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    async def wait(ctx: Context) -> None:
        await ctx.await_for("never")

    @app.task
    async def quick() -> str:
        return "done"

    waiting = [await wait.aenqueue() for _ in range(5)]
    job = await quick.aenqueue()
    await work(app, ONE)
    assert await job.aresult() == "done"
    assert {(await each.aget()).attempt for each in waiting} == {0}


async def test_a_failed_attempt_finds_its_signal_again(app: Windlass) -> None:
    @app.task(context=True)
    async def flaky(ctx: Context) -> Any:
        value = await ctx.await_for("go")
        if ctx.attempt == 1:
            raise Retry(after=0)
        return value

    job = await flaky.aenqueue()
    await work(app)
    await job.asignal("go", "on")
    await work(app)
    assert (await job.aresult(), (await job.aget()).attempt) == ("on", 2)


async def test_the_first_of_a_name_stays(app: Windlass) -> None:
    @app.task(context=True)
    async def wait(ctx: Context) -> Any:
        return await ctx.await_for("go")

    job = await wait.aenqueue()
    await job.asignal("go", 1)
    await job.asignal("go", 1)
    with pytest.raises(WrongState, match="has the signal 'go' already: the first one stays"):
        await job.asignal("go", 2)
    await work(app)
    assert await job.aresult() == 1
    with pytest.raises(WrongState, match="cannot get a signal: it is completed already"):
        await job.asignal("go", 1)


# -- waits that were in vain, and more waits after them ------------------------------------------


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def timed(url: str, clock: FakeClock) -> AsyncIterator[Windlass]:
    """An app whose time stands still between the attempts."""
    app = Windlass(url, clock=clock)
    yield app
    await app.aclose()
    app.close()


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_a_handler_can_wait_again_for_the_same(
    timed: Windlass, clock: FakeClock, kind: str
) -> None:
    app = timed
    reminded: list[str] = []

    async def aremind(ctx: Context) -> str:
        for _ in range(2):
            with contextlib.suppress(SignalTimeout):
                return str(await ctx.await_for("paid", timeout=60))
            reminded.append(ctx.id)
        return "given up"

    def remind(ctx: Context) -> str:
        for _ in range(2):
            with contextlib.suppress(SignalTimeout):
                return str(ctx.wait_for("paid", timeout=60))
            reminded.append(ctx.id)
        return "given up"

    task = declare(app, kind, remind, aremind)
    job, paid = await task.aenqueue(), await task.aenqueue()
    await work(app)
    clock.advance(60)
    await work(app)
    assert [(await each.aget()).state for each in (job, paid)] == [State.SCHEDULED] * 2
    await paid.asignal("paid", "in the end")
    clock.advance(60)
    await work(app)
    assert await job.aresult() == "given up"
    assert await paid.aresult() == "in the end"
    assert (reminded.count(job.id), reminded.count(paid.id)) == (3, 1)


async def test_a_handler_can_go_on_to_wait_for_another(timed: Windlass, clock: FakeClock) -> None:
    @timed.task(context=True)
    async def either(ctx: Context) -> Any:
        for name in ("first", "second", "third"):
            with contextlib.suppress(SignalTimeout):
                return name, await ctx.await_for(name, timeout=60)
        return "nothing"

    job = await either.aenqueue()
    for _ in range(4):
        await work(timed)
        clock.advance(60)
    assert await job.aresult() == "nothing"


async def test_one_that_fails_by_it_waits_anew(timed: Windlass, clock: FakeClock) -> None:
    @timed.task(context=True, backoff=0, max_retries=1)
    async def strict(ctx: Context) -> Any:
        return await ctx.await_for("go", timeout=60)

    job = await strict.aenqueue()
    for _ in range(3):
        await work(timed)
        clock.advance(60)
    with pytest.raises(JobFailed, match="did not come in time") as caught:
        await job.aresult()
    assert (caught.value.kind, (await job.aget()).attempt) == ("SignalTimeout", 2)


# -- sending -------------------------------------------------------------------------------------


async def test_blocking_code_sends_by_handle_and_by_id(app: Windlass) -> None:
    @app.task(context=True)
    def wait(ctx: Context) -> Any:
        return [ctx.wait_for("a"), ctx.wait_for("b")]

    job = await wait.aenqueue()
    await asyncio.to_thread(job.signal, "a", 1)
    await asyncio.to_thread(app.signal, job.id, "b", 2)
    await work(app)
    assert await asyncio.to_thread(app.job(job.id).result) == [1, 2]


async def test_a_value_is_written_by_the_codec_of_the_job() -> None:
    app, other = Windlass("memory://", codec=JSON), Windlass("memory://")
    other.client = app.client

    @app.task(context=True)
    async def wait(ctx: Context) -> Any:
        return await ctx.await_for("go")

    job = await wait.aenqueue()
    await other.asignal(job, "go", {"n": 1})
    assert (await job.aget()).mail == {"go": b'[1,{"n":1}]'}


async def test_what_cannot_be_sent_is_told() -> None:
    app = Windlass("memory://", max_payload=100)

    @app.task
    async def task() -> None: ...

    job = await task.aenqueue()
    with pytest.raises(PayloadTooLarge, match="The signals of task take 1,0"):
        await job.asignal("go", b"x" * 1000)
    with pytest.raises(UnencodableValue, match="the signal: a value of type `complex`"):
        await job.asignal("go", 1j)
    for name in ("", " go", "x" * 129):
        with pytest.raises(InvalidOption, match="The name of a signal"):
            await job.asignal(name)
    with pytest.raises(UnknownJob):
        await app.asignal("nobody", "go")
    assert (await job.aget()).mail is None


# -- what cannot be ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wait", "sentence"),
    [
        (lambda ctx: ctx.wait_for(" x"), "The name of a signal"),
        (lambda ctx: ctx.wait_for("x", timeout=0), "timeout must be above 0, or None"),
        (lambda ctx: ctx.wait_for("x", timeout="1"), "timeout is a number of seconds"),
        (lambda ctx: asyncio.run(ctx.await_for("x")), r"use context\.wait_for"),
    ],
)
async def test_a_wait_that_cannot_be_is_told(app: Windlass, wait: Any, sentence: str) -> None:
    @app.task(context=True, max_retries=0)
    def task(ctx: Context) -> None:
        wait(ctx)

    job = await task.aenqueue()
    await work(app)
    with pytest.raises(JobFailed, match=sentence):
        await job.aresult()


async def test_an_async_handler_that_would_block_is_told(app: Windlass) -> None:
    @app.task(context=True, max_retries=0)
    async def task(ctx: Context) -> None:
        ctx.wait_for("x")

    job = await task.aenqueue()
    await work(app)
    with pytest.raises(JobFailed, match=r"use `await context\.await_for"):
        await job.aresult()


@ON_MEMORY
async def test_an_async_wait_in_a_process_is_told(app: Windlass) -> None:
    job = await app.task(context=True, process=True, max_retries=0)(in_a_loop).aenqueue()
    await work(app, ONE)
    with pytest.raises(JobFailed, match="is not for process=True"):
        await job.aresult()


async def test_a_handler_that_is_called_directly_is_told() -> None:
    with pytest.raises(UsageError, match="can only wait for a signal in a worker"):
        local_context("t").wait_for("x")
    with pytest.raises(UsageError, match="was called directly"):
        await local_context("t").await_for("x")


async def test_threads_of_a_handler_can_wait_too(app: Windlass) -> None:
    @app.task(context=True)
    def crowd(ctx: Context) -> list[Any]:
        got: list[Any] = []
        thread = threading.Thread(target=lambda: got.append(ctx.wait_for("go")))
        thread.start()
        thread.join()
        return got

    job = await crowd.aenqueue()
    await job.asignal("go", 1)
    await work(app)
    assert await job.aresult() == [1]
