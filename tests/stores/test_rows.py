"""Rows that somebody damaged: each is harmless to those beside it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from windlass.core.model import Progress
from windlass.core.schedule import Schedule
from windlass.core.workers import WorkerInfo
from windlass.stores.contract import Store
from windlass.stores.sql.fields import (
    decode_failure,
    decode_ids,
    decode_mail,
    decode_progress,
    decode_worker,
)
from windlass.testing.jobs import WORK, claim_one, job_of, put

DAMAGED = ("", "{", "[1, 2]", '{"percent": "much"}', "null")


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_texts_are_read_as_such(text: str) -> None:
    failure = decode_failure(text)
    assert failure is not None
    assert failure.message == text
    assert decode_progress(text) == Progress(0, f"(unreadable) {text}")
    assert decode_worker("w1", text, 7) == WorkerInfo("w1", "(unreadable)", 0, (), 0, 7, seen_at=7)
    assert decode_ids(text) == ()
    assert decode_mail(text.encode()) is None


async def test_a_damaged_row_is_listed_among_the_others(store: Store, path: Path) -> None:
    await put(store, "a", "b")
    for name in ("w1", "w2"):
        await store.beat(WorkerInfo(name, "host", 1, ("default",), 1, 0), 60_000)
    await store.put_schedules([Schedule(name, "@hourly", WORK) for name in ("s1", "s2")])
    await claim_one(store)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE windlass_jobs SET progress = 'half' WHERE id = 'a'")
        connection.execute("UPDATE windlass_workers SET info = 'none' WHERE id = 'w1'")
        connection.execute("UPDATE windlass_schedules SET definition = x'c1' WHERE name = 's1'")
    assert (await job_of(store, "a")).progress == Progress(0, "(unreadable) half")
    assert [worker.id for worker in await store.workers()] == ["w1", "w2"]
    assert [schedule.name for schedule in await store.schedules()] == ["s2"]
