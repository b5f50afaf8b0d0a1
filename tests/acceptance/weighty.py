"""A worker for jobs with large payloads: `weighty.py URL` runs them all, and
tells how much memory it took."""

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from windlass import Batch, Task, Windlass
from windlass.config import WorkerSettings

MEGABYTE = 1_000_000


class Jobs(NamedTuple):
    """The app and its tasks."""

    app: Windlass
    quick: Task[..., Any, Any]
    heavy: Task[..., Any, Any]
    together: Task[..., Any, Any]
    answers: Task[..., Any, Any]


def jobs(url: str) -> Jobs:
    app = Windlass(url)

    @app.task
    async def quick() -> None: ...

    @app.task
    async def heavy(load: bytes) -> int:
        await asyncio.sleep(0.05)
        return len(load)

    @app.task(batch=Batch(size=100, max_delay=1))
    async def together(loads: list[bytes]) -> list[int]:
        await asyncio.sleep(0.05)
        return [len(load) for load in loads]

    @app.task
    async def answers() -> bytes:
        return os.urandom(MEGABYTE)

    return Jobs(app, quick, heavy, together, answers)


async def work(url: str) -> None:
    app = jobs(url).app
    settings = WorkerSettings(concurrency=100, rescue_interval=0.1)
    await (await app.worker(settings)).run(burst=True)
    await app.aclose()


def peak() -> int:
    """The most memory that this process has had, in MiB. Not `getrusage`: that has the parent's."""
    status = Path("/proc/self/status").read_text()
    [kilobytes] = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(kilobytes) // 1024


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1]))
    print(peak())  # noqa: T201
