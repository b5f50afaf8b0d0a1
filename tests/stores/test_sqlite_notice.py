"""Waiting costs next to nothing where the system tells of writes, and works where it does not."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.sqlite import watch
from windlass.stores.sqlite.notice import Notice, notice_of
from windlass.stores.sqlite.watch import CALM, POLL, Watch
from windlass.testing.jobs import put
from windlass.testing.work import until

LONG = 60.0
SOON = 20.0

linux = pytest.mark.skipif(sys.platform != "linux", reason="there is no inotify")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every look at the counter that tells of commits."""
    seen: list[int] = []
    look = Watch._version

    def counted(self: Watch) -> int:
        seen.append(look(self))
        return seen[-1]

    monkeypatch.setattr(Watch, "_version", counted)
    return seen


@linux
async def test_nobody_looks_while_nothing_is_written(store: Store, looks: list[int]) -> None:
    seconds = 0.5
    await store.wait(["default"], seconds)
    assert 1 < len(looks) < seconds / CALM + 5 < seconds / POLL / 5


@linux
async def test_a_busy_neighbour_does_not_keep_an_idle_worker_busy(
    store: Store, url: str, looks: list[int]
) -> None:
    other = open_store(url)
    await other.open()
    task = asyncio.create_task(store.wait(["mine"], LONG))
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(200):
        await put(other, str(number), queue="other")
    elapsed = loop.time() - began
    # Of every cycle of a nap and a look, one more for the query, and those until a commit shows.
    assert len(looks) < 7 * elapsed / POLL + 7
    await put(other, "last", queue="mine")
    await asyncio.wait_for(task, SOON)
    await other.close()


async def test_without_notices_a_write_of_another_connection_wakes_it(
    store: Store, url: str, looks: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "notice_of", lambda path: None)
    other = open_store(url)
    await other.open()
    task = asyncio.create_task(store.wait(["default"], LONG))
    await until(lambda: len(looks) > 2)
    await put(other, "a")
    await asyncio.wait_for(task, SOON)
    await other.close()


@linux
async def test_a_closed_store_leaves_no_descriptor_behind(url: str) -> None:
    async def wait_and_close() -> None:
        store = open_store(url)
        await store.open()
        await store.wait(["default"], 3 * POLL)
        await store.close()

    await wait_and_close()
    before = set(os.listdir("/proc/self/fd"))
    await wait_and_close()
    assert set(os.listdir("/proc/self/fd")) == before


@linux
def test_a_file_that_is_not_there_is_no_reason_to_wait_for_it(tmp_path: Path) -> None:
    notice = notice_of(str(tmp_path / "log"))
    assert isinstance(notice, Notice)
    assert not notice.aim()
    (tmp_path / "log").touch()
    assert notice.aim()
    notice.close()
    notice.close()
