"""Whether a steady load leaves more and more dead rows behind.

A producer and a worker at a fixed rate, in front of a backlog; looked at every few seconds. For
minutes of it: `SECONDS=300 python -m benchmarks postgres_vacuum`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

import uvloop

from windlass import Windlass

from .jobs import nothing
from .postgres_server import clear, row, serving
from .process import SPAWN
from .table import Goal, Line

SECONDS = float(os.environ.get("SECONDS", "30"))
RATE = 1_000
BATCH = 100
LOOK = 2.0

SIZES = """
SELECT pg_relation_size('windlass_jobs'), pg_indexes_size('windlass_jobs'),
       pg_relation_size('windlass_deltas'), (SELECT count(*) FROM windlass_deltas),
       (SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE relname = 'windlass_jobs'),
       (SELECT sum(autovacuum_count) FROM pg_stat_user_tables WHERE relname = 'windlass_jobs')
"""


class Sizes(NamedTuple):
    """Bytes, and numbers of rows and of vacuums."""

    table: int
    indexes: int
    deltas: int
    delta_rows: int
    dead: int
    vacuums: int


def lines() -> Iterator[Line]:
    with serving("autovacuum_naptime=5s") as url:
        seen = measure(url)
    half = len(seen) // 2
    first, last = max(each.table for each in seen[:half]), max(each.table for each in seen[half:])
    jobs = f"{RATE:,} jobs a second for {SECONDS:g} s"
    yield Line(
        "postgres: live table at the end against its first half",
        last / max(first, 1),
        "×",
        f"{jobs}; {last / 1e6:.1f} MB, its indexes {seen[-1].indexes / 1e6:.1f} MB",
        Goal("at most", 2),
    )
    yield Line(
        "postgres: most dead rows at a time",
        max(each.dead for each in seen),
        "",
        f"{jobs}; {seen[-1].vacuums} vacuums",
    )
    yield Line(
        "postgres: most deltas at a time",
        max(each.delta_rows for each in seen),
        "",
        f"{jobs}; their table {seen[-1].deltas / 1e6:.2f} MB",
        Goal("at most", 5_000),
    )


def measure(url: str) -> list[Sizes]:
    clear(url)
    worker = SPAWN.Process(target=serve, args=(url,), daemon=True)
    producer = SPAWN.Process(target=produce, args=(url,), daemon=True)
    for process in (worker, producer):
        process.start()
    seen: list[Sizes] = []
    time.sleep(LOOK)
    try:
        while producer.is_alive():
            seen.append(Sizes(*(value or 0 for value in row(url, SIZES))))
            time.sleep(LOOK)
    finally:
        for process in (worker, producer):
            process.terminate()
            process.join()
    return seen


def serve(url: str) -> None:
    uvloop.run(_serve(url))


async def _serve(url: str) -> None:
    app = Windlass(url)
    app.task(nothing)
    await (await app.worker()).run()
    await app.aclose()


def produce(url: str) -> None:
    uvloop.run(_produce(url))


async def _produce(url: str) -> None:
    app = Windlass(url)
    task = app.task(nothing)
    began = time.monotonic()
    batches = int(SECONDS * RATE / BATCH)
    for n in range(batches):
        await app.aenqueue_many(
            [task.call(user_id=123, email="a@example.com") for _ in range(BATCH)]
        )
        await asyncio.sleep(max(0, began + (n + 1) * BATCH / RATE - time.monotonic()))
    await app.aclose()
