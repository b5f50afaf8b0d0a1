"""What `sqlite3` alone can do: a table of numbers and payloads, one connection, no queue.

No task queue can be as quick as this; the ratio to it says what ours costs.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

BATCH = 100
PAYLOAD = b"x" * 60

INSERT = "INSERT INTO jobs VALUES (?, 0, ?)"
CLAIM = """
UPDATE jobs SET state = 1
WHERE id IN (SELECT id FROM jobs WHERE state = 0 ORDER BY id LIMIT ?)
RETURNING id
"""
DELETE = "DELETE FROM jobs WHERE id = ?"


def insert(number: int) -> float:
    """Rows per second, a hundred in each transaction."""
    with _table() as connection:
        return _fill(connection, number)


def insert_single(number: int) -> float:
    """Rows per second, each in a transaction of its own."""
    with _table() as connection:
        began = time.perf_counter()
        for id in range(number):
            with _transaction(connection):
                connection.execute(INSERT, (id, PAYLOAD))
        return number / (time.perf_counter() - began)


def drain(number: int) -> float:
    """Rows per second: claim a hundred, commit, delete them, commit."""
    with _table() as connection:
        _fill(connection, number)
        began = time.perf_counter()
        drained = 0
        while drained < number:
            with _transaction(connection):
                ids = connection.execute(CLAIM, (BATCH,)).fetchall()
            with _transaction(connection):
                connection.executemany(DELETE, ids)
            drained += len(ids)
        return number / (time.perf_counter() - began)


def _fill(connection: sqlite3.Connection, number: int) -> float:
    rows = [(id, PAYLOAD) for id in range(number)]
    began = time.perf_counter()
    for start in range(0, number, BATCH):
        with _transaction(connection):
            connection.executemany(INSERT, rows[start : start + BATCH])
    return number / (time.perf_counter() - began)


@contextmanager
def _table() -> Iterator[sqlite3.Connection]:
    with TemporaryDirectory() as folder:
        path = Path(folder, "floor.db")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state INTEGER, payload BLOB)"
            )
            connection.execute("CREATE INDEX ready ON jobs (state, id)")
            yield connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")
