"""The threads of `asyncio.to_thread` in commands: nobody waits for them at the end."""

import asyncio
import threading
import time

import pytest

from windlass.cli.daemons import DaemonThreads
from windlass.cli.loop import run


def test_values_and_errors_come_back() -> None:
    async def main() -> tuple[int, str]:
        with pytest.raises(KeyError):
            await asyncio.to_thread(dict[str, int]().__getitem__, "x")
        return await asyncio.to_thread(len, "abc"), await asyncio.to_thread(_name)

    length, name = run(main())
    assert length == 3
    assert name.startswith("windlass-to-thread-")


def _name() -> str:
    assert threading.current_thread().daemon
    return threading.current_thread().name


def test_an_idle_thread_is_used_again_and_more_are_made_as_they_are_needed() -> None:
    threads = DaemonThreads()
    for _ in range(50):
        threads.submit(_name).result(20)
        deadline = time.monotonic() + 20
        while threads._idle._value == 0 and time.monotonic() < deadline:
            time.sleep(0)
    assert threads._made == 1
    both = threading.Barrier(2, timeout=20)
    for waiting in [threads.submit(both.wait) for _ in range(2)]:
        waiting.result(20)
    assert threads._made == 2
    threads.shutdown()


def test_no_more_threads_are_made_than_there_may_be() -> None:
    threads = DaemonThreads()
    go_on = threading.Event()
    work = [threads.submit(go_on.wait, 20) for _ in range(threads._max_workers + 10)]
    assert threads._made == threads._max_workers
    go_on.set()
    assert all(each.result(20) for each in work)
    threads.shutdown()


def test_the_end_does_not_wait_for_one_that_hangs() -> None:
    go_on = threading.Event()

    async def main() -> None:
        hanging = asyncio.ensure_future(asyncio.to_thread(go_on.wait, 60))
        await asyncio.sleep(0)
        hanging.cancel()

    began = time.monotonic()
    run(main())
    assert time.monotonic() - began < 30
    go_on.set()


def test_nothing_is_taken_after_the_end() -> None:
    threads = DaemonThreads()
    threads.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        threads.submit(_name)
