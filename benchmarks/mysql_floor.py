"""What asyncmy can do alone: a table with an index, no queue.

On uvloop, in one process. No task queue that uses this driver can be as quick; the ratio to
it says what ours costs.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import asyncmy
import msgspec
import uvloop

from windlass.core.ids import new_id

from .mysql_server import clear, serving
from .process import isolated
from .table import Line

MANY = 20_000
SINGLE = 2_000
BATCH = 100

PAYLOAD = msgspec.msgpack.encode({"user_id": 123, "email": "a@example.com"})

TABLE = """
CREATE TABLE floor (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  state ENUM('pending', 'active') NOT NULL,
  payload BLOB NOT NULL,
  KEY floor_pending (state, id)
) ENGINE = InnoDB
"""
INSERT = "INSERT INTO floor (id, state, payload) VALUES (%s, %s, %s)"
PICK = """
SELECT id, payload FROM floor
WHERE state = 'pending' ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
"""
TAKE = "UPDATE floor SET state = 'active' WHERE id IN %s"
DELETE = "DELETE FROM floor WHERE id IN %s"


def lines() -> Iterator[Line]:
    with serving() as url:
        for name, measure, number in (
            ("asyncmy: INSERT, one by one", single, SINGLE),
            (f"asyncmy: INSERT of {BATCH}", many, MANY),
            (f"asyncmy: claim {BATCH} by SKIP LOCKED, DELETE {BATCH}", drain, MANY),
        ):
            yield Line(name, isolated(measure, url, number), "/s")


def single(url: str, number: int) -> float:
    """Rows per second, each in a statement of its own."""
    return uvloop.run(_insert(url, number, 1))


def many(url: str, number: int) -> float:
    """Rows per second, a hundred in each statement."""
    return uvloop.run(_insert(url, number, BATCH))


def drain(url: str, number: int) -> float:
    """Rows per second: a hundred are claimed in one transaction and deleted in another."""
    return uvloop.run(_drain(url, number))


async def _insert(url: str, number: int, batch: int) -> float:
    async with _cursor(clear(url)) as cursor:
        await cursor.execute(TABLE)
        began = time.perf_counter()
        await _fill(cursor, number, batch)
        return number / (time.perf_counter() - began)


async def _fill(cursor: Any, number: int, batch: int) -> None:
    for _ in range(0, number, batch):
        await cursor.executemany(INSERT, [(new_id(), "pending", PAYLOAD) for _ in range(batch)])


async def _drain(url: str, number: int) -> float:
    async with _cursor(clear(url)) as cursor:
        await cursor.execute(TABLE)
        await _fill(cursor, number, BATCH)
        began = time.perf_counter()
        while ids := await _claim(cursor):
            await cursor.execute(DELETE, (ids,))
        return number / (time.perf_counter() - began)


async def _claim(cursor: Any) -> Sequence[str]:
    await cursor.execute("BEGIN")
    await cursor.execute(PICK, (BATCH,))
    ids = tuple(id for id, _ in await cursor.fetchall())
    if ids:
        await cursor.execute(TAKE, (ids,))
    await cursor.execute("COMMIT")
    return ids


@asynccontextmanager
async def _cursor(url: str) -> AsyncIterator[Any]:
    parts = urlsplit(url)
    async with asyncmy.connect(
        host=parts.hostname,
        port=parts.port,
        user=parts.username,
        database=parts.path[1:],
        autocommit=True,
        init_command="SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    ) as connection:
        yield connection.cursor()
