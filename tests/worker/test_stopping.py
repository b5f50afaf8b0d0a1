"""Where the exception that stops a blocking handler is raised, and where it is held back."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from windlass import Context, State, Windlass
from windlass.errors import AttemptStopped
from windlass.interrupts import present_call, uninterrupted
from windlass.testing.work import until, work
from windlass.worker.executors import thread_call
from windlass.worker.executors.threads import Threads


@pytest.fixture
async def threads(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Threads]:
    monkeypatch.setattr(thread_call, "GRACE", 20.0)
    threads = Threads(1)
    yield threads
    threads.close()


class Steps:
    """What a handler came to, and two doors on its way."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.inside, self.go_on = threading.Event(), threading.Event()

    def pass_through(self, name: str) -> None:
        self.inside.set()
        while not self.go_on.is_set():
            time.sleep(0.001)
        self.done.append(name)


async def stopped_inside(threads: Threads, steps: Steps, handler: Callable[[], Any]) -> None:
    """Have a handler stopped while it stands in the door, and see it end."""
    call = threads.run(handler)
    await until(steps.inside.is_set)
    call.cancel()
    # Long enough for an exception to be raised in a thread that makes small steps.
    await asyncio.sleep(0.05)
    steps.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await call


async def test_a_block_that_must_not_be_interrupted_is_left_first(threads: Threads) -> None:
    steps = Steps()

    def handler() -> None:
        with uninterrupted:
            with uninterrupted:
                steps.pass_through("inner")
            steps.done.append("outer")
        steps.done.append("never")

    await stopped_inside(threads, steps, handler)
    assert steps.done == ["inner", "outer"]


async def test_an_error_within_such_a_block_does_not_hide_the_stop(threads: Threads) -> None:
    steps, seen = Steps(), []

    def handler() -> None:
        try:
            with uninterrupted:
                steps.pass_through("inner")
                raise ValueError("within")
        except BaseException as error:
            seen.append((type(error), type(error.__context__)))
            raise

    await stopped_inside(threads, steps, handler)
    assert seen == [(AttemptStopped, ValueError)]


async def test_a_handler_is_stopped_once_and_can_clean_up_with_the_library(
    threads: Threads,
) -> None:
    steps = Steps()

    def handler() -> None:
        try:
            with uninterrupted:
                steps.pass_through("stopped")
        except AttemptStopped:
            for _ in range(3):
                with uninterrupted:
                    steps.done.append("cleaned up")
            raise

    await stopped_inside(threads, steps, handler)
    assert steps.done == ["stopped", *["cleaned up"] * 3]


async def test_one_that_caught_it_in_its_own_code_does_not_get_it_again(threads: Threads) -> None:
    steps = Steps()

    def handler() -> str:
        try:
            steps.pass_through("never")
        except AttemptStopped:
            with uninterrupted:
                steps.done.append("cleaned up")
        return "saved"

    call = threads.run(handler)
    await until(steps.inside.is_set)
    call.cancel()
    assert await call == "saved"
    assert steps.done == ["cleaned up"]


async def test_a_handler_of_log_records_is_left_first_whoever_wrote_it(threads: Threads) -> None:
    """Before Python 3.13 it takes its lock where no `finally` would give it back."""
    steps, log = Steps(), logging.getLogger("a.shop")

    class Slow(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            steps.pass_through(record.getMessage())

    slow = Slow()
    log.addHandler(slow)

    def handler() -> None:
        log.warning("a line")
        while True:
            time.sleep(0.001)

    try:
        await stopped_inside(threads, steps, handler)
    finally:
        log.removeHandler(slow)
    assert steps.done == ["a line"]
    assert slow.lock is not None and slow.lock.acquire(timeout=5)
    slow.lock.release()


async def test_what_an_object_does_as_it_goes_is_left_first(threads: Threads) -> None:
    """An exception there would be printed, and the handler would go on."""
    steps = Steps()

    class Slow:
        def __del__(self) -> None:
            steps.pass_through("gone")

    def handler() -> None:
        slow = Slow()
        del slow
        while True:
            time.sleep(0.001)

    await stopped_inside(threads, steps, handler)
    assert steps.done == ["gone"]


@pytest.mark.parametrize("seconds", [None, 0.01])
async def test_one_that_waits_for_an_event_again_and_again_is_stopped(
    threads: Threads, seconds: float | None
) -> None:
    begun, never = threading.Event(), threading.Event()

    def handler() -> None:
        begun.set()
        while True:
            never.wait(seconds)

    call = threads.run(handler)
    await until(begun.is_set)
    call.cancel()
    if seconds is None:
        await asyncio.sleep(0.05)
        never.set()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(call), 10)
    # The lock within the event was given back.
    await asyncio.to_thread(never.set)


async def test_one_that_only_logs_is_stopped(app: Windlass) -> None:
    log = logging.getLogger("b.shop")

    @app.task(timeout=0.1, max_retries=0)
    def chatty() -> None:
        while True:
            log.warning("a line")

    job = await chatty.aenqueue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging.getLogger(), "handlers", [])
        await work(app)
    found = await job.aget()
    assert found.error is not None and found.error.kind == "AttemptTimeout"


async def test_threads_that_are_never_stopped_know_of_no_call() -> None:
    assert present_call() is None
    with uninterrupted:
        assert await asyncio.to_thread(present_call) is None


# -- transactions --------------------------------------------------------------------------------


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Windlass]:
    monkeypatch.setattr(thread_call, "GRACE", 20.0)
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db")
    yield app
    await app.aclose()
    app.close()


@pytest.mark.parametrize("ending", ["passes", "converts", "swallows"])
async def test_a_transaction_that_was_stopped_within_is_rolled_back(
    shop: Windlass, ending: str
) -> None:
    ended: list[str] = []

    @shop.task(context=True, timeout=0.1, max_retries=0)
    def handler(context: Context) -> None:
        try:
            with context.transaction() as connection:
                connection.execute("CREATE TABLE notes (text)")
                rows = connection.execute("VALUES (1), (2)")
                rows.fetchone()
                try:
                    while True:
                        time.sleep(0.001)
                except AttemptStopped:
                    if ending == "passes":
                        raise
                    if ending == "converts":
                        raise ValueError("stopped") from None
        except BaseException as error:
            ended.append(type(error).__name__)
            # The lock of all writers is free again: this one waits for it.
            free.using(delay=3600).enqueue()
            raise

    @shop.task
    def free() -> None: ...

    job = await handler.aenqueue()
    await work(shop)
    assert ended == ["ValueError" if ending == "converts" else "AttemptStopped"]
    found = await job.aget()
    assert (found.state, found.error and found.error.kind) == (State.DEAD, "AttemptTimeout")
    store: Any = await shop.client.store()
    with store.loans.lend() as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchall()
    assert tables == []


async def test_a_transaction_whose_end_was_stepped_over_is_rolled_back(shop: Windlass) -> None:
    """The exception may be raised as the block's end is called, before it does anything."""

    @shop.task(context=True, max_retries=0)
    def handler(context: Context) -> None:
        # As `with` would, if `__exit__` was never to be reached.
        context.transaction().__enter__().execute("CREATE TABLE notes (text)")
        raise AttemptStopped

    await handler.aenqueue()
    await work(shop)
    store: Any = await shop.client.store()
    with store.loans.lend() as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'notes'").fetchall()
    assert tables == []


SESSION = """
def get(lock):
    lock.acquire()
    try:
        return "got"
    finally:
        lock.release()
"""
"""As `http.cookiejar` does it, whose lock all handlers share that have a session together."""


async def test_a_lock_that_is_got_by_a_call_is_not_left_behind(threads: Threads) -> None:
    session: dict[str, Any] = {"__name__": "session"}
    exec(SESSION, session)
    lock, begun = threading.Lock(), threading.Event()

    def handler() -> None:
        begun.set()
        while True:
            session["get"](lock)

    with lock:
        call = threads.run(handler)
        await until(begun.is_set)
        call.cancel()
        # By now it waits for the lock, and would get the exception with it.
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await call
    assert lock.acquire(timeout=20)
