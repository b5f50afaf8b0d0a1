"""Connections that cannot be used for the app's jobs: one sentence each, and nothing written."""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import aiosqlite
import pytest
import sqlalchemy as sa
from sqlalchemy import orm

from tests.transactions.blocking_desks import PsycopgDesk, PymysqlDesk
from tests.transactions.conftest import SERVERS
from tests.transactions.desk import Desk
from tests.transactions.engines import Engine, Sqlite
from windlass import Windlass
from windlass.errors import InvalidOption, UsageError, WouldBlock


@pytest.fixture
def engine(tmp_path: Path) -> Sqlite:
    engine = Sqlite(tmp_path)
    engine.make()
    return engine


@pytest.fixture
def connection(engine: Sqlite) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(engine.path)) as connection:
        yield connection


def refusal(url: str, connection: object) -> str:
    """What is said of a connection, by each way to enqueue; all say the same."""
    app = Windlass(url)

    @app.task
    def never() -> None: ...

    with pytest.raises(UsageError) as one:
        never.using(connection=connection).enqueue()
    with pytest.raises(UsageError) as many:
        app.enqueue_many([never.call()], connection=connection)
    app.close()
    said = str(one.value)
    assert said.replace("never.enqueue", "app.enqueue_many") == str(many.value).replace(
        "app.aenqueue_many", "never.aenqueue"
    )
    assert said.endswith(".") and "\n" not in said
    return said


def test_what_is_no_connection() -> None:
    assert "builtins.str" in refusal("sqlite:///x.db", "postgresql://localhost")
    engine = sa.create_engine("sqlite://")
    assert "sqlalchemy.engine.base.Engine" in refusal("sqlite:///x.db", engine)


@pytest.mark.parametrize("url", ["memory://", "redis://127.0.0.1:1"])
def test_a_store_that_is_not_on_sql(url: str, connection: sqlite3.Connection) -> None:
    assert "not on SQL" in refusal(url, connection)


def test_a_connection_to_another_kind_of_database(engine: Sqlite) -> None:
    elsewhere = sa.create_engine("postgresql+psycopg://127.0.0.1:1/nowhere")
    with orm.Session(elsewhere) as session:
        said = refusal(engine.url, session)
    assert "is to PostgreSQL and the store is on SQLite" in said


def test_a_connection_to_another_file(engine: Sqlite, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        said = refusal(engine.url, connection)
        assert "other.db" in said and "jobs.db" in said
        assert not connection.in_transaction
    with closing(sqlite3.connect(":memory:")) as connection:
        assert "a database in memory" in refusal(engine.url, connection)


def test_a_database_without_our_tables(engine: Sqlite, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO notes VALUES ('kept')")
    assert "windlass migrate" in refusal(engine.url, connection)
    connection.commit()
    assert engine.notes() == ["kept"]


async def test_a_blocking_connection_in_async_code(engine: Sqlite) -> None:
    app = engine.app()

    @app.task
    def never() -> None: ...

    with sa.create_engine(engine.url, poolclass=sa.NullPool).connect() as connection:
        with pytest.raises(InvalidOption, match=r"async driver.*never.enqueue\(…\) in a thread"):
            never.using(connection=connection).aenqueue()
        with pytest.raises(InvalidOption, match=r"async driver"):
            app.aenqueue_many([never.call()], connection=connection)


async def test_enqueue_in_async_code_would_block(
    engine: Sqlite, connection: sqlite3.Connection
) -> None:
    app = engine.app()

    @app.task
    def never() -> None: ...

    with pytest.raises(WouldBlock):
        never.using(connection=connection).enqueue()


def test_an_async_connection_for_enqueue(engine: Sqlite) -> None:
    async def connect() -> str:
        async with aiosqlite.connect(engine.path) as connection:
            return await asyncio.to_thread(refusal, engine.url, connection)

    assert "await never.aenqueue(…)" in asyncio.run(connect())


def test_a_call_for_many_takes_its_connection_there(connection: sqlite3.Connection) -> None:
    app = Windlass("memory://")

    @app.task
    def never() -> None: ...

    with pytest.raises(InvalidOption, match=r"enqueue_many\(…, connection=…\)"):
        never.using(connection=connection).call()


def test_a_declaration_takes_no_connection(connection: sqlite3.Connection) -> None:
    with pytest.raises(InvalidOption, match="connection is for one job"):
        Windlass("memory://").task(connection=connection)(print)  # type: ignore[call-overload]


def test_other_options_keep_the_connection_and_none_takes_it_off(engine: Sqlite) -> None:
    asyncio.run(engine.migrate())
    app = engine.app()

    @app.task
    def job() -> None: ...

    with closing(sqlite3.connect(engine.path)) as connection:
        on = job.using(connection=connection)
        on.using(delay=5).enqueue()
        assert connection.in_transaction
        connection.rollback()
        off = on.using(connection=None).enqueue()
        assert not connection.in_transaction
    assert off.get()
    app.close()


@pytest.mark.parametrize("name", ["postgres", "mariadb"])
def test_a_server_database_without_our_tables(
    name: str, request: pytest.FixtureRequest, open_engine: Callable[[str], Engine]
) -> None:
    engine = open_engine(name)
    desk_kind = PsycopgDesk if name == "postgres" else PymysqlDesk
    server, kind = SERVERS[name]
    empty = kind(request.getfixturevalue(server).url)
    empty.make()
    desk = desk_kind(empty)
    desk.note("kept")
    assert "windlass migrate" in refusal(engine.url, desk.connection)
    desk.commit()
    desk.close()
    assert empty.notes() == ["kept"]
    empty.close()


def test_a_connection_to_another_database_of_the_same_server(
    request: pytest.FixtureRequest, open_engine: Callable[[str], Engine]
) -> None:
    engine = open_engine("mariadb")
    server, kind = SERVERS["mariadb"]
    other = kind(request.getfixturevalue(server).url)
    other.make()
    asyncio.run(other.migrate())
    desk = PymysqlDesk(other)
    desk.note("kept")
    said = refusal(engine.url, desk.connection)
    assert other.url.rpartition("/")[2] in said
    assert engine.url.rpartition("/")[2] in said
    desk.commit()
    desk.close()
    assert other.notes() == ["kept"]
    assert other.execute("SELECT COUNT(*) FROM windlass_jobs")[0] == (0,)
    other.close()


@pytest.mark.parametrize(
    ("name", "kind"), [("postgres", PsycopgDesk), ("mariadb", PymysqlDesk)], ids=["pg", "mysql"]
)
def test_a_server_connection_for_a_store_elsewhere(
    name: str, kind: type[Desk], engine: Sqlite, open_engine: Callable[[str], Engine]
) -> None:
    server = open_engine(name)
    desk = kind(server)  # type: ignore[call-arg]
    assert "and the store is on SQLite" in refusal(engine.url, desk.connection)
    assert "not on SQL" in refusal("redis://127.0.0.1:1", desk.connection)
    desk.close()
