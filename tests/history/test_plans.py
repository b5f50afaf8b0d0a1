"""Every search goes along an index, from where the page before ended: SQLite says how it will."""

import re
import sqlite3
from pathlib import Path

import pytest

from windlass.history.open import open_archive, schema

QUERIES = schema("sqlite").queries()
SEARCHES = [name for name in QUERIES if name.startswith(("edge_", "find_"))]


@pytest.fixture
async def raw(tmp_path: Path) -> sqlite3.Connection:
    await open_archive(f"sqlite:///{tmp_path}/history.db").migrate()
    return sqlite3.connect(tmp_path / "history.db")


def plan(raw: sqlite3.Connection, name: str) -> str:
    query = QUERIES[name]
    arguments = dict.fromkeys(re.findall(r":([a-z_]+)", query), 0)
    rows = raw.execute(f"EXPLAIN QUERY PLAN {query}", arguments).fetchall()
    return "; ".join(row[3] for row in rows)


@pytest.mark.parametrize("name", SEARCHES)
async def test_a_search_begins_after_the_job_before_and_sorts_nothing(
    name: str, raw: sqlite3.Connection
) -> None:
    _, scope, sort, way = name.split("_")
    column = {"finished": "ended_at", "attempts": "attempt", "created": "created_at"}.get(
        sort, sort
    )
    past = ">" if way == "up" else "<"
    said = plan(raw, name)
    assert f"({column},id){past}(?,?)" in said, said
    assert (f"{scope}=?" in said) == bool(scope), said
    assert "TEMP B-TREE" not in said
    raw.close()


@pytest.mark.parametrize("name", ["get", "attempts", "oldest", "drop_job", "drop_attempts"])
async def test_nothing_else_reads_the_whole_table(name: str, raw: sqlite3.Connection) -> None:
    query = QUERIES[name]
    positions = (0,) * query.count("?") or dict.fromkeys(re.findall(r":([a-z_]+)", query), 0)
    rows = raw.execute(f"EXPLAIN QUERY PLAN {query}", positions).fetchall()
    assert not [row[3] for row in rows if row[3].startswith("SCAN") and "CONSTANT" not in row[3]]
    raw.close()
