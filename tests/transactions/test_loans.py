"""Connections that are lent to handlers: lost, cut off, forked, or not to be had."""

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers.server import Server
from tests.transactions.conftest import LENDERS
from tests.transactions.engines import Engine, Sqlite
from windlass import Context, State, Windlass
from windlass.errors import MissingExtra, StoreError, StoreUnavailable
from windlass.stores.mysql import loans as mysql_loans
from windlass.stores.mysql.loans import MysqlLoans
from windlass.stores.mysql.url import parse as parse_mysql
from windlass.stores.postgres import loans as postgres_loans
from windlass.stores.postgres.loans import PostgresLoans
from windlass.stores.postgres.url import parse as parse_postgres
from windlass.stores.sql.store import SqlStore
from windlass.stores.sqlite.store import SqliteStore
from windlass.stores.sqlite.url import Settings
from windlass.sync import drive
from windlass.task import Task
from windlass.testing.work import until, work


@pytest.fixture
async def app(lender: Engine) -> AsyncIterator[Windlass]:
    app = lender.app()
    yield app
    await app.aclose()
    app.close()


def tasks(
    app: Windlass, engine: Engine, midst: Callable[[Context], None]
) -> list[Task[..., Any, Any]]:
    """One job for an async and one for a blocking handler; each notes, then does `midst`."""

    @app.task(context=True, max_retries=3, backoff=0)
    async def on_loop(context: Context) -> None:
        async with context.transaction() as connection:
            await engine.note(connection, context.id)
            midst(context)

    @app.task(context=True, max_retries=3, backoff=0)
    def in_thread(context: Context) -> None:
        with context.transaction() as connection:
            engine.note_blocking(connection, context.id)
            midst(context)

    return [on_loop, in_thread]


@pytest.mark.parametrize("lender", LENDERS, indirect=True)
async def test_one_that_was_lost_while_it_was_idle_is_replaced(
    app: Windlass, lender: Engine
) -> None:
    made = tasks(app, lender, lambda context: None)
    jobs = []
    for _ in range(2):
        jobs += [await task.aenqueue() for task in made]
        await work(app)
        lender.hang_up()
    assert lender.notes() == sorted(job.id for job in jobs)
    assert [(await job.aget()).attempt for job in jobs] == [1] * 4


@pytest.mark.parametrize("lender", LENDERS, indirect=True)
async def test_one_that_is_lost_in_a_block_costs_the_attempt_and_writes_nothing(
    app: Windlass, lender: Engine
) -> None:
    def hang_up(context: Context) -> None:
        if context.attempt == 1:
            lender.hang_up()

    for task in tasks(app, lender, hang_up):
        job = await task.aenqueue()
        await work(app)
        done = await job.aget()
        assert (done.state, done.attempt) == (State.COMPLETED, 2)
        assert lender.notes().count(job.id) == 1


async def test_a_commit_whose_answer_is_lost_is_not_repeated(
    app: Windlass, lender: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await app.client.store()
    assert isinstance(store, SqlStore)
    lend, alend = store.loans.lend, store.loans.alend

    @contextmanager
    def deaf() -> Any:
        with lend() as connection:
            yield connection
        raise ConnectionError("no answer")

    @asynccontextmanager
    async def adeaf() -> Any:
        async with alend() as connection:
            yield connection
        raise ConnectionError("no answer")

    monkeypatch.setattr(store.loans, "lend", deaf)
    monkeypatch.setattr(store.loans, "alend", adeaf)
    jobs = [await task.aenqueue() for task in tasks(app, lender, lambda context: None)]
    await work(app)
    assert lender.notes() == sorted(job.id for job in jobs)
    for job in jobs:
        done = await job.aget()
        assert (done.state, done.attempt, done.error) == (State.COMPLETED, 1, None)


@pytest.mark.parametrize("lender", LENDERS, indirect=True)
async def test_there_are_no_more_of_them_than_the_pool_may_have(lender: Engine) -> None:
    app = Windlass(f"{lender.url}?pool=2")
    at_once, most = Counter[str](), Counter[str]()

    def came(where: str) -> None:
        at_once[where] += 1
        most[where] = max(most[where], at_once[where])

    @app.task(context=True)
    async def on_loop(context: Context) -> None:
        async with context.transaction():
            came("on_loop")
            await until(lambda: most["on_loop"] >= 2)
            # A third one would come in meanwhile.
            await asyncio.sleep(0.01)
            at_once["on_loop"] -= 1

    lock, two = threading.Lock(), threading.Event()

    @app.task(context=True)
    def in_thread(context: Context) -> None:
        with context.transaction():
            with lock:
                came("in_thread")
                if most["in_thread"] >= 2:
                    two.set()
            assert two.wait(20)
            time.sleep(0.01)
            with lock:
                at_once["in_thread"] -= 1

    await app.aenqueue_many([task.call() for task in (on_loop, in_thread) for _ in range(10)])
    await work(app)
    await app.aclose()
    assert most == {"on_loop": 2, "in_thread": 2}


async def test_a_wait_for_sqlites_lock_that_is_given_up_leaves_it_to_others(
    tmp_path: Path,
) -> None:
    engine = Sqlite(tmp_path)
    engine.make()
    store = SqliteStore(Settings(str(engine.path)))
    await store.open()

    async def borrow() -> None:
        async with store.loans.alend():
            raise AssertionError

    with store.loans.lend():
        waiting = asyncio.ensure_future(borrow())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with asyncio.timeout(20), store.loans.alend() as connection:
        connection.execute("INSERT INTO notes VALUES ('free')")
    assert engine.notes() == ["free"]
    await store.close()


async def test_they_can_be_had_behind_a_pooler(
    open_engine: Callable[[str], Engine], pgbouncer_server: Server
) -> None:
    direct = await asyncio.to_thread(open_engine, "postgres")
    database = direct.url.rpartition("/")[2]
    app = Windlass(f"{pgbouncer_server.url.rpartition('/')[0]}/{database}")
    made = tasks(app, direct, lambda context: None)
    jobs = [await task.aenqueue() for _ in range(8) for task in made]
    await work(app)
    await app.aclose()
    assert direct.notes() == sorted(job.id for job in jobs)


def test_a_fork_ends_a_loan_of_sqlite(tmp_path: Path) -> None:
    engine = Sqlite(tmp_path)
    engine.make()
    store = SqliteStore(Settings(str(engine.path)), blocking=True)
    drive(store.open())
    with (
        pytest.raises(StoreError, match="forked within a transaction"),
        store.loans.lend() as connection,
    ):
        connection.execute("INSERT INTO notes VALUES ('lost')")
        child = os.fork()
        if child == 0:
            os._exit(0)
        os.waitpid(child, 0)
    assert engine.notes() == []
    drive(store.close())


def test_a_driver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (postgres_loans, mysql_loans):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"needs psycopg or psycopg2: pip install"):
        PostgresLoans(parse_postgres("postgresql://u@127.0.0.1:1/x"), lambda: False).lend()
    with pytest.raises(MissingExtra, match=r"needs PyMySQL: pip install pymysql"):
        MysqlLoans(parse_mysql("mysql://u@127.0.0.1:1/x")).lend()


@pytest.mark.parametrize(
    "loans",
    [
        PostgresLoans(parse_postgres("postgresql://u@127.0.0.1:1/x"), lambda: False),
        MysqlLoans(parse_mysql("mysql://u@127.0.0.1:1/x")),
    ],
    ids=["postgres", "mysql"],
)
async def test_a_server_that_cannot_be_reached_is_named(loans: PostgresLoans | MysqlLoans) -> None:
    with pytest.raises(StoreUnavailable, match=r"at 127.0.0.1:1 gave no connection"):
        async with loans.alend():
            pass
    with pytest.raises(StoreUnavailable, match=r"at 127.0.0.1:1 gave no connection"), loans.lend():
        pass
