"""Open and close, again and again: nothing stays behind."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from windlass import Windlass
from windlass.errors import StoreError, StoreUnavailable
from windlass.stores.open import open_store
from windlass.testing.jobs import put

TIMES = 30


def open_files(folder: Path) -> list[str]:
    """The files of a folder that this process has open."""
    found = []
    for entry in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{entry}")
        except FileNotFoundError:
            continue
        if target.startswith(str(folder)):
            found.append(target)
    return sorted(found)


def our_threads() -> list[str]:
    return sorted(t.name for t in threading.enumerate() if t.name.startswith("windlass-sqlite"))


async def test_a_store_opened_and_closed_leaves_no_thread_and_no_open_file(
    url: str, tmp_path: Path
) -> None:
    assert our_threads() == []
    for n in range(TIMES):
        store = open_store(url)
        await store.open()
        await put(store, str(n))
        await store.wait(["default"], 1)
        assert our_threads() == ["windlass-sqlite-reader", "windlass-sqlite-writer"]
        await store.close()
    assert our_threads() == []
    assert open_files(tmp_path) == []


async def test_a_closed_store_leaves_one_file_with_everything_in_it(
    url: str, tmp_path: Path
) -> None:
    store = open_store(url)
    await store.open()
    await put(store, "a")
    await store.close()
    assert [file.name for file in tmp_path.iterdir()] == ["jobs.db"]


def test_an_app_in_blocking_code_leaves_nothing(url: str, tmp_path: Path) -> None:
    for _ in range(TIMES):
        app = Windlass(url)

        @app.task
        def send() -> None: ...

        send.enqueue()
        app.close()
    assert our_threads() == []
    assert open_files(tmp_path) == []


async def test_a_store_that_cannot_be_opened_leaves_nothing(url: str, tmp_path: Path) -> None:
    (tmp_path / "jobs.db").write_bytes(b"no database at all" * 100)
    for _ in range(TIMES):
        with pytest.raises(StoreError):
            await open_store(url).open()
    assert our_threads() == []
    assert open_files(tmp_path) == []


async def test_closing_while_someone_waits_ends_the_wait_and_leaves_nothing(
    url: str, tmp_path: Path
) -> None:
    store = open_store(url)
    await store.open()
    task = asyncio.create_task(store.wait(["default"], 0.5))
    await asyncio.sleep(0.05)
    await store.close()
    async with asyncio.timeout(10):
        await asyncio.gather(task, return_exceptions=True)
    assert task.exception() is None or isinstance(task.exception(), StoreUnavailable)
    assert open_files(tmp_path) == []
