"""How quickly the gRPC API takes jobs, a hundred in a request.

Compared with a service that only answers, and with a producer that goes to the store itself: no
server in front of a store can be quicker than that.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import uvloop
from grpc import aio

from tests.servers.ports import free_port
from windlass import Windlass
from windlass.core.codec import JSON
from windlass.protocol import windlass_pb2 as pb

from .command import ROOT
from .jobs import nothing
from .process import isolated
from .redis_server import serving
from .server_load import WARM_UP, Answered
from .server_process import Served, key_for
from .startup import used
from .table import Goal, Line, paired

METHOD = "/windlass.v1.Jobs/EnqueueMany"
PAYLOAD = b'[1,[],{"user_id":123,"email":"a@example.com"}]'
BATCH = 100
AT_ONCE = 16
SECONDS = 2.0
ROUNDS = 5
DEADLINE = 30.0


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from _lines("redis", url)
    with TemporaryDirectory() as folder:
        yield from _lines("sqlite", f"sqlite:///{folder}/bench.db")


def _lines(store: str, url: str) -> Iterator[Line]:
    key = key_for(url)
    ours = ("windlass.cli.main", "server", "--app", "benchmarks.jobs:app", "--http-port=0")
    with (
        _process(url, *ours, "--no-access-log", port="--grpc-port={}") as served,
        _process("", "benchmarks.server_grpc_plain", port="{}") as plain,
    ):
        rounds = [
            (isolated(load, served, key), isolated(load, plain, ""), isolated(direct, url))
            for _ in range(ROUNDS)
        ]
    name, goal = f"{store}: gRPC, batches of {BATCH}", Goal("at least", 0.5)
    yield _compared(name, [(a, b) for a, b, _ in rounds], "bare", goal)
    yield _compared(f"{name}, and none", [(a, c) for a, _, c in rounds], "aenqueue_many", goal)


def _compared(
    name: str, pairs: Sequence[tuple[Answered, Answered]], other: str, goal: Goal
) -> Line:
    rates = [(BATCH * a.rate, BATCH * b.rate) for a, b in pairs]
    line = paired(name, rates, ("windlass", other), goal)
    costs = [median(each.cost / BATCH for each in column) for column in zip(*pairs, strict=True)]
    return line._replace(detail=f"{line.detail}; {costs[0]:.1f} and {costs[1]:.1f} µs for a job")


def load(served: Served, key: str) -> Answered:
    """Keep a server busy with one call after the other, several at a time."""
    return uvloop.run(_load(served, key))


def direct(url: str) -> Answered:
    """The same without a server."""
    return uvloop.run(_direct(url))


async def _load(served: Served, key: str) -> Answered:
    job = pb.NewJob(task="nothing", payload=PAYLOAD, content_type="json")
    request = pb.EnqueueManyRequest(jobs=[job] * BATCH).SerializeToString()
    metadata = [("x-api-key", key)] if key else []
    async with aio.insecure_channel(f"127.0.0.1:{served.port}") as channel:
        call: Any = channel.unary_unary(METHOD)
        return await _measured(lambda: call(request, metadata=metadata), served.pid)


async def _direct(url: str) -> Answered:
    app = Windlass(url, codec=JSON)
    task = app.task(nothing)

    async def enqueue() -> None:
        await app.aenqueue_many(
            [task.call(user_id=123, email="a@example.com") for _ in range(BATCH)]
        )

    answered = await _measured(enqueue, os.getpid())
    await app.aclose()
    return answered


async def _measured(act: Callable[[], Awaitable[Any]], pid: int) -> Answered:
    """How often it can be done, and what one time costs the process `pid`."""
    ends, times = time.perf_counter() + WARM_UP, 0

    async def repeat() -> None:
        nonlocal times
        while time.perf_counter() < ends:
            await act()
            times += 1

    await asyncio.gather(*(repeat() for _ in range(AT_ONCE)))
    times, before, began = 0, used(pid), time.perf_counter()
    ends = began + SECONDS
    await asyncio.gather(*(repeat() for _ in range(AT_ONCE)))
    took, cost = time.perf_counter() - began, used(pid) - before
    return Answered(times / took, 1e6 * cost / times)


@contextmanager
def _process(url: str, *command: str, port: str) -> Iterator[Served]:
    """A program of ours that serves gRPC; `port` says how it is told where."""
    number = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", *command, port.format(number)],
        cwd=ROOT,
        env={**os.environ, "WINDLASS_URL": url},
        stderr=subprocess.DEVNULL,
    )
    try:
        with grpc.insecure_channel(f"127.0.0.1:{number}") as channel:
            grpc.channel_ready_future(channel).result(DEADLINE)
        yield Served(number, process.pid)
    finally:
        process.terminate()
        process.wait()
