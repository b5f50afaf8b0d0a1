"""Looks at queues and lanes in a SQLite file: what they cost is bounded."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from windlass.core.lane import Lane, LaneStats
from windlass.core.model import Spec
from windlass.stores.contract import Store
from windlass.stores.sql import survey
from windlass.stores.sqlite.database import STORE
from windlass.testing.jobs import put

SLOT = Spec("work", b"", lane=Lane("l", slots=1))


async def test_the_oldest_are_found_by_the_index_of_the_line(store: Store, path: Path) -> None:
    query, asked = STORE.queries()["oldest"], {"queues": '["q"]'}
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", asked).fetchall()
    looks = [step.partition(" USING ")[2] for *_, step in plan if "windlass" in step]
    assert looks == [
        "INDEX windlass_jobs_ready (queue=?)",
        "INDEX windlass_jobs_ready (queue=? AND rank>?)",
        "INDEX windlass_jobs_ready (queue=? AND rank=?)",
    ]


async def test_a_lane_has_at_least_as_many_jobs_as_are_counted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(survey, "MOST_COUNTED", 3)
    many = Lane("many", slots=5)
    await put(store, *map(str, range(10)), spec=Spec("work", b"", lane=many))
    await put(store, "a", "b", spec=SLOT)
    lanes = (await store.lanes(10)).lanes
    assert lanes == (
        LaneStats("default", Lane("l", slots=1), 1, 1),
        LaneStats("default", many, 3, 3),
    )


async def test_a_lane_whose_record_is_damaged_is_listed_among_the_others(
    store: Store, path: Path
) -> None:
    await put(store, "a", "b", spec=SLOT)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE windlass_lanes SET limits = x'c1'")
    assert (await store.lanes(10)).lanes == (LaneStats("default", Lane("l"), 1, 1),)
