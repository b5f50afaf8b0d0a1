"""When somebody else has the lock: wait, and say so if it takes too long."""

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.stores.process import finish, hear, start
from windlass.core.model import Spec
from windlass.errors import StoreUnavailable
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.sqlite.connection import WAL_BYTES, FileLocked
from windlass.sync import drive
from windlass.testing.jobs import claim, put, state_of

HOLD = """
import sqlite3, sys

raw = sqlite3.connect(sys.argv[1], isolation_level=None)
raw.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
raw.execute("COMMIT")
"""


async def test_a_lock_that_another_process_holds_delays_a_write_and_fails_nothing(
    store: Store, path: Path
) -> None:
    holder = start(HOLD, path)
    hear(holder, "locked")
    writing = asyncio.create_task(put(store, "a"))
    _, waiting = await asyncio.wait([writing], timeout=0.3)
    assert waiting == {writing}
    await asyncio.to_thread(finish, holder, "\n")
    await writing
    assert await state_of(store, "a") == "pending"


def test_blocking_code_waits_just_the_same(url: str, path: Path) -> None:
    store = open_store(url, blocking=True)
    drive(store.open())
    holder = start(HOLD, path)
    hear(holder, "locked")
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: drive(put(store, "a")))
        with pytest.raises(TimeoutError):
            writing.result(0.3)
        finish(holder, "\n")
        writing.result(20)
    assert drive(state_of(store, "a")) == "pending"
    drive(store.close())


async def test_reading_does_not_wait_for_a_writer(store: Store, path: Path) -> None:
    await put(store, "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(10):
            assert await state_of(store, "a") == "pending"
            assert len(await store.queues()) == 1
        raw.execute("ROLLBACK")


async def test_the_event_loop_goes_on_while_a_write_waits(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(put(store, "a"))
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not writing.done()
        raw.execute("ROLLBACK")
    await writing


async def test_a_lock_held_too_long_is_an_engine_that_does_not_answer(url: str, path: Path) -> None:
    store = open_store(f"{url}?busy_timeout=0.2")
    await store.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await put(store, "a")
        raw.execute("ROLLBACK")
    await put(store, "a")
    assert [job.id for job in await claim(store)] == ["a"]
    await store.close()


BUSY = """
import asyncio, sys
from windlass.stores.open import open_store
from windlass.stores.sqlite.connection import WAL_BYTES, FileLocked
from windlass.testing.jobs import put

async def main():
    store = open_store(sys.argv[1])
    await store.open()
    sys.stdin.readline()
    for n in range(int(sys.argv[3])):
        await put(store, f"{sys.argv[2]}-{n}")
    await store.close()

asyncio.run(main())
"""


async def test_writers_in_several_processes_all_get_their_turn(store: Store, url: str) -> None:
    writers = [start(BUSY, url, name, 200) for name in "abc"]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in writers:
        finish(writer)
    [queue] = await store.queues()
    assert sum(queue.counts.values()) == 600


async def test_of_many_who_wait_each_waits_no_longer_than_one(url: str, path: Path) -> None:
    store = open_store(f"{url}?busy_timeout=1")
    await store.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        async with asyncio.timeout(8):
            told = await asyncio.gather(
                *(put(store, f"job-{n}") for n in range(20)), return_exceptions=True
            )
        assert {type(error) for error in told} == {FileLocked}
        raw.execute("ROLLBACK")
    await put(store, "a")
    await store.close()


def test_so_do_threads_of_blocking_code(url: str, path: Path) -> None:
    store = open_store(f"{url}?busy_timeout=1", blocking=True)
    drive(store.open())
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        with ThreadPoolExecutor(12) as pool:
            waiting = [pool.submit(drive, put(store, f"job-{n}")) for n in range(12)]
            told = {type(each.exception()) for each in waiting}
        assert told == {FileLocked}
        assert time.monotonic() - began < 8
        raw.execute("ROLLBACK")
    drive(put(store, "a"))
    drive(store.close())


async def test_what_a_long_reader_made_grow_shrinks_again(url: str, path: Path) -> None:
    big = Spec("work", b"x" * 500_000)
    store = open_store(url)
    await store.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM windlass_jobs").fetchall()
        for n in range(60):
            await put(store, f"job-{n}", spec=big)
        wal = path.with_name(path.name + "-wal")
        assert wal.stat().st_size > WAL_BYTES
        reader.execute("ROLLBACK")
    async with asyncio.timeout(20):
        while wal.stat().st_size > WAL_BYTES:
            await put(store, f"small-{time.monotonic_ns()}")
    await store.close()
