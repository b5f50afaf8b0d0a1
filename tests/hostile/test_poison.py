"""Rows that somebody wrote over, below the contract: a worker goes on, and says what it found."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from tests.servers.mysql_client import query
from tests.servers.server import Server
from tests.stores.mysql import site as mysql
from tests.stores.postgres import site as postgres
from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.testing.jobs import job_of, listing
from windlass.testing.work import work

UNREADABLE = ["spec = {noise}", "spec = {nothing}"]
"""What makes a job one that no worker can run."""

HARMLESS = [
    "error = '{{'",
    "progress = '[]'",
    "mail = {noise}",
    "checkpoint = {noise}",
    "awaits = 'nobody'",
    "attempt = 2000000000",
    "attempt = -5",
    "fence = 9000000000000000000",
    "keep = -1",
    "created_at = -9000000000000000000",
    "due = -9000000000000000000",
    "worker = 'ghost'",
    "lease_until = 1",
]
"""What a worker makes the best of."""

Engine = tuple[str, Callable[[Sequence[str]], None], str]
"""A URL, what runs statements straight in the engine, and the table there."""


def sqlite_engine(request: pytest.FixtureRequest) -> Engine:
    path: Path = request.getfixturevalue("tmp_path") / "jobs.db"

    def run(statements: Sequence[str]) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as raw:
            for statement in statements:
                raw.execute(statement)

    return f"sqlite:///{path}", run, "windlass_jobs"


def postgres_engine(request: pytest.FixtureRequest) -> Engine:
    server: Server = request.getfixturevalue("postgres_server")
    url = postgres.fresh(server.url)

    def run(statements: Sequence[str]) -> None:
        with psycopg.connect(server.url, autocommit=True) as raw:
            for statement in statements:
                raw.execute(statement.encode())

    return url, run, f"{postgres.schema_of(url)}.windlass_jobs"


def mariadb_engine(request: pytest.FixtureRequest) -> Engine:
    server: Server = request.getfixturevalue("mariadb_server")
    url = mysql.fresh(server.url)

    def run(statements: Sequence[str]) -> None:
        query(server.url, *statements)

    return url, run, mysql.named(url, "jobs")


NOISE = {"sqlite": "x'c1ff00'", "postgres": "'\\xc1ff00'", "mariadb": "x'c1ff00'"}
NOTHING = {"sqlite": "x''", "postgres": "''", "mariadb": "x''"}
ENGINES = {"sqlite": sqlite_engine, "postgres": postgres_engine, "mariadb": mariadb_engine}


@pytest.mark.parametrize("engine", ENGINES)
async def test_poison_in_a_table_stops_no_worker(
    engine: str, request: pytest.FixtureRequest
) -> None:
    url, run, table = ENGINES[engine](request)
    app = Windlass(url)

    @app.task(max_retries=0)
    async def fine(word: str = "") -> str:
        return "fine"

    store = await app.client.store()
    harms = [*UNREADABLE, *HARMLESS]
    harmed = [f"harmed-{n}" for n in range(len(harms))]
    for id in ("before", *harmed, "after"):
        await fine.using(id=id).aenqueue()
    words = {"noise": NOISE[engine], "nothing": NOTHING[engine]}
    run(
        [
            f"UPDATE {table} SET {harm.format(**words)} WHERE id = '{id}'"
            for id, harm in zip(harmed, harms, strict=True)
        ]
    )
    assert len(await listing(store)) == len(harms) + 2
    await work(app, WorkerSettings(concurrency=1))
    for id in ("before", "after"):
        assert (await job_of(store, id)).state is State.COMPLETED
    found = await store.get(harmed)
    for id in harmed[: len(UNREADABLE)]:
        error = found[id].error
        assert (found[id].state, error and error.kind) == (State.DEAD, "CorruptRecord")
    # A job that is not kept is gone once it is completed.
    rest = {harm: found[id].state for id, harm in zip(harmed, harms, strict=True) if id in found}
    assert {rest[harm] for harm in HARMLESS if harm in rest} <= {State.COMPLETED, State.DEAD}
    assert len(rest) >= len(harms) - 1
    await app.aclose()
