"""Dependents where SQLite is special: connections of users, and what plain jobs ask for."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from windlass.core.model import NewJob, Spec
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.guest.sqlite import SqliteGuest
from windlass.stores.sql.operation import Bulk, Statement
from windlass.stores.sqlite.connection import Connection
from windlass.stores.sqlite.store import SqliteStore
from windlass.testing.jobs import claim_one, finish, new_job, put, state_of

CHILD = Spec("work", b"", parents=("parent",))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all queries that are made from now on."""
    names: list[str] = []
    execute = Connection._execute

    def noted(self: Connection, what: Statement | Bulk) -> Any:
        names.append(what.query)
        return execute(self, what)

    monkeypatch.setattr(Connection, "_execute", noted)
    return names


async def test_a_plain_job_asks_for_nothing_more_than_it_did(
    store: Store, asked: list[str]
) -> None:
    await store.insert([NewJob("a", Spec("work", b""), fresh=True)])
    assert asked == ["enter", "insert_one"]
    asked.clear()
    job = await claim_one(store)
    assert asked == ["due", "paused", "pick", "next_fence", "claim", "tally"]
    asked.clear()
    assert await finish(store, job, State.COMPLETED)
    assert asked == ["finishing", "savepoint", "complete", "release", "tally"]


async def test_a_plain_job_beside_dependents_asks_once_whether_it_has_some(
    store: Store, asked: list[str]
) -> None:
    await put(store, "parent", queue="parents")
    await put(store, "child", spec=CHILD)
    await put(store, "plain")
    job = await claim_one(store)
    asked.clear()
    assert await finish(store, job, State.COMPLETED)
    assert asked == ["finishing", "savepoint", "complete", "release", "edges", "tally"]


async def test_on_a_connection_of_a_user_a_dependent_is_enqueued_by_a_write_first(
    store: Store, path: Path
) -> None:
    """A read would fix what the transaction sees; another's commit after it would be fatal."""
    assert isinstance(store, SqliteStore)
    await put(store, "parent", queue="parents")
    made: list[str] = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.set_trace_callback(made.append)
        SqliteGuest(connection).perform(store.dialect, store.inserting([new_job("child", CHILD)]))
        connection.execute("COMMIT")
    looked, first, *_ = made
    assert (looked.split()[0], first.split()[0]) == ("PRAGMA", "UPDATE")
    assert await state_of(store, "child") is State.BLOCKED
