"""How long a job waits for an idle worker of another process, from `enqueue` to its start."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import quantiles
from tempfile import TemporaryDirectory

import uvloop

from windlass import Windlass

from .process import SPAWN
from .table import Goal, Line

JOBS = 300
LONGEST_PAUSE = 0.03


def lines() -> Iterator[Line]:
    with TemporaryDirectory() as folder:
        waits = measure(f"sqlite:///{folder}/bench.db")
    yield from shown("idle latency", waits, Goal("at most", 25), Goal("at most", 5))


def shown(
    name: str, waits: Sequence[float], goal: Goal | None = None, median: Goal | None = None
) -> Iterator[Line]:
    cuts = quantiles(waits, n=100)
    detail = f"{len(waits)} jobs, longest {max(waits):.1f} ms"
    yield Line(f"{name}, p50", cuts[49], "ms", detail, median)
    yield Line(f"{name}, p95", cuts[94], "ms", detail, goal)


def measure(
    url: str, jobs: int = JOBS, pause: tuple[float, float] = (0.005, LONGEST_PAUSE)
) -> list[float]:
    """Milliseconds that jobs waited; between two of them there is a pause of so many seconds."""
    with worker_beside(url):
        return uvloop.run(_measure(url, jobs, pause))


@contextmanager
def worker_beside(url: str) -> Iterator[None]:
    """A process that runs the jobs of a store."""
    worker = SPAWN.Process(target=serve, args=(url,), daemon=True)
    worker.start()
    try:
        yield
    finally:
        worker.terminate()
        worker.join()


def serve(url: str) -> None:
    uvloop.run(_serve(url))


async def _serve(url: str) -> None:
    app = Windlass(url)
    app.task(started)
    await (await app.worker()).run()
    await app.aclose()


async def started() -> int:
    # CLOCK_MONOTONIC is the same for all processes of a machine.
    return time.monotonic_ns()


async def _measure(url: str, jobs: int, pause: tuple[float, float]) -> list[float]:
    app = Windlass(url)
    task = app.task(started)
    # The first one waits for the worker's process to come up.
    await (await task.aenqueue()).aresult(timeout=60)
    waits: list[float] = []
    for _ in range(jobs):
        await asyncio.sleep(random.uniform(*pause))
        before = time.monotonic_ns()
        handle = await task.aenqueue()
        waits.append((await handle.aresult(timeout=60) - before) / 1e6)
    await app.aclose()
    return waits
