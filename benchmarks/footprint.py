"""What an idle worker takes of the memory, and a waiting job of the disk."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop

from windlass import Windlass
from windlass.worker.memory import MIB, resident

from .drain import fill
from .process import isolated
from .table import Line

JOBS = 100_000


def lines() -> Iterator[Line]:
    bare, idle = isolated(resident), isolated(idle_worker)
    yield Line(
        "memory of an idle worker",
        idle / MIB,
        "MiB",
        f"of which {bare / MIB:.1f} MiB are Python with this benchmark's imports",
    )
    with TemporaryDirectory() as folder:
        isolated(fill, folder, JOBS)
        path = Path(folder, "bench.db")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(truncate)")
        size = path.stat().st_size / JOBS
    yield Line("disk for a waiting job", size, "bytes", f"{JOBS:,} jobs with one small argument")


def idle_worker() -> int:
    return uvloop.run(_idle_worker())


async def _idle_worker() -> int:
    with TemporaryDirectory() as folder:
        app = Windlass(f"sqlite:///{folder}/bench.db")

        @app.task
        async def nothing() -> None: ...

        worker = await app.worker()
        await worker.start()
        await (await nothing.aenqueue()).aresult(timeout=60)
        await asyncio.sleep(1)
        found = resident()
        await worker.stop()
        await app.aclose()
        return found
