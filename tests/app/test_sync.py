"""Blocking callers: without an event loop, across fork, from many threads."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from windlass import State, Windlass
from windlass.errors import UnknownJob, WouldBlock, WrongState
from windlass.sync import PerProcess, Portal, drive, in_thread


def test_blocking_code_enqueues_reads_and_cancels(url: str) -> None:
    app = Windlass(url)

    @app.task
    def send(x: int) -> int:
        return x

    job = send.using(delay=60).enqueue(1)
    many = app.enqueue_many([send.call(n) for n in range(3)])
    assert job.get().state is State.SCHEDULED
    assert [handle.get().state for handle in many] == [State.PENDING] * 3
    job.cancel()
    assert job.get().state is State.CANCELLED
    app.close()


def test_cancelling_twice_or_what_is_not_there_is_told_apart(url: str) -> None:
    app = Windlass(url)

    @app.task
    def send() -> None: ...

    job = send.enqueue()
    job.cancel()
    with pytest.raises(WrongState, match="cannot be cancelled: it is cancelled already"):
        job.cancel()
    with pytest.raises(UnknownJob, match="There is no job nowhere"):
        send.handle("nowhere").cancel()
    with pytest.raises(UnknownJob):
        send.handle("nowhere").get()
    app.close()


async def test_a_blocking_call_inside_an_event_loop_says_what_to_await(app: Windlass) -> None:
    @app.task
    def send(x: int) -> None: ...

    with pytest.raises(WouldBlock, match=r"use `await send\.aenqueue\(…\)`"):
        send.enqueue(1)
    with pytest.raises(WouldBlock, match=r"use `await app\.aenqueue_many\(…\)`"):
        app.enqueue_many([send.call(1)])
    job = await send.aenqueue(1)
    for call in (job.get, job.cancel, job.result):
        with pytest.raises(WouldBlock, match=r"await job\.a"):
            call()
    assert (await job.aget()).state is State.PENDING


def test_threads_share_one_app(tmp_path: Path) -> None:
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db")

    @app.task
    def send(x: int) -> None: ...

    def produce(first: int) -> None:
        for n in range(50):
            send.using(id=str(first + n)).enqueue(n)

    threads = [threading.Thread(target=produce, args=(100 * k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(send.handle(str(100 * k + n)).get() for k in range(4) for n in range(50))
    app.close()


FORKING = """
import os, sys
from windlass import Windlass
app = Windlass(sys.argv[1])

@app.task
def send(x: int) -> None: ...

send.using(id="parent").enqueue(1)
child = os.fork()
if child == 0:
    send.using(id="child").enqueue(2)
    os._exit(0)
_, status = os.waitpid(child, 0)
send.using(id="after").enqueue(3)
assert status == 0, status
assert [send.handle(i).get().id for i in ("parent", "child", "after")]
print("ok")
"""


def test_enqueueing_goes_on_on_both_sides_of_a_fork(tmp_path: Path) -> None:
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    url = f"sqlite:///{tmp_path}/jobs.db"
    done = subprocess.run(
        [sys.executable, script, url], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ok\n", done.stderr


def test_a_portal_runs_coroutines_and_passes_errors_on() -> None:
    portal = Portal()

    async def add(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    async def fail() -> None:
        raise KeyError("x")

    assert portal.run(add(1, 2)) == 3
    with pytest.raises(KeyError):
        portal.run(fail())
    portal.close()
    assert portal.run(add(3, 4)) == 7
    portal.close()


def test_a_portal_works_in_a_forked_child() -> None:
    portal = Portal()

    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    assert portal.run(answer()) == 42
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, str(portal.run(answer())).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 10) == b"42"
    portal.close()


def test_what_a_process_made_is_made_anew_in_a_child() -> None:
    value = PerProcess(os.getpid)
    assert value.get() == os.getpid()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"own" if value.get() == os.getpid() else b"inherited")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 10) == b"own"


def test_driving_a_coroutine_that_waits_is_refused() -> None:
    async def waits() -> None:
        await asyncio.sleep(0)

    def run(coroutine: Coroutine[Any, Any, None]) -> None:
        with pytest.raises(RuntimeError, match="tried to wait"):
            drive(coroutine)

    run(waits())


async def test_blocking_code_gets_a_thread_though_hanging_handlers_have_all_of_asyncio() -> None:
    go_on = threading.Event()
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as pool:
        loop.set_default_executor(pool)
        hanging = asyncio.ensure_future(asyncio.to_thread(go_on.wait, 60))
        async with asyncio.timeout(20):
            assert await in_thread(lambda: "done") == "done"
            with pytest.raises(KeyError):
                await in_thread(lambda: dict[str, int]()["x"])
        go_on.set()
        await hanging
