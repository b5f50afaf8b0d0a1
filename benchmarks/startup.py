"""How soon `windlass worker` runs its first job, and what it costs while there is none."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from windlass import Windlass

from .command import worker
from .jobs import moment
from .table import Goal, Line

ROUNDS = 5
IDLE = 10.0


def lines() -> Iterator[Line]:
    rounds = [first_job() for _ in range(ROUNDS)]
    yield Line(
        "from the command to the first job",
        median(rounds),
        "s",
        f"{ROUNDS} starts, longest {max(rounds):.2f} s",
        Goal("at most", 1),
    )
    yield Line(
        "processor time of an idle worker",
        100 * idle(IDLE) / IDLE,
        "% of a core",
        f"over {IDLE:g} s",
        Goal("at most", 1),
    )


def first_job() -> float:
    """Seconds from the start of the process to that of a job that was waiting for it."""
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")
        job = app.task(moment).enqueue()
        began = time.monotonic_ns()
        with worker(app.url):
            started = job.result(timeout=60)
        app.close()
        return (started - began) / 1e9


def idle(seconds: float) -> float:
    """Seconds of processor time that a worker uses in so many seconds without a job."""
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")
        job = app.task(moment).enqueue()
        with worker(app.url) as process:
            job.result(timeout=60)
            app.close()
            time.sleep(2)
            before = used(process.pid)
            time.sleep(seconds)
            return used(process.pid) - before


def used(pid: int) -> float:
    """Seconds of processor time of a process so far, as Linux counts them."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
