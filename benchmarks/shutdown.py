"""How long a worker takes to stop when its jobs would go on for an hour."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory

import uvloop

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import JobQuery
from windlass.core.states import State
from windlass.testing.work import until

from .process import isolated
from .table import Goal, Line

JOBS = 100
LIMIT = 1.0


def lines() -> Iterator[Line]:
    seconds, unharmed = isolated(stop)
    yield Line(
        f"stop with {JOBS} sleeping jobs, {LIMIT:g} s allowed",
        seconds - LIMIT,
        "s more",
        "they would sleep for an hour",
        Goal("at most", 1),
    )
    yield Line(
        "of these, released with no attempt lost",
        unharmed,
        "jobs",
        "pending again, as if never claimed",
        Goal("at least", JOBS),
    )


def stop() -> tuple[float, int]:
    """The seconds that it took, and how many jobs were pending again as if never claimed."""
    return uvloop.run(_stop())


async def _stop() -> tuple[float, int]:
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")
        running = 0

        @app.task
        async def sleep() -> None:
            nonlocal running
            running += 1
            await asyncio.sleep(3600)

        await app.aenqueue_many(sleep.call() for _ in range(JOBS))
        worker = await app.worker(WorkerSettings(concurrency=JOBS, shutdown_timeout=LIMIT))
        await worker.start()
        await until(lambda: running == JOBS)
        began = time.perf_counter()
        await worker.stop()
        seconds = time.perf_counter() - began
        store = await app.client.store()
        page = await store.find(JobQuery(states=(State.PENDING,), limit=JOBS))
        await app.aclose()
        return seconds, sum(job.attempt == 0 for job in page.jobs)
