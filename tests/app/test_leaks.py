"""Nothing is left behind by event loops, however they end, nor by connections that are lost."""

import asyncio
import gc
import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import uvloop
from asyncmy import errors

from tests.app.engines import ENGINES, SERVERS, url_of
from tests.servers import fork_server
from tests.servers.emptied import emptied_database, emptied_schema
from windlass import State, Windlass, connect
from windlass.stores.open import open_store

HangsUp = tuple[str, Callable[[], Awaitable[None]]]
STORED = [name for name in ENGINES if name != "memory"]
LOOPS = 500
PATIENCE = 20
"""Seconds that threads may take to end on a busy machine."""
SLACK = 4
"""What may be left besides: a thread that is ending, a connection for blocking code."""


def held() -> tuple[int, int]:
    """How many threads and descriptors this process has, but for loops that are garbage."""
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def refuse_growth(act: Callable[[], None], times: int) -> None:
    for _ in range(3):
        act()
    threads, descriptors = held()
    for _ in range(times):
        act()
    # The last threads may still be ending, and SQLite closes a file when no other connection of the
    # process has a lock on it. What is left behind for good only grows with more calls.
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and (
        held()[0] > threads + SLACK or held()[1] > descriptors + SLACK
    ):
        act()
    names = [thread.name for thread in threading.enumerate()]
    assert held()[0] <= threads + SLACK, names
    assert held()[1] <= descriptors + SLACK, names


@pytest.fixture(params=STORED)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


def test_event_loops_that_nobody_cleans_up_after_leave_nothing(url: str) -> None:
    app = Windlass(url)

    @app.task
    def add(a: int) -> None: ...

    async def view() -> None:
        await add.aenqueue(1)

    refuse_growth(lambda: asyncio.run(view()), LOOPS)
    app.close()


def test_nor_do_those_of_a_connection(url: str) -> None:
    client = connect(url)

    async def view() -> None:
        await client.task("add").aenqueue(1)

    refuse_growth(lambda: asyncio.run(view()), 50)
    client.close()


CLOSED = """
import asyncio, sys
sys.path.insert(0, sys.argv[2])
from tests.app.test_leaks import refuse_growth
from windlass import Windlass
app = Windlass(sys.argv[1], history=sys.argv[3] or None)

@app.task
def add(a: int) -> None: ...

async def view():
    if sys.argv[3]:
        await app.history.afind()
    else:
        await add.aenqueue(1)

def once():
    loop = asyncio.new_event_loop()
    loop.run_until_complete(view())
    if sys.argv[4] == "closed":
        loop.close()

refuse_growth(once, 200)
app.close()
print("flat")
"""
ROOT = str(Path(__file__).parents[2])


@pytest.mark.parametrize("left", ["closed", "as they are"])
def test_event_loops_that_are_only_closed_or_not_even_that_leave_nothing_after_the_next_call(
    url: str, left: str
) -> None:
    command = ["-c", CLOSED, url, ROOT, "", left]
    done = fork_server.run(command, capture_output=True, text=True, timeout=100)
    assert (done.stdout, done.stderr) == ("flat\n", "")


@pytest.mark.parametrize("new", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_loop_that_was_left_and_is_run_again_works_on(url: str, new: Callable[[], Any]) -> None:
    app = Windlass(url)

    @app.task
    def add(a: int) -> None: ...

    async def enqueue(id: str) -> None:
        await add.using(id=id).aenqueue(1)

    one, other = new(), new()
    try:
        for n in range(3):
            one.run_until_complete(enqueue(f"a{n}"))
            other.run_until_complete(enqueue(f"b{n}"))
        one.run_until_complete(enqueue("last"))
        ids = ["last", *(f"{name}{n}" for name in "ab" for n in range(3))]
        assert {app.job(id).get().state for id in ids} == {State.PENDING}
        for loop in (one, other):
            loop.run_until_complete(app.aclose())
    finally:
        one.close()
        other.close()
        app.close()


@pytest.fixture(params=["sqlite", "postgres", "mariadb"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/history.db"
    server = request.getfixturevalue(SERVERS[request.param])
    # Not a place of other tests, which are to find tables of a store there.
    make = emptied_schema if request.param == "postgres" else emptied_database
    return make(server.url, "ended")


def test_nor_does_history(history: str) -> None:
    app = Windlass("memory://", history=history)

    async def view() -> None:
        await app.history.afind()

    refuse_growth(lambda: asyncio.run(view()), 50)
    app.close()
    for left in ("closed", "as they are"):
        command = ["-c", CLOSED, "memory://", ROOT, history, left]
        done = fork_server.run(command, capture_output=True, text=True, timeout=100)
        assert (done.stdout, done.stderr) == ("flat\n", "")


RECONNECTS = 200


@pytest.fixture(params=["redis", "postgres", "mariadb"])
async def hangs_up(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[HangsUp]:
    """A URL, and what closes all connections to its server but its own."""
    url = url_of(request, tmp_path)
    own = open_store(url)
    await own.open()
    yield url, partial(KILLS[request.param], own)
    await own.close()


async def kill_redis(own: Any) -> None:
    await own._transport.everywhere("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


async def kill_postgres(own: Any) -> None:
    async with own._database._pool.connection() as connection:
        await connection.raw.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


async def kill_mariadb(own: Any) -> None:
    async with own._database._pool.link() as link:
        others = "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
        for (number,) in (await link.ask([others]))[0].rows:
            with suppress(errors.Error):  # it has left by itself meanwhile
                await link.ask([f"KILL {number}"])


KILLS = {"redis": kill_redis, "postgres": kill_postgres, "mariadb": kill_mariadb}


async def test_reconnecting_leaves_nothing(hangs_up: HangsUp) -> None:
    url, hang_up = hangs_up
    app = Windlass(url)

    @app.task
    def add(a: int) -> None: ...

    job = await add.aenqueue(1)
    for n in range(RECONNECTS):
        if n == 10:
            before, tasks = held(), len(asyncio.all_tasks())
        await hang_up()
        assert (await job.aget()).id == job.id
    after = held()
    assert after[0] <= before[0] + SLACK
    assert after[1] <= before[1] + SLACK
    assert len(asyncio.all_tasks()) <= tasks + 1
    await app.aclose()
