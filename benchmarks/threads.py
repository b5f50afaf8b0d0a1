"""How quickly one worker runs blocking tasks in threads, against async ones on its loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import uvloop

from windlass import Windlass
from windlass.testing.work import until

from .drain import NUMBER, drain, fill
from .process import isolated
from .table import Goal, Line, ratio


def lines() -> Iterator[Line]:
    yield ratio(
        "drain through threads",
        lambda: drain_through_threads(NUMBER),
        lambda: drain(NUMBER),
        ("threads", "async"),
        Goal("at least", 0.4),
    )


def drain_through_threads(number: int) -> float:
    """Jobs per second, from a store that has no others."""
    with TemporaryDirectory() as folder:
        isolated(fill, folder, number)
        return isolated(drain_from, folder, number)


def drain_from(folder: str, number: int) -> float:
    """Jobs per second, until so many have run and the store has all that was run."""
    return uvloop.run(_drain_from(folder, number))


async def _drain_from(folder: str, number: int) -> float:
    app = Windlass(f"sqlite:///{folder}/bench.db")
    ran: list[int] = []

    @app.task
    def nothing(number: int) -> None:
        ran.append(number)

    worker = await app.worker()
    began = time.perf_counter()
    await worker.start()
    await until(lambda: len(ran) >= number, 120)
    await worker.stop()
    rate = len(ran) / (time.perf_counter() - began)
    await app.aclose()
    return rate
