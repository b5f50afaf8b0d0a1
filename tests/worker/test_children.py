"""How long a child of `process=True` is kept, and how long it may take to be there."""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.worker.handlers import keeping, pid
from tests.worker.test_processes import is_alive
from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.context import local_context
from windlass.core.retry import DEFAULT_RETRY
from windlass.definition import define
from windlass.testing.work import until, work
from windlass.worker.executors import Executors


@pytest.fixture
def url() -> str:
    """Where the jobs are makes no difference here."""
    return "memory://"


async def test_a_child_that_has_done_its_jobs_is_replaced(app: Windlass) -> None:
    task = app.task(process=True, max_retries=0)(pid)
    jobs = await app.aenqueue_many([task.call() for _ in range(7)])
    await work(app, WorkerSettings(concurrency=1, child_max_jobs=3))
    children = [await job.aresult() for job in jobs]
    assert [children.count(child) for child in dict.fromkeys(children)] == [3, 3, 1]
    for child in set(children):
        await until(lambda child=child: not is_alive(child))  # type: ignore[misc]


async def test_a_child_that_has_grown_is_replaced_after_its_job(app: Windlass) -> None:
    task = app.task(process=True, max_retries=0)(keeping)
    jobs = await app.aenqueue_many([task.call(mebibytes) for mebibytes in (1, 1, 200, 1)])
    await work(app, WorkerSettings(concurrency=1, child_max_memory=150))
    first, second, grown, last = [await job.aresult() for job in jobs]
    assert first == second == grown != last
    await until(lambda: not is_alive(grown))


async def test_a_child_without_work_ends_after_a_while(app: Windlass) -> None:
    task = app.task(process=True)(pid)
    worker = await app.worker(WorkerSettings(concurrency=1, child_idle=0.2))
    await worker.start()
    first = await (await task.aenqueue()).aresult(timeout=20)
    await until(lambda: not is_alive(first))
    second = await (await task.aenqueue()).aresult(timeout=20)
    assert second != first
    await worker.stop()


async def test_a_child_with_work_is_not_taken_for_one_without(app: Windlass) -> None:
    task = app.task(process=True)(pid)
    jobs = await app.aenqueue_many([task.call() for _ in range(50)])
    await work(app, WorkerSettings(concurrency=1, child_idle=30))
    assert len({await job.aresult() for job in jobs}) == 1


SLEEPY = """
import os, time
if os.getpid() != {parent}:
    time.sleep({seconds})

def handler() -> int:
    return os.getpid()
"""

IMPORT = 2.0


@pytest.fixture
def handler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], int]]:
    """Its module takes a while to import in a child."""
    text = SLEEPY.format(parent=os.getpid(), seconds=IMPORT)
    (tmp_path / "sleepy_tasks.py").write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield import_module("sleepy_tasks").handler
    del sys.modules["sleepy_tasks"]


async def test_a_child_that_is_never_ready_ends_the_attempt(
    app: Windlass, handler: Callable[[], int]
) -> None:
    task = app.task(process=True, max_retries=1, backoff=3600)(handler)
    job = await task.aenqueue()
    await work(app, WorkerSettings(concurrency=1, child_start=IMPORT / 4))
    found = await job.aget()
    assert found.error is not None
    assert (found.state, found.attempt, found.error.kind) == (State.RETRY, 1, "ChildNotReady")
    assert f"did not call the handler within {IMPORT / 4:g} s" in found.error.message


async def test_one_that_takes_a_while_is_waited_for(
    app: Windlass, handler: Callable[[], int]
) -> None:
    job = await app.task(process=True, max_retries=0)(handler).aenqueue()
    await work(app, WorkerSettings(concurrency=1, child_start=4 * IMPORT))
    assert await job.aresult() != os.getpid()


async def test_a_handler_begins_when_its_module_is_imported(
    handler: Callable[[], int],
) -> None:
    """And not before: a time limit runs from there."""
    executors, told, began = Executors(1), asyncio.Event(), time.monotonic()
    definition = define(handler, "any", DEFAULT_RETRY, takes_context=False, process=True)
    work = executors.call(definition, local_context("any"), [], {}, told.set)
    await asyncio.wait_for(told.wait(), 20)
    assert time.monotonic() - began >= IMPORT
    assert await work != os.getpid()
    executors.close()


async def test_the_time_limit_does_not_count_the_start_of_the_child(
    app: Windlass, handler: Callable[[], int]
) -> None:
    """Its module takes longer to import than the handler may run."""
    task = app.task(process=True, timeout=IMPORT / 2, max_retries=0)(handler)
    job = await task.aenqueue()
    await work(app, WorkerSettings(concurrency=1))
    assert (await job.aget()).state is State.COMPLETED
