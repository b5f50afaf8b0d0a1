"""A handler's writes and the completion of its job: both, or neither."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.transactions.conftest import ENGINES
from tests.transactions.engines import Engine
from windlass import Context, Middleware, State, Windlass, current_context
from windlass.config import WorkerSettings
from windlass.core.model import Job
from windlass.core.outcome import Succeeded, decide
from windlass.errors import LeaseLost, UsageError, WouldBlock
from windlass.middleware import Attempt, CallNext
from windlass.testing.work import until, work
from windlass.worker import heartbeat

ON_THE_LOOP = pytest.mark.parametrize("lender", ENGINES, indirect=True)
"""For what has no blocking handler: on each engine, the driver of these makes no difference."""

ANYWHERE = pytest.mark.parametrize("lender", ["sqlite"], indirect=True)
"""For what is no matter of the engine."""


@pytest.fixture
def engine(lender: Engine) -> Engine:
    return lender


@pytest.fixture
async def app(engine: Engine) -> AsyncIterator[Windlass]:
    app = engine.app()
    yield app
    await app.aclose()
    app.close()


@ON_THE_LOOP
async def test_an_async_handler_writes_and_completes_at_once(app: Windlass, engine: Engine) -> None:
    @app.task(context=True)
    async def write(context: Context) -> str:
        transaction = context.transaction()
        async with transaction as connection:
            await engine.note(connection, "note")
            transaction.result = "written"
            assert engine.notes() == []
        assert engine.notes() == ["note"]
        store = await app.client.store()
        assert (await store.get([context.id]))[context.id].state is State.COMPLETED
        return "too late"

    job = await write.aenqueue()
    await work(app)
    assert await job.aresult() == "written"
    assert (await job.aget()).attempt == 1


async def test_a_blocking_handler_too(app: Windlass, engine: Engine) -> None:
    @app.task
    def write() -> None:
        with current_context().transaction() as connection:
            engine.note_blocking(connection, "note")

    job = await write.aenqueue()
    await work(app)
    assert (await job.aget()).state is State.COMPLETED
    assert engine.notes() == ["note"]


async def test_a_block_that_raises_writes_nothing_and_fails_the_attempt(
    app: Windlass, engine: Engine
) -> None:
    @app.task(backoff=0, max_retries=2, context=True)
    async def write(context: Context) -> None:
        async with context.transaction() as connection:
            await engine.note(connection, "note")
            if context.attempt == 1:
                raise ValueError("not yet")

    @app.task(backoff=0, max_retries=2, context=True)
    def block(context: Context) -> None:
        with context.transaction() as connection:
            engine.note_blocking(connection, "note")
            if context.attempt == 1:
                raise ValueError("not yet")

    jobs = [await write.aenqueue(), await block.aenqueue()]
    await work(app)
    for job in jobs:
        assert (await job.aget()).attempt == 2
    assert engine.notes() == ["note", "note"]


async def test_a_job_that_was_cancelled_meanwhile_is_rolled_back(
    app: Windlass, engine: Engine
) -> None:
    seen: list[BaseException] = []

    @app.task(context=True)
    async def write(context: Context) -> None:
        await cancel(context)
        try:
            async with context.transaction() as connection:
                await engine.note(connection, "note")
        except LeaseLost as error:
            seen.append(error)
            raise

    @app.task(context=True)
    def block(context: Context) -> None:
        asyncio.run_coroutine_threadsafe(cancel(context), loop).result()
        try:
            with context.transaction() as connection:
                engine.note_blocking(connection, "note")
        except LeaseLost as error:
            seen.append(error)
            raise

    async def cancel(context: Context) -> None:
        await (await app.client.store()).cancel([context.id])

    loop = asyncio.get_running_loop()
    jobs = [await write.aenqueue(), await block.aenqueue()]
    await work(app)
    assert len(seen) == 2
    assert engine.notes() == []
    for job in jobs:
        assert (await job.aget()).state is State.CANCELLED


@ON_THE_LOOP
async def test_a_job_that_was_taken_over_is_left_to_its_new_owner(
    app: Windlass, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    store = await app.client.store()
    owned: list[Job] = []

    @app.task(context=True)
    async def write(context: Context) -> None:
        await store.renew([context.job.lease], 0)
        [taken] = await store.rescue(1, 30_000, "another")
        try:
            async with context.transaction() as connection:
                await engine.note(connection, "note")
        finally:
            owned.append((await store.get([context.id]))[context.id])
            await store.finish([decide(taken, Succeeded())])

    job = await write.aenqueue()
    await work(app)
    assert [(each.state, each.worker) for each in owned] == [(State.ACTIVE, "another")]
    assert engine.notes() == []
    done = await job.aget()
    assert (done.state, done.fence, done.attempt) == (State.COMPLETED, owned[0].fence, 1)
    assert "its lease was lost, so its transaction was rolled back" in caplog.text


@ON_THE_LOOP
async def test_a_completion_is_noted_in_the_journal(app: Windlass) -> None:
    store = await app.client.store()
    await store.keep_journal(True)

    @app.task(context=True, keep=0)
    async def write(context: Context) -> None:
        async with context.transaction():
            pass

    job = await write.aenqueue()
    await work(app)
    await store.keep_journal(False)
    entries = await store.read_journal(10)
    await store.trim_journal(entries)
    assert [(each.job.id, each.job.state) for each in entries] == [(job.id, State.COMPLETED)]


def in_a_child(context: Context) -> None:
    context.transaction()


async def test_a_child_process_has_none() -> None:
    app = Windlass("memory://")
    task = app.task(context=True, process=True, max_retries=0)(in_a_child)
    job = await task.aenqueue()
    await work(app)
    error = (await job.aget()).error
    assert error is not None and "is not for process=True" in error.message


async def test_what_comes_after_the_commit_changes_nothing(
    app: Windlass, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    @app.task(context=True, max_retries=3, backoff=0)
    async def raises(context: Context) -> None:
        async with context.transaction() as connection:
            await engine.note(connection, "note")
        raise ValueError("too late")

    @app.task(context=True, max_retries=3, backoff=0)
    def returns(context: Context) -> str:
        with context.transaction() as connection:
            engine.note_blocking(connection, "note")
        return "too late"

    @app.task(context=True, timeout=0.2, max_retries=3, backoff=0)
    async def dawdles(context: Context) -> None:
        async with context.transaction() as connection:
            await engine.note(connection, "note")
        await asyncio.sleep(60)

    jobs = [await raises.aenqueue(), await returns.aenqueue(), await dawdles.aenqueue()]
    with caplog.at_level(logging.WARNING, "windlass"):
        await work(app)
        await until(lambda: "AttemptTimeout" in caplog.text)
    for job in jobs:
        done = await job.aget()
        assert (done.state, done.attempt, done.result) == (State.COMPLETED, 1, None)
    assert engine.notes() == ["note"] * 3
    assert "raised after that changes nothing" in caplog.text
    assert "ValueError: too late" in caplog.text
    assert "set the result of the transaction instead" in caplog.text
    assert "lease was lost" not in caplog.text


@ANYWHERE
async def test_a_handler_that_goes_on_after_its_commit_is_not_stopped(
    app: Windlass, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "BEATS_PER_LEASE", 60)
    several_beats, settings = 0.3, WorkerSettings(lease=3)
    went_on: list[str] = []

    @app.task(context=True)
    async def go_on(context: Context) -> None:
        async with context.transaction():
            pass
        await asyncio.sleep(several_beats)
        went_on.append("async")

    @app.task(context=True)
    def block(context: Context) -> None:
        with context.transaction():
            pass
        threading.Event().wait(several_beats)
        went_on.append("blocking")

    await go_on.aenqueue()
    await block.aenqueue()
    worker = await app.worker(settings)
    await worker.start()
    await until(lambda: len(went_on) == 2)
    await worker.stop()
    assert "stopping it" not in caplog.text


@ON_THE_LOOP
async def test_keep_is_respected_and_middleware_sees_a_success(app: Windlass) -> None:
    seen: list[Any] = []

    class Watch(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            seen.append(await call_next())

    app.add_middleware(Watch())

    @app.task(context=True, keep=0)
    async def forget(context: Context) -> None:
        async with context.transaction():
            pass

    await forget.aenqueue()
    await work(app)
    assert seen == [None]
    assert not (await (await app.client.store()).queues())


async def test_a_job_can_be_enqueued_in_the_same_transaction(app: Windlass, engine: Engine) -> None:
    ran: list[int] = []

    @app.task
    def follow(n: int) -> None:
        ran.append(n)

    @app.task(context=True, max_retries=0)
    async def lead(context: Context, fail: bool) -> None:
        async with context.transaction() as connection:
            await follow.using(connection=connection).aenqueue(1)
            if fail:
                raise ValueError

    @app.task(context=True, max_retries=0)
    def block(context: Context) -> None:
        with context.transaction() as connection:
            follow.using(connection=connection).enqueue(2)

    await lead.aenqueue(True)
    await lead.aenqueue(False)
    await block.aenqueue()
    await work(app)
    assert sorted(ran) == [1, 2]


@ON_THE_LOOP
async def test_a_second_transaction_is_refused_and_one_that_failed_can_be_tried_again(
    app: Windlass, engine: Engine
) -> None:
    said: list[str] = []

    @app.task(context=True)
    async def twice(context: Context) -> None:
        try:
            async with context.transaction() as connection:
                await engine.note(connection, "note")
                raise KeyError
        except KeyError:
            async with context.transaction() as connection:
                await engine.note(connection, "note")
        try:
            context.transaction()
        except UsageError as error:
            said.append(str(error))

    await twice.aenqueue()
    await work(app)
    assert "completed by a transaction already" in said[0]
    assert engine.notes() == ["note"]


@ON_THE_LOOP
async def test_a_transaction_that_the_handler_ends_itself_does_not_complete_the_job(
    app: Windlass, engine: Engine
) -> None:
    @app.task(context=True, max_retries=0)
    async def commit(context: Context) -> None:
        async with context.transaction() as connection:
            await engine.commit(connection)

    job = await commit.aenqueue()
    await work(app)
    dead = await job.aget()
    assert dead.error is not None and "leave commit and rollback" in dead.error.message


@ON_THE_LOOP
async def test_a_result_that_cannot_be_kept_rolls_back(app: Windlass, engine: Engine) -> None:
    @app.task(context=True, max_retries=0)
    async def write(context: Context, result: str) -> None:
        transaction = context.transaction()
        async with transaction as connection:
            await engine.note(connection, "note")
            transaction.result = object() if result == "odd" else "x" * 2_000_000

    kinds = []
    for kind in ("odd", "large"):
        job = await write.aenqueue(kind)
        await work(app)
        error = (await job.aget()).error
        kinds.append(error and error.kind)
    assert kinds == ["UnencodableValue", "PayloadTooLarge"]
    assert engine.notes() == []


@ON_THE_LOOP
async def test_cancelling_a_handler_in_its_block_rolls_back(app: Windlass, engine: Engine) -> None:
    @app.task(context=True, timeout=0.2, max_retries=0)
    async def dawdle(context: Context) -> None:
        async with context.transaction() as connection:
            await engine.note(connection, "note")
            await asyncio.sleep(60)

    job = await dawdle.aenqueue()
    await work(app)
    error = (await job.aget()).error
    assert error is not None and error.kind == "AttemptTimeout"
    assert engine.notes() == []


@ANYWHERE
async def test_each_form_has_its_place(app: Windlass) -> None:
    said: list[str] = []

    async def enter(context: Context) -> None:
        async with context.transaction():
            raise AssertionError

    @app.task(context=True)
    async def blocks(context: Context) -> None:
        try:
            with context.transaction():
                pass
        except WouldBlock as error:
            said.append(str(error))

    @app.task(context=True)
    def has_a_loop_of_its_own(context: Context) -> None:
        try:
            asyncio.run(enter(context))
        except UsageError as error:
            said.append(str(error))

    await blocks.aenqueue()
    await work(app)
    await has_a_loop_of_its_own.aenqueue()
    await work(app)
    assert "in an async handler use `async with context.transaction()`" in said[0]
    assert "in a blocking handler use `with context.transaction()`" in said[1]


async def test_a_store_that_is_not_on_sql_has_none() -> None:
    app = Windlass("memory://")

    @app.task(context=True, max_retries=0)
    async def write(context: Context) -> None:
        async with context.transaction():
            pass

    job = await write.aenqueue()
    await work(app)
    error = (await job.aget()).error
    assert error is not None and "needs a store on SQL" in error.message


def test_a_function_that_is_called_directly_has_none() -> None:
    app = Windlass("memory://")

    @app.task(context=True)
    def write(context: Context) -> None:
        context.transaction()

    with pytest.raises(UsageError, match="called directly"):
        write()
