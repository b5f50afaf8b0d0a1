"""What clients that only wait cost a server: long-polls for results, and followers of events."""

from __future__ import annotations

import asyncio
import multiprocessing.connection
import time
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any

import uvloop

from windlass import Windlass
from windlass.worker.memory import MIB

from .jobs import nothing
from .process import SPAWN, isolated
from .redis_server import serving
from .server import CONNECTIONS, ONE
from .server_load import Target, get, load, post
from .server_process import Served, key_for, windlass_server
from .startup import used
from .table import Goal, Line, paired

POLLS = 1_000
FOLLOWERS = 1_000
SECONDS = 2.0
ROUNDS = 5
SETTLED = 3.0


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from _lines("redis", url)
    with TemporaryDirectory() as folder:
        yield from _lines("sqlite", f"sqlite:///{folder}/bench.db")


def _lines(store: str, url: str) -> Iterator[Line]:
    key, ids = key_for(url), _waiting_jobs(url)
    with windlass_server(url) as served:
        target = Target(served.port, served.pid, post("/api/v1/jobs", ONE, key))
        isolated(load, target, SECONDS, CONNECTIONS)
        before, pairs, grown, busy = served.resident, [], 0, 0.0
        for _ in range(ROUNDS):
            alone = isolated(load, target, SECONDS, CONNECTIONS).rate
            with _crowd(served, key, ids):
                grown = max(grown, served.resident - before)
                busy = _busy(served)
                pairs.append((isolated(load, target, SECONDS, CONNECTIONS).rate, alone))
    crowd = f"{POLLS:,} long-polls and {FOLLOWERS:,} followers"
    yield Line(
        f"{store}: memory of {crowd}",
        grown / MIB,
        "MiB",
        f"{before / MIB:.0f} MiB before; they take {100 * busy:.0f} % of a core while idle",
        Goal("at most", 100),
    )
    yield paired(f"{store}: POST /jobs beside them", pairs, ("with", "without"), _NOT_SLOWER)


_NOT_SLOWER = Goal("at least", 0.9)


def _waiting_jobs(url: str) -> list[str]:
    """Jobs that nobody runs."""
    app = Windlass(url)
    task = app.task(nothing)
    jobs = app.enqueue_many([task.call(user_id=n, email="a@example.com") for n in range(POLLS)])
    app.close()
    return [job.id for job in jobs]


def _busy(served: Served) -> float:
    """The part of a core that the server takes with no requests but those that wait."""
    before = used(served.pid)
    time.sleep(SETTLED)
    return (used(served.pid) - before) / SETTLED


@contextmanager
def _crowd(served: Served, key: str, ids: list[str]) -> Iterator[None]:
    """Clients that wait, in a process of their own; connected and settled."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=wait, args=(served.port, key, ids, there), daemon=True)
    process.start()
    try:
        if not here.poll(60) or here.recv() != POLLS + FOLLOWERS:
            raise RuntimeError("The clients that are to wait could not connect.")
        time.sleep(SETTLED)
        yield
        here.send("stop")
        if here.recv() != POLLS + FOLLOWERS:
            raise RuntimeError("The server has sent clients away that were to wait.")
    finally:
        process.terminate()
        process.join()


def wait(port: int, key: str, ids: list[str], line: multiprocessing.connection.Connection) -> None:
    """Wait for jobs and for events until told to stop; tells how many are connected."""
    uvloop.run(_wait(port, key, ids, line))


async def _wait(port: int, key: str, ids: list[str], line: Any) -> None:
    loop = asyncio.get_running_loop()
    requests = [get(f"/api/v1/jobs/{id}/result?wait=60", key) for id in ids]
    requests += [get("/api/v1/events", key)] * FOLLOWERS
    waiting = [Waiting(request) for request in requests]
    for each in waiting:
        await loop.create_connection(each.itself, "127.0.0.1", port)
    line.send(sum(each.is_open for each in waiting))
    await loop.run_in_executor(None, line.recv)
    line.send(sum(each.is_open for each in waiting))


class Waiting(asyncio.Protocol):
    """Asks once, and again if it is answered."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._transport: Any = None
        self.is_open = False

    def itself(self) -> Waiting:
        return self

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.is_open = True
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"HTTP/1.1 202"):
            self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
