"""That a handler begins is told when it is called, and not when its call is asked for."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.worker.handlers import slow
from windlass.core.context import local_context
from windlass.core.retry import DEFAULT_RETRY
from windlass.definition import Definition, define
from windlass.testing.work import until
from windlass.worker.executors import Executors
from windlass.worker.executors.threads import Threads


@pytest.fixture
async def executors() -> AsyncIterator[Executors]:
    executors = Executors(1)
    yield executors
    executors.close()


def defined(func: Callable[..., Any], process: bool = False) -> Definition:
    return define(func, "any", DEFAULT_RETRY, takes_context=False, process=process)


async def test_a_blocking_handler_begins_when_a_thread_takes_it(executors: Executors) -> None:
    gate, told = threading.Event(), []
    context = local_context("any")

    def first() -> bool:
        return gate.wait(20)

    def second() -> int:
        return threading.get_ident()

    ahead = executors.call(defined(first), context, [], {}, lambda: told.append("first"))
    behind = executors.call(defined(second), context, [], {}, lambda: told.append("second"))
    await until(lambda: told == ["first"])
    gate.set()
    assert await ahead
    assert await behind != threading.get_ident()
    assert told == ["first", "second"]


async def test_each_of_many_short_calls_is_told_once_on_the_event_loop() -> None:
    threads, told = Threads(4), []
    loop_thread = threading.get_ident()

    def note(number: int) -> None:
        assert threading.get_ident() == loop_thread
        told.append(number)

    for _ in range(20):
        told.clear()
        calls = [
            threads.run(lambda: None, on_begin=lambda number=number: note(number))  # type: ignore[misc]
            for number in range(200)
        ]
        await asyncio.gather(*calls)
        assert sorted(told) == list(range(200))
    threads.close()


async def test_one_that_is_stopped_before_a_thread_takes_it_never_begins() -> None:
    threads, gate, told = Threads(1), threading.Event(), []
    first = threads.run(gate.wait)
    second = threads.run(lambda: None, on_begin=lambda: told.append(2))
    second.cancel()
    gate.set()
    await first
    await threads.run(lambda: None)
    assert told == []
    threads.close()


async def test_a_handler_in_a_child_begins_when_the_child_calls_it(
    executors: Executors, tmp_path: Path
) -> None:
    note, told = tmp_path / "note", asyncio.Event()
    context = local_context("any")
    work = executors.call(defined(slow, process=True), context, [str(note)], {}, told.set)
    assert not told.is_set()
    await until(note.exists)
    await asyncio.wait_for(told.wait(), 20)
    note.unlink()
    assert await work == "done"


async def test_an_async_handler_begins_at_once(executors: Executors) -> None:
    async def handler() -> int:
        return 1

    told: list[int] = []
    work = executors.call(defined(handler), local_context("any"), [], {}, lambda: told.append(1))
    assert told == [1]
    assert await work == 1
