"""How long a job waits on PostgreSQL for an idle worker of another process."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from statistics import quantiles

import uvloop

from tests.servers import pgbouncer, postgres
from windlass import Windlass

from .latency import LONGEST_PAUSE, started
from .process import SPAWN
from .table import Goal, Line

JOBS = 300


def lines() -> Iterator[Line]:
    with postgres.serve() as server:
        yield from _lines("postgres: idle latency", measure(server.url), Goal("at most", 10))
        with pgbouncer.serve(server) as pooler:
            yield from _lines("postgres: idle latency behind PgBouncer", measure(pooler.url), None)


def _lines(name: str, waits: list[float], goal: Goal | None) -> Iterator[Line]:
    cuts = quantiles(waits, n=100)
    detail = f"{len(waits)} jobs, longest {max(waits):.1f} ms"
    yield Line(f"{name}, p50", cuts[49], "ms", detail)
    yield Line(f"{name}, p95", cuts[94], "ms", detail, goal)


def measure(url: str) -> list[float]:
    worker = SPAWN.Process(target=serve, args=(url,), daemon=True)
    worker.start()
    try:
        return uvloop.run(_measure(url))
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


async def _measure(url: str) -> list[float]:
    app = Windlass(url)
    task = app.task(started)
    # The first one waits for the worker's process to come up.
    await (await task.aenqueue()).aresult(timeout=60)
    waits: list[float] = []
    for _ in range(JOBS):
        await asyncio.sleep(random.uniform(0.005, LONGEST_PAUSE))
        before = time.monotonic_ns()
        handle = await task.aenqueue()
        waits.append((await handle.aresult(timeout=60) - before) / 1e6)
    await app.aclose()
    return waits
