"""What it costs a worker to log as in production: plain lines of level INFO, into a file.

Processor time of the worker for a job that does nothing, as in `observe`; in turns, in one run,
with lines of single jobs and with failures alone. By far more jobs end in a second than are told.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import uvloop

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.observe.console import Console
from windlass.observe.formats import PlainFormatter
from windlass.testing.work import until

from .drain import fill
from .process import isolated
from .table import Goal, Line

NUMBER = 20_000
ROUNDS = 25
WARM = 1
"""Rounds that do not count."""

Costs = dict[str, list[float]]


def lines() -> Iterator[Line]:
    found = isolated(drains)
    told, silent = found["told"], found["silent"]
    rate = NUMBER / median(found["seconds"])
    yield Line(
        "logs: a worker that logs its jobs",
        median(a / b for a, b in zip(told, silent, strict=True)),
        "×",
        f"with {median(told):.1f} µs, without {median(silent):.1f} µs for a job, "
        f"{rate:,.0f} jobs/s, {median(found['lines']):.0f} lines for {NUMBER:,} jobs",
        Goal("at most", 1.03),
    )


def drains() -> Costs:
    """Microseconds for a job, each way in turn: in one process, or the heap would decide."""
    found: Costs = {"told": [], "silent": [], "seconds": [], "lines": []}
    with TemporaryDirectory() as folder:
        written = Path(folder, "worker.log")
        for turn in range(ROUNDS + WARM):
            # Each way goes first as often as the other.
            for way in ("told", "silent")[:: 1 if turn % 2 else -1]:
                cost, seconds, lines = _logged(written, WorkerSettings().log_jobs, way == "told")
                if turn >= WARM:
                    found[way].append(cost)
                    if way == "told":
                        found["seconds"].append(seconds)
                        found["lines"].append(lines)
    return found


def _logged(written: Path, most: int, told: bool) -> tuple[float, float, int]:
    """Microseconds of a job, seconds of all, and how many lines there were."""
    logger = logging.getLogger()
    with written.open("w") as stream, TemporaryDirectory() as folder:
        fill(folder, NUMBER)
        console = Console(PlainFormatter())
        console.setStream(stream)
        logger.addHandler(console)
        logger.setLevel(logging.INFO)
        try:
            cost, seconds = uvloop.run(_drained(folder, most if told else 0))
        finally:
            logger.removeHandler(console)
    return cost, seconds, written.read_text().count("\n")


async def _drained(folder: str, most: int) -> tuple[float, float]:
    app = Windlass(f"sqlite:///{folder}/bench.db")
    ran = 0

    @app.task
    async def nothing(number: int) -> None:
        nonlocal ran
        ran += 1

    worker = await app.worker(WorkerSettings(log_jobs=most))
    gc.collect()
    used, began = time.process_time(), time.perf_counter()
    await worker.start()
    await until(lambda: ran >= NUMBER, 120)
    await worker.stop()
    used, seconds = time.process_time() - used, time.perf_counter() - began
    await app.aclose()
    return 1e6 * used / ran, seconds
