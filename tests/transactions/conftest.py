"""An app whose jobs are in a user's database, and the user's program, once for each driver."""

import asyncio
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.transactions import async_desks, blocking_desks
from tests.transactions.desk import Desk
from tests.transactions.engines import Engine, Mariadb, Postgres, Served, Sqlite
from windlass import Windlass
from windlass.stores.postgres import loans

DESKS = {
    "sqlite": (
        blocking_desks.SqliteDesk,
        blocking_desks.CoreDesk,
        blocking_desks.SessionDesk,
        blocking_desks.RecipeDesk,
        blocking_desks.RecipeSessionDesk,
        blocking_desks.DjangoDesk,
        blocking_desks.DjangoAliasDesk,
        async_desks.SqliteDesk,
        async_desks.AiosqliteDesk,
        async_desks.AsyncCoreDesk,
        async_desks.AsyncRecipeDesk,
        async_desks.AsyncSessionDesk,
    ),
    "postgres": (
        blocking_desks.PsycopgDesk,
        blocking_desks.Psycopg2Desk,
        blocking_desks.CoreDesk,
        blocking_desks.SessionDesk,
        blocking_desks.DjangoDesk,
        async_desks.PsycopgDesk,
        async_desks.AsyncpgDesk,
        async_desks.AsyncpgPoolDesk,
        async_desks.AsyncCoreDesk,
        async_desks.AsyncSessionDesk,
    ),
    "mariadb": (
        blocking_desks.PymysqlDesk,
        blocking_desks.CoreDesk,
        blocking_desks.SessionDesk,
        async_desks.AsyncmyDesk,
        async_desks.AsyncCoreDesk,
        async_desks.AsyncSessionDesk,
    ),
}


DRIVERS = (
    blocking_desks.SqliteDesk,
    blocking_desks.PsycopgDesk,
    blocking_desks.Psycopg2Desk,
    blocking_desks.PymysqlDesk,
    async_desks.AiosqliteDesk,
    async_desks.PsycopgDesk,
    async_desks.AsyncpgDesk,
    async_desks.AsyncmyDesk,
)
"""Those without a library on top, which would have the same driver send the same statements."""

ONE_OF_EACH_KIND = (
    blocking_desks.SqliteDesk,
    blocking_desks.PsycopgDesk,
    blocking_desks.PymysqlDesk,
    async_desks.AiosqliteDesk,
    async_desks.AsyncpgDesk,
    async_desks.AsyncmyDesk,
)
"""On each engine a blocking one and an async one, for what comes before any driver is asked."""


def pairs(*engines: str, desks: Sequence[type[Desk]] = ()) -> list[ParameterSet]:
    """Each engine with each desk that it has, or with those of these `desks`."""
    return [
        pytest.param((engine, desk), id=f"{engine}-{desk.__name__}")
        for engine in engines
        for desk in DESKS[engine]
        if not desks or desk in desks
    ]


SERVERS: Mapping[str, tuple[str, Callable[[str], Served]]] = {
    "postgres": ("postgres_server", Postgres),
    "mariadb": ("mariadb_server", Mariadb),
}
ENGINES = ("sqlite", *SERVERS)
LENDERS = (*SERVERS, "postgres-psycopg2")
"""Servers, and what driver blocking handlers get if it is not the first choice."""


@pytest.fixture(scope="session")
def databases() -> Iterator[dict[str, Served]]:
    """Those on servers, made when one is first asked for."""
    made: dict[str, Served] = {}
    yield made
    for engine in made.values():
        engine.close()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with tables and nothing in them, to be copied."""
    engine = Sqlite(tmp_path_factory.mktemp("template"))
    prepare(engine)
    return engine.path


@pytest.fixture
def open_engine(
    request: pytest.FixtureRequest, tmp_path: Path, databases: dict[str, Served]
) -> Callable[[str], Engine]:
    """A database with tables and nothing in them, on the engine of this name."""

    def opened(name: str) -> Engine:
        if name not in SERVERS:
            engine = Sqlite(tmp_path)
            shutil.copyfile(request.getfixturevalue("template"), engine.path)
            return engine
        if name not in databases:
            server, kind = SERVERS[name]
            databases[name] = kind(request.getfixturevalue(server).url)
            prepare(databases[name])
        databases[name].clean()
        return databases[name]

    return opened


def prepare(engine: Engine) -> None:
    engine.make()
    asyncio.run(engine.migrate())


@pytest.fixture(params=pairs(*DESKS))
def pair(
    request: pytest.FixtureRequest, open_engine: Callable[[str], Engine]
) -> tuple[Engine, type[Desk]]:
    return open_engine(request.param[0]), request.param[1]


@pytest.fixture
def engine(pair: tuple[Engine, type[Desk]]) -> Engine:
    return pair[0]


@pytest.fixture
def app(engine: Engine) -> Iterator[Windlass]:
    app = engine.app()
    yield app
    app.close()


@pytest.fixture
def desk(pair: tuple[Engine, type[Desk]]) -> Iterator[Desk]:
    desk = pair[1](pair[0])  # type: ignore[call-arg]
    yield desk
    desk.close()


@pytest.fixture(params=["sqlite", *LENDERS])
def lender(
    request: pytest.FixtureRequest,
    open_engine: Callable[[str], Engine],
    monkeypatch: pytest.MonkeyPatch,
) -> Engine:
    """A database of each engine, for each driver that blocking handlers may get."""
    name, _, driver = request.param.partition("-")
    if driver:
        monkeypatch.setattr(loans, "find_spec", lambda name: name == driver or None)
    return open_engine(name)
