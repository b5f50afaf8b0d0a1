"""How long a job waits that was enqueued in a user's transaction, from the commit to its start.

By each driver that a transaction may be of, for an idle worker of another process.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from statistics import quantiles
from typing import Any

import asyncpg
import psycopg
import sqlalchemy
import uvloop
from sqlalchemy.ext.asyncio import create_async_engine

from tests.servers import pgbouncer, postgres
from windlass import Windlass

from .latency import started, worker_beside
from .table import Goal, Line

JOBS = 200
PAUSE = (0.005, 0.06)

Way = Callable[[str], AbstractAsyncContextManager[Any]]
"""A connection to the server of a URL; `begin` and `commit` as the driver has them."""


def lines() -> Iterator[Line]:
    with postgres.serve() as server:
        for name, way in WAYS.items():
            yield shown(name, measure(server.url, server.url, way))
        with pgbouncer.serve(server) as pooler:
            waits = measure(server.url, pooler.url, with_asyncpg)
            yield shown("asyncpg, the worker behind PgBouncer", waits)


def shown(name: str, waits: Sequence[float]) -> Line:
    cuts = quantiles(waits, n=100)
    detail = f"p50 {cuts[49]:.1f} ms, longest {max(waits):.1f} ms, {len(waits)} jobs"
    return Line(
        f"postgres: from a commit by {name} to the job's start, p99",
        cuts[98],
        "ms",
        detail,
        Goal("at most", 50),
    )


@asynccontextmanager
async def with_asyncpg(url: str) -> Any:
    connection = await asyncpg.connect(url, statement_cache_size=0)
    held: list[Any] = []

    async def begin() -> Any:
        held[:] = [connection.transaction()]
        await held[0].start()
        return connection

    async def commit() -> None:
        await held[0].commit()

    yield begin, commit
    await connection.close()


@asynccontextmanager
async def with_psycopg(url: str) -> Any:
    connection = await psycopg.AsyncConnection.connect(url)

    async def begin() -> Any:
        return connection

    yield begin, connection.commit
    await connection.close()


@asynccontextmanager
async def with_blocking_psycopg(url: str) -> Any:
    connection = psycopg.connect(url)

    async def begin() -> Any:
        return connection

    async def commit() -> None:
        connection.commit()

    yield begin, commit
    connection.close()


@asynccontextmanager
async def with_sqlalchemy(url: str) -> Any:
    engine = create_async_engine(sqlalchemy.make_url(url).set(drivername="postgresql+asyncpg"))
    async with engine.connect() as connection:

        async def begin() -> Any:
            await connection.begin()
            return connection

        yield begin, connection.commit
    await engine.dispose()


WAYS: dict[str, Way] = {
    "asyncpg": with_asyncpg,
    "psycopg": with_psycopg,
    "blocking psycopg": with_blocking_psycopg,
    "SQLAlchemy": with_sqlalchemy,
}


def measure(url: str, worker_url: str, way: Way) -> list[float]:
    with worker_beside(worker_url):
        return uvloop.run(_measure(url, way))


async def _measure(url: str, way: Way) -> list[float]:
    app = Windlass(url)
    task = app.task(started)
    await (await task.aenqueue()).aresult(timeout=60)
    waits: list[float] = []
    async with way(url) as (begin, commit):
        for _ in range(JOBS):
            await asyncio.sleep(random.uniform(*PAUSE))
            mine = task.using(connection=await begin())
            blocks = way is with_blocking_psycopg
            handle = await (asyncio.to_thread(mine.enqueue) if blocks else mine.aenqueue())
            before = time.monotonic_ns()
            await commit()
            waits.append((await handle.aresult(timeout=60) - before) / 1e6)
    await app.aclose()
    return waits
