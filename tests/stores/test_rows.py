"""Rows that somebody damaged: each is harmless to those beside it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from windlass.core.apikey import ApiKey, Role, matching, new_key
from windlass.core.keymarks import HAD_KEYS
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
    assert decode_worker("w1", text, 7, text) == WorkerInfo(
        "w1", "(unreadable)", 0, (), 0, 7, seen_at=7
    )
    assert decode_ids(text) == ()
    assert decode_mail(text.encode()) is None


async def test_a_damaged_row_is_listed_among_the_others(store: Store, path: Path) -> None:
    await put(store, "a", "b")
    for name in ("w1", "w2"):
        await store.beat(WorkerInfo(name, "host", 1, ("default",), 1, 0), 60_000)
    await store.put_schedules([Schedule(name, "@hourly", WORK) for name in ("s1", "s2")])
    await store.put_keys([ApiKey(id, bytes(32), (Role.READ,)) for id in ("k1", "k2")])
    await claim_one(store)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE windlass_jobs SET progress = 'half' WHERE id = 'a'")
        connection.execute("UPDATE windlass_workers SET info = 'none' WHERE id = 'w1'")
        connection.execute("UPDATE windlass_schedules SET definition = x'c1' WHERE name = 's1'")
        connection.execute("UPDATE windlass_keys SET record = x'c1' WHERE id = 'k1'")
    assert (await job_of(store, "a")).progress == Progress(0, "(unreadable) half")
    assert [worker.id for worker in await store.workers()] == ["w1", "w2"]
    assert [schedule.name for schedule in await store.schedules()] == ["s2"]
    assert [key.id for key in await store.keys()] == ["k2"]


@pytest.mark.parametrize(
    "damage",
    [
        "record = x''",
        "record = 'text'",
        "record = substr(record, 1, 20)",
        "record = replace(record, 'read', 'king')",
        "id = 'another'",
    ],
)
async def test_a_damaged_key_lets_nobody_in_and_can_be_dropped(
    store: Store, path: Path, damage: str
) -> None:
    made, sound = new_key(["read"]), new_key(["admin"])
    await store.put_keys([made.key, sound.key])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE windlass_keys SET {damage} WHERE id = ?", (made.key.id,))
        rows = connection.execute("SELECT id FROM windlass_keys WHERE id <> ?", (HAD_KEYS.id,))
        [ids] = zip(*rows, strict=True)
    kept = {key.id: key for key in await store.keys()}
    assert kept == {sound.key.id: sound.key}
    assert matching(kept, made.text, 0) is None
    assert await store.drop_keys(ids) == set(ids)
    assert await store.had_keys()
