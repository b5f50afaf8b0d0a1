"""Handlers that are not plain functions: decorated ones, objects, and what cannot be one."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest

from tests.worker import handlers
from windlass import Batch, Windlass
from windlass.errors import InvalidOption
from windlass.testing.work import work


def awaiting(func: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    """A decorator as many are: an `async def` around a `def`."""

    @functools.wraps(func)
    async def wrapper(*args: Any) -> Any:
        await asyncio.sleep(0)
        return func(*args)

    return wrapper


def passing(func: Callable[..., Any]) -> Callable[..., Any]:
    """A `def` that gives what it wraps: a coroutine, if that is an `async def`."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        return func(*args)

    return wrapper


def bare(func: Callable[..., Any]) -> Callable[..., Any]:
    """The same without `functools.wraps`, so that nothing tells what is inside."""
    return lambda number: func(number)


def blocking(func: Callable[..., Any]) -> Callable[..., Any]:
    """A `def` that runs an `async def` on a loop of its own."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        return asyncio.run(func(*args))

    return wrapper


async def adouble(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def double(number: int) -> int:
    return 2 * number


class Doubler:
    """An object that can be called."""

    def __call__(self, number: int) -> int:
        return 2 * number


class AsyncDoubler:
    async def __call__(self, number: int) -> int:
        return await adouble(number)


class AwaitableDoubler:
    """Called, it gives something that can be awaited and is no coroutine."""

    def __call__(self, number: int) -> Any:
        class Answer:
            def __await__(self) -> Iterator[Any]:
                return adouble(number).__await__()

        return Answer()


HANDLERS: dict[str, Callable[..., Any]] = {
    "async wrapper of a def": awaiting(double),
    "def wrapper of an async def": passing(adouble),
    "def wrapper of an async def, without wraps": bare(adouble),
    "def wrapper that runs an async def": blocking(adouble),
    "wrapper of a wrapper": passing(awaiting(double)),
    "object": Doubler(),
    "object with an async call": AsyncDoubler(),
    "object whose call gives an awaitable": AwaitableDoubler(),
    "partial of an async def": functools.partial(adouble),
    "partial of an object": functools.partial(AsyncDoubler()),
    "bound method": AsyncDoubler().__call__,
}


@pytest.mark.parametrize("kind", HANDLERS)
async def test_it_runs_and_gives_its_result(app: Windlass, kind: str) -> None:
    task = app.task(name="task", max_retries=0)(HANDLERS[kind])
    job = await task.aenqueue(4)
    await work(app)
    assert await job.aresult(timeout=20) == 8


async def test_a_wrapper_that_blocks_is_not_called_on_the_event_loop(app: Windlass) -> None:
    threads: list[int] = []

    @app.task
    @passing
    def where() -> None:
        threads.append(threading.get_ident())

    @app.task
    @blocking
    async def inside() -> None:
        threads.append(threading.get_ident())

    await where.aenqueue()
    await inside.aenqueue()
    await work(app)
    assert len(threads) == 2
    assert threading.get_ident() not in threads


async def test_what_a_wrapper_returns_is_within_the_timeout(app: Windlass) -> None:
    @app.task(timeout=0.1, max_retries=0)
    @passing
    async def slow() -> None:
        await asyncio.Event().wait()

    job = await slow.aenqueue()
    await work(app)
    error = (await job.aget()).error
    assert error is not None
    assert error.kind == "AttemptTimeout"


async def test_a_batch_may_be_wrapped_as_well(app: Windlass) -> None:
    @app.task(batch=Batch(size=2, grace=0.01))
    @passing
    async def twice(numbers: list[int]) -> list[int]:
        return [2 * number for number in numbers]

    jobs = await app.aenqueue_many([twice.call(n) for n in (1, 2)])
    await work(app)
    assert [await job.aresult(timeout=20) for job in jobs] == [2, 4]


async def test_a_child_process_awaits_what_its_handler_returns() -> None:
    app = Windlass("memory://")
    task = app.task(process=True)(handlers.wrapped_double)
    job = await task.aenqueue(4)
    await work(app)
    assert await job.aresult(timeout=20) == 8
    await app.aclose()


def numbers() -> Iterator[int]:
    yield 1


async def anumbers() -> AsyncIterator[int]:
    yield 1


class Numbers:
    def __call__(self) -> Iterator[int]:
        yield 1


@pytest.mark.parametrize(
    "func",
    [numbers, anumbers, functools.partial(numbers), Numbers()],
    ids=["def", "async def", "partial", "object"],
)
def test_a_generator_function_is_refused_where_it_is_declared(func: Callable[..., Any]) -> None:
    app = Windlass("memory://")
    with pytest.raises(InvalidOption, match="is a generator function, whose body would not run"):
        app.task(func)


def test_a_wrapper_that_exhausts_a_generator_is_none() -> None:
    @functools.wraps(numbers)
    def listed() -> list[int]:
        return list(numbers())

    assert Windlass("memory://").task(name="listed")(listed)() == [1]
