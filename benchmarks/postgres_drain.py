"""How quickly workers run tasks that do nothing from PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import uvloop

from windlass import Windlass
from windlass.testing.work import until

from . import postgres_floor as floor
from .command import worker as command
from .jobs import nothing
from .postgres_server import clear, serving
from .process import isolated
from .processes import completed, workers
from .processes import until as wait_until
from .table import Goal, Line, ratio

NUMBER = 20_000
BATCH = 1_000


def lines() -> Iterator[Line]:
    with serving() as url:
        yield ratio(
            "postgres: drain, one worker",
            lambda: drain(url, NUMBER),
            lambda: isolated(floor.drain, url, NUMBER),
            ("windlass", "asyncpg"),
            Goal("at least", 0.5),
        )
        yield ratio(
            "postgres: drain, nothing kept",
            lambda: drain(url, NUMBER, keep=0),
            lambda: isolated(floor.drain, url, NUMBER),
            ("windlass", "asyncpg"),
            rounds=3,
        )
        yield ratio(
            "postgres: drain, two processes",
            lambda: commanded(url, 2),
            lambda: commanded(url, 1),
            ("two", "one"),
            rounds=3,
        )


def drain(url: str, number: int, keep: float | None = None) -> float:
    """Jobs per second; they are kept as long as by default unless `keep` says otherwise."""
    clear(url)
    isolated(fill, url, number, keep)
    return isolated(drain_from, url, number)


def fill(url: str, number: int, keep: float | None = None, delay: float = 0) -> None:
    app = Windlass(url)
    options: dict[str, Any] = {"delay": delay} if keep is None else {"delay": delay, "keep": keep}
    made = app.task(nothing).using(**options)
    for start in range(0, number, BATCH):
        size = min(BATCH, number - start)
        app.enqueue_many([made.call(user_id=123, email="a@example.com") for _ in range(size)])
    app.close()


def drain_from(url: str, number: int) -> float:
    """Until so many have run and the store has all that was run."""
    return uvloop.run(_drain_from(url, number))


async def _drain_from(url: str, number: int) -> float:
    app = Windlass(url)
    ran: list[int] = []

    async def run(user_id: int, email: str) -> None:
        ran.append(user_id)

    app.task(name=nothing.__name__)(run)
    worker = await app.worker()
    began = time.perf_counter()
    await worker.start()
    await until(lambda: len(ran) >= number, 120)
    await worker.stop()
    rate = len(ran) / (time.perf_counter() - began)
    await app.aclose()
    return rate


def commanded(url: str, processes: int) -> float:
    """Jobs per second, by so many processes that are all up when the queue is let go."""
    clear(url)
    isolated(fill, url, NUMBER)
    app = Windlass(url)
    app.client.block(lambda store: store.pause("default"), "this", "nothing")
    with command(url, "--processes", str(processes)):
        wait_until(lambda: workers(app) == processes)
        app.client.block(lambda store: store.resume("default"), "this", "nothing")
        began = time.perf_counter()
        wait_until(lambda: completed(app) == NUMBER)
        seconds = time.perf_counter() - began
    app.close()
    return NUMBER / seconds
