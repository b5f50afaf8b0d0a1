"""How quickly jobs are accepted, from blocking code."""

from __future__ import annotations

import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from windlass import Windlass

from . import floor
from .process import isolated
from .table import Goal, Line, ratio

MANY = 20_000
SINGLE = 3_000
BATCH = 1_000


def lines() -> Iterator[Line]:
    yield ratio(
        "enqueue_many",
        lambda: isolated(enqueue_many, MANY),
        lambda: isolated(floor.insert, MANY),
        ("windlass", "sqlite3"),
        Goal("at least", 0.3),
    )
    yield ratio(
        "enqueue, one by one",
        lambda: isolated(enqueue, SINGLE),
        lambda: isolated(floor.insert_single, SINGLE),
        ("windlass", "sqlite3"),
        Goal("at least", 0.3),
    )


def enqueue_many(number: int) -> float:
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")

        @app.task
        async def nothing(number: int) -> None: ...

        nothing.enqueue(0)
        began = time.perf_counter()
        for start in range(0, number, BATCH):
            app.enqueue_many(nothing.call(n) for n in range(start, start + BATCH))
        rate = number / (time.perf_counter() - began)
        app.close()
        return rate


def enqueue(number: int) -> float:
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")

        @app.task
        async def nothing(number: int) -> None: ...

        nothing.enqueue(0)
        began = time.perf_counter()
        for n in range(number):
            nothing.enqueue(n)
        rate = number / (time.perf_counter() - began)
        app.close()
        return rate
