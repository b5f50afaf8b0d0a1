"""What it costs a worker to be observed, and a server to be scraped.

Processor time of the worker for a job that does nothing, on Redis: the cheapest there is, so that
whatever is added shows. In turns, in one run.
"""

from __future__ import annotations

import asyncio
import gc
import time
import urllib.request
from collections.abc import Iterator
from itertools import cycle
from statistics import median
from tempfile import TemporaryDirectory
from timeit import repeat
from typing import Any

import uvloop

from windlass import Windlass
from windlass.core.model import Transition
from windlass.observe.events import Events
from windlass.observe.exposition import text
from windlass.observe.ledger import Ledger
from windlass.observe.prometheus import Metrics
from windlass.testing.work import until
from windlass.worker.acker import Acker

from .jobs import nothing
from .process import isolated
from .redis_drain import fill
from .redis_server import clear, serving
from .server_process import key_for, windlass_server
from .table import Goal, Line

NUMBER = 10_000
ROUNDS = 25
WARM = 1
"""Rounds that do not count."""

QUEUES = 200
SCRAPES = 15


Costs = dict[str, list[float]]


def lines() -> Iterator[Line]:
    with serving() as url:
        yield from _worker(url)
        yield _scraped("redis", url)
    with TemporaryDirectory() as folder:
        yield _scraped("sqlite", f"sqlite:///{folder}/bench.db")


def _worker(url: str) -> Iterator[Line]:
    found = isolated(drains, url)
    bare, metered = found["bare"], found["metered"]
    yield Line(
        "observe: a worker with metrics",
        median(a / b for a, b in zip(metered, bare, strict=True)),
        "×",
        f"with {median(metered):.1f} µs, without {median(bare):.1f} µs for a job",
        Goal("at most", 1.10),
    )
    yield _share("observe: counting for the statistics", found["counting"][0], found, 1.02)
    yield _share("observe: events that nobody listens to", empty_looks(), found, 1.01)


def _share(name: str, part: float, found: Costs, most: float) -> Line:
    """What a part of each job costs, for what is too small to be seen in the whole."""
    job = median(found["bare"])
    detail = f"{1000 * part:.0f} ns of {job:.1f} µs"
    return Line(name, job / (job - part), "×", detail, Goal("at most", most))


def drains(url: str) -> Costs:
    """Microseconds for a job, each way in turn: in one process, or the heap would decide."""
    found: Costs = {"bare": [], "metered": []}
    turns = Turns()
    for turn in range(ROUNDS):
        # Each way goes first as often as the other.
        for way in ("bare", "metered")[:: 1 if turn % 2 else -1]:
            clear(url)
            fill(url, NUMBER)
            metrics = Metrics() if way == "metered" else None
            found[way].append(uvloop.run(drained(url, metrics)))
    return {way: costs[WARM:] for way, costs in found.items()} | {"counting": [turns.difference()]}


class Turns:
    """Has every other batch counted, and knows what that takes.

    All that becomes of a batch is timed: whoever touches a job first pays for its memory, and
    without a ledger that is whoever frees it.
    """

    def __init__(self) -> None:
        self._spent = {True: 0.0, False: 0.0}
        self._jobs = {True: 0, False: 0}
        settle, count, turn = Acker._settle, Ledger.settle, cycle((True, False))

        def timed(acker: Acker, batch: list[Transition], *rest: Any) -> None:
            counted = next(turn)
            Ledger.settle = count if counted else _nothing  # type: ignore[assignment, method-assign]
            began = time.thread_time()
            settle(acker, batch, *rest)
            self._spent[counted] += time.thread_time() - began
            self._jobs[counted] += len(batch)

        Acker._settle = timed  # type: ignore[assignment, method-assign]

    def difference(self) -> float:
        """Microseconds for a job."""
        with_it, without = (1e6 * self._spent[way] / self._jobs[way] for way in (True, False))
        return with_it - without


def _nothing(*_: object) -> None: ...


async def drained(url: str, metrics: Metrics | None) -> float:
    """Microseconds for a job; metrics are scraped every second."""
    app = Windlass(url)
    if metrics is not None:
        app.observe(metrics)
    ran: list[int] = []

    async def run(user_id: int, email: str) -> None:
        ran.append(user_id)

    app.task(name=nothing.__name__)(run)
    worker = await app.worker()
    gc.collect()
    used = time.process_time()
    scraping = asyncio.create_task(_scrape(metrics)) if metrics else None
    await worker.start()
    await until(lambda: len(ran) >= NUMBER, 120)
    await worker.stop()
    used = time.process_time() - used
    if scraping is not None:
        scraping.cancel()
    await app.aclose()
    return 1e6 * used / len(ran)


async def _scrape(metrics: Metrics) -> None:
    while True:
        await asyncio.to_thread(text, metrics.collect())
        await asyncio.sleep(1)


def empty_looks() -> float:
    """Microseconds that an attempt spends on events without listeners: its start and its end."""
    events, number = Events(), 200_000
    with_looks = min(repeat(lambda: events.started or events.ended, number=number))
    return 1e6 * (with_looks - min(repeat(lambda: None, number=number))) / number


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
