"""Waking up: for writes of this process, of other connections, and of other processes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.stores.process import finish, hear, start
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.sync import drive
from windlass.testing.jobs import put

LONG = 60.0
SOON = 20.0
"""Far below LONG: a wait that ends by then was woken."""


@pytest.fixture
async def another(url: str, store: Store) -> AsyncIterator[Store]:
    another = open_store(url)
    await another.open()
    yield another
    await another.close()


async def waiting(store: Store, *queues: str) -> asyncio.Task[None]:
    """A wait that is under way."""
    task = asyncio.create_task(store.wait(queues or ("default",), LONG))
    await asyncio.sleep(0.05)
    assert not task.done()
    return task


async def ends_soon(task: asyncio.Task[None]) -> None:
    async with asyncio.timeout(SOON):
        await task


async def test_a_write_of_this_store_wakes_it(store: Store) -> None:
    task = await waiting(store)
    await put(store, "a")
    await ends_soon(task)


async def test_a_write_of_another_connection_wakes_it(store: Store, another: Store) -> None:
    task = await waiting(store)
    await put(another, "a")
    await ends_soon(task)


async def test_blocking_code_of_another_thread_wakes_it(store: Store, url: str) -> None:
    def produce() -> None:
        other = open_store(url, blocking=True)
        drive(other.open())
        drive(put(other, "a"))
        drive(other.close())

    task = await waiting(store)
    await asyncio.to_thread(produce)
    await ends_soon(task)


INSERT = """
import sys
from windlass.stores.open import open_store
from windlass.sync import drive
from windlass.testing.jobs import put

store = open_store(sys.argv[1], blocking=True)
drive(store.open())
print("ready", flush=True)
sys.stdin.readline()
drive(put(store, "a"))
drive(store.close())
"""


async def test_a_write_of_another_process_wakes_it(store: Store, url: str) -> None:
    other = start(INSERT, url)
    hear(other, "ready")
    task = await waiting(store)
    await asyncio.to_thread(finish, other, "\n")
    await ends_soon(task)


async def test_every_waiter_is_woken(store: Store, another: Store) -> None:
    tasks = [await waiting(store), await waiting(store), await waiting(another)]
    await put(another, "a", "b", "c")
    for task in tasks:
        await ends_soon(task)


async def test_a_write_to_another_queue_is_no_reason_to_return(
    store: Store, another: Store
) -> None:
    task = await waiting(store, "mine")
    await put(another, "a", queue="other")
    await asyncio.sleep(0.05)
    assert not task.done()
    await put(another, "b", queue="mine")
    await ends_soon(task)


async def test_a_job_that_is_pending_already_ends_the_wait_at_once(store: Store) -> None:
    await put(store, "a")
    async with asyncio.timeout(SOON):
        await store.wait(["other", "default"], LONG)


async def test_a_wait_ends_when_a_job_of_another_connection_is_due(
    store: Store, another: Store
) -> None:
    task = await waiting(store)
    await put(another, "a", delay=300)
    await ends_soon(task)


async def test_resuming_a_queue_wakes_those_who_wait_for_it(store: Store, another: Store) -> None:
    await put(store, "a")
    await store.pause("default")
    task = await waiting(store)
    await another.resume("default")
    await ends_soon(task)


async def test_a_cancelled_wait_ends_at_once_and_the_next_one_works(store: Store) -> None:
    task = await waiting(store)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    task = await waiting(store)
    await put(store, "a")
    await ends_soon(task)


async def test_waiting_takes_no_lock_that_keeps_writers_out(store: Store, path: Path) -> None:
    tasks = [await waiting(store) for _ in range(5)]
    impatient = open_store(f"sqlite:///{path}?busy_timeout=0")
    await impatient.open()
    for n in range(50):
        await put(impatient, str(n))
    await impatient.close()
    for task in tasks:
        await ends_soon(task)
