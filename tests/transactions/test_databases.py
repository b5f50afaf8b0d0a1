"""A connection of the user's to another PostgreSQL database: refused, and nothing is written."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.servers.server import Server
from windlass import Windlass
from windlass.errors import InvalidOption
from windlass.stores.postgres import identity


@pytest.fixture
def databases(postgres_server: Server) -> tuple[str, str]:
    """Two of them on one server, both with our tables."""
    base = postgres_server.url.rpartition("/")[0]
    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        for name in ("one", "two"):
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {name}")
    for name in ("one", "two"):
        migrate(f"{base}/{name}")
    return f"{base}/one", f"{base}/two"


def migrate(url: str) -> None:
    app = Windlass(url)
    app.client.block(lambda store: store.migrate(), "", "")
    app.close()


@contextmanager
def task_of(url: str) -> Iterator[Any]:
    app = Windlass(url)

    @app.task
    def job() -> None: ...

    yield job
    app.close()


def number_of_jobs(url: str) -> int:
    with psycopg.connect(url) as connection:
        [(number,)] = connection.execute("SELECT count(*) FROM windlass_jobs").fetchall()
    return int(number)


def test_another_database_of_the_server_is_refused(databases: tuple[str, str]) -> None:
    one, two = databases
    with (
        task_of(one) as job,
        psycopg.connect(two) as connection,
        pytest.raises(InvalidOption, match=r"two.*one"),
    ):
        job.using(connection=connection).enqueue()
    with task_of(one) as job, psycopg.connect(one) as connection:
        job.using(connection=connection).enqueue()
    assert (number_of_jobs(one), number_of_jobs(two)) == (1, 0)


def test_a_database_of_the_same_name_on_another_server_is_refused(
    databases: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a process that has used its store. Our servers are copies, so one is renamed."""
    one, _ = databases
    with task_of(one) as job, psycopg.connect(one) as connection:
        job.enqueue()
        monkeypatch.setitem(identity._known, one, identity.Identity("one", "another"))
        with pytest.raises(InvalidOption, match="another server"):
            job.using(connection=connection).enqueue()
    assert number_of_jobs(one) == 1


def test_a_user_with_few_rights_is_taken(databases: tuple[str, str]) -> None:
    one, _ = databases
    with psycopg.connect(one, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS clerk")
        connection.execute("CREATE ROLE clerk LOGIN")
        for what in ("TABLES", "SEQUENCES"):
            connection.execute(f"GRANT ALL ON ALL {what} IN SCHEMA public TO clerk")
    theirs = urlsplit(one)._replace(netloc=f"clerk@{urlsplit(one).netloc.partition('@')[2]}")
    with task_of(f"{theirs.geturl()}?migrate=off") as job:
        job.enqueue()
        with psycopg.connect(theirs.geturl()) as connection:
            job.using(connection=connection).enqueue()
    assert number_of_jobs(one) == 2


def test_a_name_that_a_pooler_gives_is_no_reason(databases: tuple[str, str]) -> None:
    """The URL names a database as the pooler does; its server calls it otherwise."""
    one, _ = databases
    alias = f"{one.rpartition('/')[0]}/alias?pooler=on"
    with task_of(alias) as job, psycopg.connect(one) as connection:
        job.using(connection=connection).enqueue()
    assert number_of_jobs(one) == 1


async def test_async_code_is_refused_too(databases: tuple[str, str]) -> None:
    one, two = databases
    app = Windlass(one)

    @app.task
    async def job() -> None: ...

    connection = await psycopg.AsyncConnection.connect(two)
    with pytest.raises(InvalidOption, match=r"two.*one"):
        await job.using(connection=connection).aenqueue()
    await connection.close()
    await app.aclose()
    assert await asyncio.to_thread(number_of_jobs, two) == 0
