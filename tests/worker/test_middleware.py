"""Middleware around run: it surrounds the handler, and its faults are those of the attempt."""

import asyncio
import threading
from contextvars import ContextVar
from typing import Any

import pytest

from windlass import (
    Context,
    Fatal,
    Middleware,
    Retry,
    Snooze,
    State,
    Windlass,
    current_context,
)
from windlass.errors import JobFailed
from windlass.middleware import Attempt, CallNext, NewJob, changed
from windlass.testing.work import work


class Noted(Middleware):
    """Writes down the way of a job through it."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self.notes = notes

    async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
        self.notes.append(f"{self.name} before {attempt.task}")
        try:
            result = await call_next()
        except BaseException as error:
            self.notes.append(f"{self.name} saw {type(error).__name__}")
            raise
        self.notes.append(f"{self.name} after {result}")
        return result


class Raising(Middleware):
    """Raises, before the handler or after it."""

    def __init__(self, error: Exception, after: bool = False) -> None:
        self.error = error
        self.after = after

    async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
        if attempt.task != "work_on":
            return await call_next()
        if self.after:
            await call_next()
        raise self.error


@pytest.mark.parametrize("is_async", [True, False])
async def test_before_goes_in_order_and_after_in_reverse(app: Windlass, is_async: bool) -> None:
    notes: list[str] = []

    async def on_the_loop() -> str:
        notes.append("handler")
        return "done"

    def in_a_thread() -> str:
        notes.append("handler")
        return "done"

    for name in "abc":
        app.add_middleware(Noted(name, notes))
    if is_async:
        job = await app.task(name="t")(on_the_loop).aenqueue()
    else:
        job = await app.task(name="t")(in_a_thread).aenqueue()
    await work(app)
    assert notes == [
        *("a before t", "b before t", "c before t", "handler"),
        *("c after done", "b after done", "a after done"),
    ]
    assert await job.aresult(timeout=0) == "done"


async def test_headers_go_from_enqueue_to_every_attempt(app: Windlass) -> None:
    class Correlation(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, headers={"request": "r-7"})

        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            seen.append(attempt.headers["request"])
            return await call_next()

    seen: list[str] = []
    app.add_middleware(Correlation())

    @app.task(context=True, backoff=0)
    async def flaky(ctx: Context) -> None:
        seen.append(ctx.headers["request"])
        if ctx.attempt == 1:
            raise ConnectionError("once more")

    job = await flaky.aenqueue()
    while (await job.aget()).state is not State.COMPLETED:
        await work(app)
    assert seen == ["r-7"] * 4


async def test_a_job_without_headers_has_none(app: Windlass) -> None:
    @app.task(context=True)
    async def look(ctx: Context) -> dict[str, str]:
        return dict(ctx.headers)

    job = await look.aenqueue()
    await work(app)
    assert await job.aresult(timeout=0) == {}


async def test_context_variables_reach_the_handler_wherever_it_runs(app: Windlass) -> None:
    tenant: ContextVar[str] = ContextVar("tenant")
    threads: set[threading.Thread] = set()

    class Tenant(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            assert current_context() is attempt.context
            threads.add(threading.current_thread())
            tenant.set(f"of {attempt.task}")
            return await call_next()

    app.add_middleware(Tenant())

    @app.task
    async def on_the_loop() -> str:
        return tenant.get()

    @app.task
    def in_a_thread() -> str:
        assert threading.current_thread() is not threading.main_thread()
        return tenant.get()

    one, two = await on_the_loop.aenqueue(), await in_a_thread.aenqueue()
    await work(app)
    assert await one.aresult(timeout=0) == "of on_the_loop"
    assert await two.aresult(timeout=0) == "of in_a_thread"
    assert threads == {threading.main_thread()}


async def test_it_can_change_the_arguments_and_the_result(app: Windlass) -> None:
    class Louder(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            attempt.args[0] = attempt.args[0].upper()
            attempt.kwargs["end"] = "!"
            return f"<{await call_next()}>"

    app.add_middleware(Louder())

    @app.task(context=True)
    def greet(ctx: Context, name: str, *, end: str = ".") -> str:
        return name + end

    job = await greet.aenqueue("Ada")
    await work(app)
    assert await job.aresult(timeout=0) == "<ADA!>"


async def test_without_the_next_call_the_handler_is_left_out(app: Windlass) -> None:
    class Cache(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            return "from the cache"

    app.add_middleware(Cache())
    ran: list[int] = []

    @app.task
    def compute() -> str:
        ran.append(1)
        return "computed"

    job = await compute.aenqueue()
    await work(app)
    assert (await job.aresult(timeout=0), ran) == ("from the cache", [])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("error", "state", "attempt"),
    [
        (ValueError("broken"), State.RETRY, 1),
        (Retry("later", after=60), State.RETRY, 1),
        (Fatal("never"), State.DEAD, 1),
        (Snooze(60), State.SCHEDULED, 0),
    ],
    ids=["an error", "Retry", "Fatal", "Snooze"],
)
async def test_what_it_raises_counts_as_raised_by_the_handler(
    app: Windlass, error: Exception, state: State, attempt: int, after: bool
) -> None:
    app.add_middleware(Raising(error, after))

    @app.task(backoff=60)
    async def work_on() -> None: ...

    @app.task
    async def other() -> str:
        return "the worker goes on"

    job = await work_on.aenqueue()
    next_one = await other.aenqueue()
    await work(app)
    stored = await job.aget()
    assert (stored.state, stored.attempt) == (state, attempt)
    assert await next_one.aresult(timeout=0) == "the worker goes on"


async def test_it_sees_what_the_handler_raised_and_can_make_something_else_of_it(
    app: Windlass,
) -> None:
    class Translate(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            try:
                return await call_next()
            except LookupError as error:
                raise Fatal(f"no such thing: {error}") from error

    notes: list[str] = []
    app.add_middleware(Noted("outer", notes))
    app.add_middleware(Translate())
    app.add_middleware(Noted("inner", notes))

    @app.task
    def find(name: str) -> None:
        raise KeyError(name)

    job = await find.aenqueue("x")
    await work(app)
    assert notes[:2] == ["outer before find", "inner before find"]
    assert notes[2:] == ["inner saw KeyError", "outer saw Fatal"]
    with pytest.raises(JobFailed, match="no such thing"):
        await job.aresult(timeout=0)


async def test_the_timeout_of_an_attempt_holds_for_its_middleware_too(app: Windlass) -> None:
    class Slow(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            await asyncio.sleep(3600)

    app.add_middleware(Slow())

    @app.task(timeout=0.01, max_retries=0)
    async def quick() -> None: ...

    job = await quick.aenqueue()
    await work(app)
    error = (await job.aget()).error
    assert error is not None and error.kind == "AttemptTimeout"


async def test_the_handler_runs_again_if_the_next_call_is_made_again(app: Windlass) -> None:
    class Twice(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            return [await call_next(), await call_next()]

    app.add_middleware(Twice())
    runs: list[int] = []

    @app.task(context=True)
    def count(ctx: Context, step: int) -> int:
        runs.append(step)
        return len(runs)

    await count.aenqueue(5)
    await work(app)
    assert runs == [5, 5]
