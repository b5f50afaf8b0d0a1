"""Pains of running: loops, forks, timeouts, memory. Each is impossible here, and the proof."""

import asyncio
import os
import threading
import time
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from windlass import State, Windlass
from windlass.cli.main import cli
from windlass.config import SECTIONS, WorkerSettings
from windlass.core.model import Spec, decode_spec
from windlass.errors import InvalidOption
from windlass.testing.work import work

ONE = WorkerSettings(concurrency=1)


@pytest.fixture
async def app() -> AsyncIterator[Windlass]:
    app = Windlass("memory://")
    yield app
    await app.aclose()


async def test_async_handlers_share_one_loop_that_lives_as_long_as_the_worker(
    app: Windlass,
) -> None:
    """A loop for each job breaks every client and pool that outlives it."""
    loops, threads = [], []

    @app.task
    async def looped() -> None:
        loops.append(asyncio.get_running_loop())

    @app.task
    def threaded() -> None:
        threads.append(threading.current_thread())

    await app.aenqueue_many([looped.call() for _ in range(3)])
    await app.aenqueue_many([threaded.call() for _ in range(3)])
    await work(app)
    assert loops == [asyncio.get_running_loop()] * 3
    assert len(threads) == 3
    assert threading.main_thread() not in threads


async def test_a_worker_keeps_nothing_of_jobs_that_are_done(app: Windlass) -> None:
    """Memory that grows for weeks."""

    @app.task(keep=0)
    async def heavy(data: bytes) -> None: ...

    async def batch(number: int) -> None:
        await app.aenqueue_many([heavy.call(bytes(10_000)) for _ in range(number)])
        await work(app)

    await batch(50)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        await batch(300)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1_500_000


async def test_a_worker_process_can_be_told_to_be_replaced_before_it_grows_too_large() -> None:
    """A leak of the user's own ends with the process, if there is a way to end it."""
    assert WorkerSettings(max_jobs=1_000).is_supervised
    assert WorkerSettings(max_memory=512).is_supervised


def pid() -> int:
    return os.getpid()


async def test_one_child_process_serves_many_jobs(app: Windlass) -> None:
    """A fork for each job is slow, and takes connections along."""
    task = app.task(process=True)(pid)
    handles = await app.aenqueue_many([task.call() for _ in range(5)])
    await work(app, ONE, timeout=40)
    assert len({await handle.aresult() for handle in handles} - {os.getpid()}) == 1


async def test_a_blocking_handler_is_stopped_at_its_timeout(app: Windlass) -> None:
    """A timeout that silently does nothing for threads."""
    ended = threading.Event()

    @app.task(timeout=0.1, max_retries=0)
    def endless() -> None:
        try:
            while True:
                time.sleep(0.01)
        finally:
            ended.set()

    handle = await endless.aenqueue()
    await work(app)
    assert (await handle.aget()).state is State.DEAD
    assert await asyncio.to_thread(ended.wait, 20)


def test_every_setting_and_where_it_came_from_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Defaults that are found out when they hurt."""
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(cli, ["config"], catch_exceptions=False).stdout
    for section in SECTIONS.values():
        assert [name for name in section.__struct_fields__ if name not in told] == []


async def test_a_job_has_no_timeout_that_nobody_asked_for(app: Windlass) -> None:
    """Stopped after 10, 180 or 300 seconds, as the library happens to think."""

    @app.task
    def plain() -> None: ...

    assert plain.call().job.spec.timeout is None
    with pytest.raises(InvalidOption):
        app.task(timeout=0)(lambda: None)


def test_a_record_of_the_first_version_and_one_with_more_fields_are_read() -> None:
    """A format that the next release cannot read ends a project."""
    first = b"\x92\xa4work\xc4\x01x"
    assert decode_spec(first) == Spec("work", b"x")
    more = b"\xdc\x00\x1e\xa4work\xc4\x01x\xa7msgpack\x03\xc0\xce\x05\x26\x5c\x00\xc0\xc0\x01"
    more += b"\xc0\xc0\x90\xc2\x00\xc2\xa0\x00\xc0\xa0\x01" + b"\xc0" * 10
    assert decode_spec(more) == Spec("work", b"x")
