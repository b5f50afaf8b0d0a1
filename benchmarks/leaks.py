"""What a process holds before and after it has done something many times.

python -m benchmarks leaks                     in full
python -m benchmarks.leaks --jobs 20000        with fewer jobs; also --timeouts 100, --loops 50,
                                               --reconnects 10, --stores sqlite redis
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import psycopg
import uvloop
from redis import Redis

from tests.servers.binaries import MissingServer
from tests.servers.mysql_client import query
from windlass import Task, Windlass
from windlass.config import WorkerSettings
from windlass.testing.work import until
from windlass.worker.memory import MIB, resident

from . import mysql_server, postgres_server, redis_server
from .process import isolated
from .table import Goal, Line, show

ROUND = 10_000
"""Jobs that are enqueued at a time."""

FEW = 4
"""Threads and descriptors that may be more by chance: one that is ending, one connection more."""

SMALL = 8
"""MiB that may be more by chance: the allocator gives memory back in large pieces."""


class Numbers(NamedTuple):
    """How often each thing is done."""

    jobs: int = 1_000_000
    timeouts: int = 10_000
    loops: int = 500
    reconnects: int = 1_000


FULL = Numbers()


class Held(NamedTuple):
    """What a process has."""

    threads: int
    descriptors: int
    memory: int


Change = tuple[Held, Held]
"""Before and after."""


def held() -> Held:
    gc.collect()
    threads = len(os.listdir("/proc/self/task"))
    return Held(threads, len(os.listdir("/proc/self/fd")), resident())


def lines(numbers: Numbers = FULL, stores: Sequence[str] | None = None) -> Iterator[Line]:
    for name in stores or PLACES:
        try:
            with PLACES[name]() as url:
                yield from of_store(name, url, numbers)
        except MissingServer as missing:
            logging.getLogger("benchmarks").warning("going on without %s: %s", name, missing)


def of_store(name: str, url: str, numbers: Numbers) -> Iterator[Line]:
    again = reopened if name == "sqlite" else reconnected
    words = "times opened and closed" if name == "sqlite" else "lost connections"
    for what, number, act in (
        ("event loops that nobody closed", numbers.loops, looped),
        ("jobs", numbers.jobs, worked),
        ("attempts that ran out of time", numbers.timeouts, timed_out),
        (words, numbers.reconnects, again),
    ):
        before, after = isolated(act, url, number)
        yield from compared(f"{number:,} {what}, {name}", before, after)


def compared(name: str, before: Held, after: Held) -> Iterator[Line]:
    more = after.threads - before.threads + after.descriptors - before.descriptors
    counts = f"threads {before.threads} → {after.threads}, "
    counts += f"descriptors {before.descriptors} → {after.descriptors}"
    yield Line(name, more, "more", counts, Goal("at most", FEW))
    sizes = f"{before.memory / MIB:.1f} → {after.memory / MIB:.1f} MiB resident"
    yield Line(name, (after.memory - before.memory) / MIB, "MiB", sizes, Goal("at most", SMALL))


# -- what is done many times, each in a process of its own -----------------------------------


def looped(url: str, number: int) -> Change:
    """An event loop for each job, which is left as it is: neither `asyncio.run` nor `close`."""
    app = Windlass(url)

    @app.task
    async def nothing() -> None: ...

    async def view() -> None:
        await nothing.aenqueue()

    def run(times: int) -> None:
        for _ in range(times):
            asyncio.new_event_loop().run_until_complete(view())

    return around(run, number)


def reopened(url: str, number: int) -> Change:
    """A store that is closed after each job."""
    app = Windlass(url)

    @app.task
    async def nothing() -> None: ...

    def run(times: int) -> None:
        for _ in range(times):
            nothing.enqueue()
            app.close()

    return around(run, number)


def reconnected(url: str, number: int) -> Change:
    """A server that ends all connections, again and again."""
    app = Windlass(url)

    @app.task
    async def nothing() -> None: ...

    def run(times: int) -> None:
        for _ in range(times):
            hang_up(url)
            nothing.enqueue()

    return around(run, number)


def around(run: Callable[[int], None], number: int) -> Change:
    """What is held before and after, when the first few have made what stays."""
    run(10)
    before = held()
    run(number)
    return before, held()


def hang_up(url: str) -> None:
    """Have the server end every connection."""
    if url.startswith("redis"):
        with Redis.from_url(url) as redis:
            redis.client_kill_filter(_type="normal", skipme=True)
    elif url.startswith("postgres"):
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        ended += "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        with psycopg.connect(url.partition("?")[0], autocommit=True) as connection:
            connection.execute(ended.encode())
    else:
        query(url, MARIADB_ENDS)


MARIADB_ENDS = """
BEGIN NOT ATOMIC
  FOR link IN (
    SELECT id FROM information_schema.processlist
    WHERE id <> CONNECTION_ID() AND command = 'Sleep' AND user <> 'system user'
  ) DO KILL link.id; END FOR;
END
"""


def worked(url: str, number: int) -> Change:
    """Jobs of all kinds: quick ones on the loop and in threads, some that log and fail."""
    return uvloop.run(_worked(url, number))


async def _worked(url: str, number: int) -> Change:
    app, ran = Windlass(url), 0

    @app.task(keep=0)
    async def on_loop(n: int) -> None:
        nonlocal ran
        ran += 1

    @app.task(keep=0)
    def in_thread(n: int) -> None:
        nonlocal ran
        ran += 1

    @app.task(keep=0, max_retries=0)
    async def failing(n: int) -> None:
        nonlocal ran
        ran += 1
        logging.getLogger("app").warning("job %d", n)
        raise ValueError(n)

    kinds: list[Task[[int], Any, None]] = [on_loop, in_thread] * 50
    kinds[-1] = failing

    async def run(times: int) -> None:
        for first in range(0, times, ROUND):
            size = min(ROUND, times - first)
            target = ran + size
            await app.aenqueue_many(kinds[n % len(kinds)].call(n) for n in range(size))
            await until(partial(lambda target: ran >= target, target), 600)

    return await _by_a_worker(app, run, max(ROUND, number // 20), number)


def timed_out(url: str, number: int) -> Change:
    """Attempts on the loop and in threads that are stopped."""
    return uvloop.run(_timed_out(url, number))


async def _timed_out(url: str, number: int) -> Change:
    app, ran = Windlass(url), 0

    @app.task(keep=0, max_retries=0, timeout=0.05)
    async def on_loop(n: int) -> None:
        nonlocal ran
        ran += 1
        await asyncio.sleep(60)

    @app.task(keep=0, max_retries=0, timeout=0.05)
    def in_thread(n: int) -> None:
        nonlocal ran
        ran += 1
        while True:
            time.sleep(0.01)

    kinds: list[Task[[int], Any, None]] = [on_loop, in_thread]

    async def run(times: int) -> None:
        for first in range(0, times, 100):
            size = min(100, times - first)
            target = ran + size
            await app.aenqueue_many(kinds[n % 2].call(n) for n in range(size))
            await until(partial(lambda target: ran >= target, target), 600)

    return await _by_a_worker(app, run, max(200, number // 20), number)


async def _by_a_worker(app: Windlass, run: Callable[[int], Any], first: int, number: int) -> Change:
    """What is held before and after; the `first` ones make what stays."""
    logging.disable(logging.ERROR)
    worker = await app.worker(WorkerSettings(attempts_keep=0, concurrency=20))
    await worker.start()
    await run(first)
    before = await _at_rest(worker)
    await run(number)
    after = await _at_rest(worker)
    await worker.stop()
    await app.aclose()
    return before, after


async def _at_rest(worker: Any) -> Held:
    """What is held when nothing runs any more."""
    await until(lambda: worker.busy == 0, 60)
    await asyncio.sleep(0.5)
    return held()


# -- where ---------------------------------------------------------------------------------------


@contextmanager
def on_sqlite() -> Iterator[str]:
    with TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/leaks.db"


@contextmanager
def on_mariadb() -> Iterator[str]:
    with mysql_server.serving() as url:
        yield mysql_server.clear(url)


PLACES: dict[str, Callable[[], Any]] = {
    "sqlite": on_sqlite,
    "redis": redis_server.serving,
    "postgres": postgres_server.serving,
    "mariadb": on_mariadb,
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, number in FULL._asdict().items():
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--stores", nargs="*", choices=PLACES)
    given = vars(parser.parse_args())
    stores = given.pop("stores")
    show(list(lines(Numbers(**given), stores)))
