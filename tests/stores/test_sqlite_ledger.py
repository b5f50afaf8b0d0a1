"""Attempts, counts and orders in a SQLite file: each query has its index, damage hides nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from windlass.core.attempts import AttemptRecord
from windlass.stores.contract import Store
from windlass.stores.sqlite.database import STORE

HOUR = 3_600_000

LOOKS = {
    "attempts": ["INDEX sqlite_autoindex_windlass_logs_1 (job=?)"],
    "trim_attempts": [
        "INDEX sqlite_autoindex_windlass_logs_1 (job=? AND fence<?)",
        "COVERING INDEX sqlite_autoindex_windlass_logs_1 (job=?)",
    ],
    "drop_attempts": ["INDEX sqlite_autoindex_windlass_logs_1 (job=?)"],
    "prune_attempts": [
        "INTEGER PRIMARY KEY (rowid=?)",
        "COVERING INDEX windlass_logs_until (until<?)",
    ],
    "stats": ["PRIMARY KEY (queue=? AND step=? AND at>?)"],
    "prune_stats": [
        "PRIMARY KEY (queue=? AND step=? AND at=? AND name=?)",
        "COVERING INDEX windlass_stats_until (until<?)",
    ],
    "order": ["PRIMARY KEY (worker=?)"],
}


@pytest.mark.parametrize("name", LOOKS)
async def test_it_looks_by_an_index(store: Store, path: Path, name: str) -> None:
    query = STORE.queries()[name]
    named = {"ids": "[]", "names": "[]", "now": 1, "limit": 1, "step": 1, "since": 1}
    asked = named | {"id": "w", "expires_at": 1} if ":" in query else ["a", 1][: query.count("?")]
    if "?2" in query:
        asked = ["a", 1]
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", asked).fetchall()
    looks = [step.partition(" USING ")[2] for *_, step in plan if "windlass" in step]
    assert sorted(looks) == sorted(LOOKS[name])


async def test_a_damaged_record_hides_no_other(store: Store, path: Path) -> None:
    records = [AttemptRecord("a", "default", n, n, "w", n) for n in (1, 2)]
    await store.note_attempts(records, HOUR)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE windlass_logs SET record = x'c1' WHERE fence = 1")
    assert await store.attempts(["a"]) == {"a": records[1:]}


async def test_a_prune_drops_more_than_one_batch_of_what_is_no_job(
    store: Store, path: Path
) -> None:
    await store.note_attempts([AttemptRecord(f"job-{n}", "q", 1, 1, "w", 1) for n in range(50)], -1)
    await store.prune(5)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM windlass_logs").fetchone() == (0,)
