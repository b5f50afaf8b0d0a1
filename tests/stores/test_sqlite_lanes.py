"""Lanes and groups in a SQLite file: what is read of them, and what a damaged one costs."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from windlass.core.lane import Lane
from windlass.core.model import Spec
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.sqlite.database import STORE
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim, claim_one, finish, ids, put

RATE = Spec("work", b"", lane=Lane("r", starts=1, per=1_000, burst=1))
SLOT = Spec("work", b"", lane=Lane("l", slots=1))

ASKED: Mapping[str, object] = {
    "queue": "q",
    "lane": "l",
    "id": "a",
    "ids": "[]",
    "keys": "[]",
    "names": "[]",
    "groups": '["g"]',
    "starts": "[1]",
    "slot": 1,
    "refs": "[]",
    "now": 1,
    "limit": 1,
    "name": "l",
    "most": 10,
}


@pytest.mark.parametrize(
    "query",
    [
        "standing",
        "in_lane",
        "in_lane_order",
        "ticket",
        "along",
        "greatest",
        "tops",
        "lanes",
        "in_lanes",
        "windows",
        "free_windows",
        "prune_lanes",
        "prune_windows",
        "mail",
        "lane_page",
    ],
)
async def test_no_query_looks_at_all_rows(query: str, store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {STORE.queries()[query]}", ASKED).fetchall()
    steps = [step for *_, step in plan]
    assert not [step for step in steps if step.startswith("SCAN windlass") or "TEMP" in step]


async def test_a_damaged_lane_has_the_limits_of_the_jobs_in_it(store: Store, path: Path) -> None:
    await put(store, "a", "b", "c", spec=SLOT)
    first = await claim_one(store)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE windlass_lanes SET limits = x'c1', state = 'none'")
    assert await finish(store, first, State.COMPLETED)
    assert ids(await claim(store)) == ["b"]


async def test_lanes_that_nobody_is_in_are_forgotten(url: str, path: Path) -> None:
    def lanes() -> list[str]:
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT name FROM windlass_lanes ORDER BY name").fetchall()
            return [name for (name,) in rows]

    clock = FakeClock()
    store = open_store(url, clock=clock)
    await store.open()
    await put(store, "slot", spec=SLOT)
    await put(store, "rate", spec=RATE)
    await store.prune(10)
    assert lanes() == ["l", "r"]
    for job in await claim(store):
        assert await finish(store, job, State.COMPLETED)
    await store.prune(10)
    assert lanes() == ["r"], "its rate still counts"
    clock.advance(1)
    await store.prune(10)
    assert lanes() == []
    await store.close()
