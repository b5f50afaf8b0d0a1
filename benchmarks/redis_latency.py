"""How long a job waits on Redis for an idle worker of another process, and how late it may be."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import quantiles

import uvloop
from redis.asyncio import Redis

from windlass import Windlass

from . import redis_wake as floor
from .latency import LONGEST_PAUSE, started
from .process import SPAWN
from .redis_server import clear, serving
from .table import Goal, Line

JOBS = 500
DELAYED = 300
SHORTEST_DELAY, LONGEST_DELAY = 1.0, 5.0


def lines() -> Iterator[Line]:
    with serving() as url:
        with beside(floor.serve, url), beside(serve, url):
            ours, others = uvloop.run(idle(url))
        yield from _idle_lines(ours, others)
        clear(url)
        with beside(serve, url):
            late = uvloop.run(delayed(url))
        yield from _late_lines(late)


def _idle_lines(ours: Sequence[float], others: Sequence[float]) -> Iterator[Line]:
    mine, theirs = quantiles(ours, n=100), quantiles(others, n=100)
    for percent, limit in ((50, 2), (99, 5)):
        a, b = mine[percent - 1], theirs[percent - 1]
        yield Line(
            f"redis: idle latency, p{percent}",
            a / b,
            "×",
            f"windlass {a:.2f} ms, redis-py {b:.2f} ms; {len(ours)} jobs",
            Goal("at most", limit),
        )


def _late_lines(late: Sequence[float]) -> Iterator[Line]:
    cuts = quantiles(late, n=100)
    detail = f"{len(late)} jobs, latest {max(late):.1f} ms"
    yield Line("redis: delayed jobs, late at p50", cuts[49], "ms", detail, Goal("at most", 5))
    yield Line("redis: delayed jobs, late at p99", cuts[98], "ms", detail, Goal("at most", 15))
    yield Line("redis: delayed jobs, the earliest", min(late), "ms", detail, Goal("at least", 0))


@contextmanager
def beside(target: Callable[[str], None], url: str) -> Iterator[None]:
    """Run a function in another process meanwhile."""
    process = SPAWN.Process(target=target, args=(url,), daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


def serve(url: str) -> None:
    uvloop.run(_serve(url))


async def _serve(url: str) -> None:
    app = Windlass(url)
    app.task(started)
    app.task(moment)
    await (await app.worker()).run()
    await app.aclose()


async def moment() -> float:
    """Milliseconds by the clock that Redis reads too."""
    return time.time() * 1000


async def idle(url: str) -> tuple[list[float], list[float]]:
    """Milliseconds of Windlass and of redis-py, taken in turns."""
    app = Windlass(url)
    task = app.task(started)
    ours: list[float] = []
    others: list[float] = []
    async with Redis.from_url(url) as redis:
        # The first ones wait for the processes to come up.
        await (await task.aenqueue()).aresult(timeout=60)
        await floor.sample(redis)
        for _ in range(JOBS):
            await asyncio.sleep(random.uniform(0.005, LONGEST_PAUSE))
            before = time.monotonic_ns()
            handle = await task.aenqueue()
            ours.append((await handle.aresult(timeout=60) - before) / 1e6)
            await asyncio.sleep(random.uniform(0.005, LONGEST_PAUSE))
            others.append(await floor.sample(redis))
    await app.aclose()
    return ours, others


async def delayed(url: str) -> list[float]:
    """By how many milliseconds jobs started after their time."""
    app = Windlass(url)
    task = app.task(moment)
    await (await task.aenqueue()).aresult(timeout=60)
    delays = [random.uniform(SHORTEST_DELAY, LONGEST_DELAY) for _ in range(DELAYED)]
    handles = await app.aenqueue_many(task.using(delay=delay).call() for delay in delays)
    # Looking for results would wake the machine; all of them are asked for afterwards.
    await asyncio.sleep(LONGEST_DELAY + 1)
    late = [await handle.aresult(timeout=60) - (await handle.aget()).due for handle in handles]
    await app.aclose()
    return late
