"""What it costs a worker to be observed, and a server to be scraped.

Processor time of the worker for a job that does nothing, on Redis: the cheapest there is, so that
whatever is added shows. In turns, in one run.
"""

from __future__ import annotations

import asyncio
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from statistics import median
from tempfile import TemporaryDirectory
from timeit import timeit

import uvloop

from windlass import Windlass
from windlass.observe.events import Events
from windlass.observe.ledger import Ledger
from windlass.observe.prometheus import Metrics
from windlass.testing.work import until

from .jobs import nothing
from .process import isolated
from .redis_drain import fill
from .redis_server import clear, serving
from .server_process import key_for, windlass_server
from .table import Goal, Line

NUMBER = 30_000
ROUNDS = 9
QUEUES = 200
SCRAPES = 15
LOOKS = 2
"""Events that every attempt passes: its start and its end."""


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from _worker(url)
        yield _scraped("redis", url)
    with TemporaryDirectory() as folder:
        yield _scraped("sqlite", f"sqlite:///{folder}/bench.db")


def _worker(url: str) -> Iterator[Line]:
    ways: dict[str, Callable[[str], float]] = {
        "bare": bare,
        "uncounted": uncounted,
        "metered": metered,
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            clear(url)
            isolated(fill, url, NUMBER)
            found[name].append(isolated(way, url))
    yield _ratio("observe: a worker with metrics", found, "metered", "bare", 1.10)
    yield _ratio("observe: counting for the statistics", found, "bare", "uncounted", 1.02)
    job = median(found["bare"])
    looks = empty_looks()
    yield Line(
        "observe: events that nobody listens to",
        1 + looks / job,
        "×",
        f"{1000 * looks:.0f} ns of {job:.1f} µs",
        Goal("at most", 1.01),
    )


def _ratio(name: str, found: dict[str, list[float]], ours: str, other: str, most: float) -> Line:
    pairs = list(zip(found[ours], found[other], strict=True))
    detail = f"{ours} {median(found[ours]):.1f} µs, {other} {median(found[other]):.1f} µs for a job"
    return Line(name, median(a / b for a, b in pairs), "×", detail, Goal("at most", most))


def bare(url: str) -> float:
    """Microseconds for a job, with nobody who listens."""
    return uvloop.run(drained(Windlass(url)))


def uncounted(url: str) -> float:
    """The same, without a ledger."""
    Ledger.settle = lambda *_: None  # type: ignore[method-assign]
    return uvloop.run(drained(Windlass(url)))


def metered(url: str) -> float:
    """The same, with metrics that are scraped every second."""
    app, metrics = Windlass(url), Metrics()
    app.observe(metrics)
    return uvloop.run(drained(app, metrics))


async def drained(app: Windlass, metrics: Metrics | None = None) -> float:
    ran: list[int] = []

    async def run(user_id: int, email: str) -> None:
        ran.append(user_id)

    app.task(name=nothing.__name__)(run)
    worker = await app.worker()
    used = time.process_time()
    scraping = asyncio.create_task(_scrape(metrics)) if metrics else None
    await worker.start()
    await until(lambda: len(ran) >= NUMBER, 120)
    await worker.stop()
    used = time.process_time() - used
    if scraping is not None:
        scraping.cancel()
        with suppress(asyncio.CancelledError):
            await scraping
    await app.aclose()
    return 1e6 * used / len(ran)


async def _scrape(metrics: Metrics) -> None:
    from windlass.observe.prometheus import text

    while True:
        await asyncio.to_thread(text, metrics.collect())
        await asyncio.sleep(1)


def empty_looks() -> float:
    """Microseconds that an attempt spends on events without listeners."""
    events = Events()
    number = 1_000_000
    whole = timeit(lambda: events.started or events.ended, number=number)
    return (whole - timeit(lambda: None, number=number)) * LOOKS / 2 / number * 1e6


def _scraped(store: str, url: str) -> Line:
    """Milliseconds for one scrape of a server whose store has many queues."""
    isolated(_fill_queues, url)
    key = key_for(url)
    with windlass_server(url) as served:
        address = f"http://127.0.0.1:{served.port}/metrics"
        request = urllib.request.Request(address, headers={"X-API-Key": key})
        times, size = [], 0
        for _ in range(SCRAPES):
            began = time.perf_counter()
            with urllib.request.urlopen(request, timeout=60) as answer:
                size = len(answer.read())
            times.append(time.perf_counter() - began)
    return Line(
        f"{store}: /metrics with {QUEUES} queues",
        1000 * median(times),
        "ms",
        f"{size / 1024:.0f} KiB, the slowest {1000 * max(times):.0f} ms",
        Goal("at most", 100),
    )


def _fill_queues(url: str) -> None:
    app = Windlass(url)
    task = app.task(nothing)
    calls = [
        task.using(queue=f"queue-{n}").call(user_id=n, email="a@example.com")
        for n in range(QUEUES)
        for _ in range(5)
    ]
    app.enqueue_many(calls)
    app.close()
