"""What asyncpg can do alone: a table with an index, no queue.

On uvloop, in one process, with prepared statements. No task queue that uses this driver can be
as quick; the ratio to it says what ours costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

import asyncpg
import msgspec
import uvloop

from windlass.core.ids import new_id

from .postgres_server import clear, serving
from .process import isolated
from .table import Line

MANY = 20_000
SINGLE = 2_000
BATCH = 100
ROUNDS = 3

ARGUMENTS = {"user_id": 123, "email": "a@example.com"}
PAYLOAD = msgspec.msgpack.encode(ARGUMENTS)

TABLE = """
CREATE TABLE IF NOT EXISTS floor (
  id text COLLATE "C" PRIMARY KEY, state text NOT NULL, payload bytea NOT NULL
);
CREATE INDEX IF NOT EXISTS floor_pending ON floor (id) WHERE state = 'pending'
"""
ONE = "INSERT INTO floor VALUES ($1, 'pending', $2)"
INSERT = (
    "INSERT INTO floor SELECT id, 'pending', p FROM unnest($1::text[], $2::bytea[]) AS g (id, p)"
)
CLAIM = """
UPDATE floor SET state = 'active' WHERE id IN (
  SELECT id FROM floor WHERE state = 'pending' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
) RETURNING id, payload
"""
DELETE = "DELETE FROM floor WHERE id = ANY ($1::text[])"


def lines() -> Iterator[Line]:
    measures: tuple[tuple[str, Callable[[str, int], float], int], ...] = (
        ("asyncpg: INSERT, one by one", single, SINGLE),
        (f"asyncpg: INSERT by unnest, {BATCH} at a time", insert, MANY),
        (f"asyncpg: claim and delete {BATCH} at a time", drain, MANY),
    )
    with serving() as url:
        for name, measure, number in measures:
            yield Line(name, median(isolated(measure, url, number) for _ in range(ROUNDS)), "/s")


def single(url: str, number: int) -> float:
    """Rows per second, each awaited before the next."""
    clear(url)
    return uvloop.run(_single(url, number))


def insert(url: str, number: int) -> float:
    """Rows per second, a hundred in each statement."""
    clear(url)
    return uvloop.run(_insert(url, number))


def drain(url: str, number: int) -> float:
    """Rows per second that are claimed and deleted, a hundred in each statement."""
    clear(url)
    return uvloop.run(_drain(url, number))


async def _single(url: str, number: int) -> float:
    connection = await _connect(url)
    await connection.execute(ONE, new_id(), PAYLOAD)
    began = time.perf_counter()
    for _ in range(number):
        await connection.execute(ONE, new_id(), PAYLOAD)
    seconds = time.perf_counter() - began
    await connection.close()
    return number / seconds


async def _insert(url: str, number: int) -> float:
    connection = await _connect(url)
    await _fill(connection, BATCH)
    began = time.perf_counter()
    await _fill(connection, number)
    seconds = time.perf_counter() - began
    await connection.close()
    return number / seconds


async def _drain(url: str, number: int) -> float:
    connection = await _connect(url)
    await _fill(connection, number)
    began = time.perf_counter()
    drained = 0
    while drained < number:
        rows = await connection.fetch(CLAIM, BATCH)
        await connection.execute(DELETE, [row[0] for row in rows])
        drained += len(rows)
    seconds = time.perf_counter() - began
    await connection.close()
    return number / seconds


async def _connect(url: str) -> asyncpg.Connection[asyncpg.Record]:
    connection: asyncpg.Connection[asyncpg.Record] = await asyncpg.connect(url)
    await connection.execute(TABLE)
    return connection


async def _fill(connection: asyncpg.Connection[asyncpg.Record], number: int) -> None:
    for _ in range(0, number, BATCH):
        ids = [new_id() for _ in range(BATCH)]
        await connection.execute(INSERT, ids, [PAYLOAD] * BATCH)
