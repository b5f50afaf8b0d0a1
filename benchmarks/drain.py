"""How quickly one worker process runs tasks that do nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import uvloop

from windlass import Windlass
from windlass.testing.work import until

from . import floor
from .process import isolated
from .table import Goal, Line, ratio

NUMBER = 20_000
BATCH = 10_000


def lines() -> Iterator[Line]:
    yield ratio(
        "drain, one worker",
        lambda: drain(NUMBER),
        lambda: isolated(floor.drain, NUMBER),
        ("windlass", "sqlite3"),
        Goal("at least", 0.25),
    )


def drain(number: int) -> float:
    """Jobs per second, from a store that has no others."""
    with TemporaryDirectory() as folder:
        isolated(fill, folder, number)
        return isolated(drain_from, folder, number)


def fill(folder: str, number: int) -> None:
    app = Windlass(f"sqlite:///{folder}/bench.db")

    @app.task
    async def nothing(number: int) -> None: ...

    for start in range(0, number, BATCH):
        size = min(BATCH, number - start)
        app.enqueue_many(nothing.call(n) for n in range(start, start + size))
    app.close()


def drain_from(folder: str, number: int) -> float:
    """Jobs per second, until so many have run and the store has all that was run."""
    return uvloop.run(_drain_from(folder, number))


async def _drain_from(folder: str, number: int) -> float:
    app = Windlass(f"sqlite:///{folder}/bench.db")
    ran = 0

    @app.task
    async def nothing(number: int) -> None:
        nonlocal ran
        ran += 1

    worker = await app.worker()
    began = time.perf_counter()
    await worker.start()
    await until(lambda: ran >= number, 120)
    await worker.stop()
    rate = ran / (time.perf_counter() - began)
    await app.aclose()
    return rate
