"""How quickly one worker process runs tasks that do nothing from MariaDB."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import uvloop

from windlass import Windlass
from windlass.testing.work import until

from . import mysql_floor as floor
from .jobs import nothing
from .mysql_server import clear, serving
from .process import isolated
from .table import Goal, Line, ratio

NUMBER = 20_000
BATCH = 1_000
LABELS = ("windlass", "asyncmy")


def lines() -> Iterator[Line]:
    with serving() as url:
        for name, keep, goal in (
            ("mysql: drain, one worker", None, Goal("at least", 0.5)),
            ("mysql: drain, nothing kept", 0.0, None),
        ):
            yield ratio(
                name,
                lambda keep=keep: drain(url, NUMBER, keep),  # type: ignore[misc]
                lambda: isolated(floor.drain, url, NUMBER),
                LABELS,
                goal,
            )


def drain(url: str, number: int, keep: float | None = None) -> float:
    """Jobs per second, from a store that has no others."""
    fresh = clear(url)
    isolated(fill, fresh, number, keep)
    return isolated(drain_from, fresh, number)


def fill(url: str, number: int, keep: float | None = None, delay: float = 0) -> None:
    app = Windlass(url)
    options: dict[str, Any] = {"delay": delay} if keep is None else {"delay": delay, "keep": keep}
    task = app.task(nothing).using(**options)
    for start in range(0, number, BATCH):
        size = min(BATCH, number - start)
        app.enqueue_many([task.call(user_id=123, email="a@example.com") for _ in range(size)])
    app.close()


def drain_from(url: str, number: int) -> float:
    """Jobs per second, until so many have run and the store has all that was run."""
    return uvloop.run(_drain_from(url, number))


async def _drain_from(url: str, number: int) -> float:
    app = Windlass(url)
    ran = 0

    async def run(user_id: int, email: str) -> None:
        nonlocal ran
        ran += 1

    app.task(name=nothing.__name__)(run)
    worker = await app.worker()
    began = time.perf_counter()
    await worker.start()
    await until(lambda: ran >= number, 120)
    await worker.stop()
    rate = ran / (time.perf_counter() - began)
    await app.aclose()
    return rate
