"""Programs that block."""

import sqlite3
from typing import Any

import django
import django.conf
import django.db
import psycopg
import psycopg2
import psycopg2.extras
import pymysql
import sqlalchemy as sa
from django.db import transaction
from psycopg.rows import dict_row
from sqlalchemy import orm

from tests.transactions.desk import BlockingDesk
from tests.transactions.engines import Engine, Mariadb, Sqlite


class Plain(BlockingDesk):
    """A driver whose connections begin by themselves and have `commit` and `rollback`."""

    def begin(self) -> None:
        pass

    def execute(self, sql: str) -> None:
        self.connection.cursor().execute(sql)

    def commit(self) -> None:
        self.connection.commit()

    def rollback(self) -> None:
        self.connection.rollback()

    def close(self) -> None:
        self.connection.close()


class SqliteDesk(Plain):
    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine, Sqlite)
        self.connection = sqlite3.connect(engine.path)
        # As users have them: neither texts nor rows are what operations expect.
        self.connection.row_factory = sqlite3.Row
        self.connection.text_factory = bytes

    def autocommit(self) -> None:
        self.connection.isolation_level = None


class PsycopgDesk(Plain):
    def __init__(self, engine: Engine) -> None:
        self.connection = psycopg.connect(engine.url, row_factory=dict_row)

    def autocommit(self) -> None:
        self.connection.autocommit = True


class Psycopg2Desk(Plain):
    def __init__(self, engine: Engine) -> None:
        self.connection = psycopg2.connect(
            engine.url, cursor_factory=psycopg2.extras.RealDictCursor
        )

    def autocommit(self) -> None:
        self.connection.autocommit = True


class PymysqlDesk(Plain):
    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine, Mariadb)
        parts: dict[str, Any] = engine.parts
        self.connection = pymysql.connect(**parts, cursorclass=pymysql.cursors.DictCursor)

    def autocommit(self) -> None:
        self.connection.autocommit(True)


DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}


def alchemy(engine: Engine, drivers: dict[str, str] = DRIVERS) -> str:
    """The URL as SQLAlchemy takes it."""
    scheme, _, rest = engine.url.partition("://")
    return f"{drivers[scheme]}://{rest}"


class CoreDesk(Plain):
    """A Connection of SQLAlchemy."""

    def __init__(self, engine: Engine) -> None:
        self.engine = sa.create_engine(alchemy(engine), poolclass=sa.NullPool)
        self.connection = self.engine.connect()

    def execute(self, sql: str) -> None:
        self.connection.execute(sa.text(sql))

    def autocommit(self) -> None:
        self.connection = self.connection.execution_options(isolation_level="AUTOCOMMIT")


class SessionDesk(Plain):
    """A Session of SQLAlchemy."""

    def __init__(self, engine: Engine) -> None:
        self.engine = sa.create_engine(alchemy(engine), poolclass=sa.NullPool)
        self.connection = orm.Session(self.engine)

    def execute(self, sql: str) -> None:
        self.connection.execute(sa.text(sql))

    def autocommit(self) -> None:
        self.connection.close()
        self.connection = orm.Session(self.engine.execution_options(isolation_level="AUTOCOMMIT"))


class RecipeDesk(CoreDesk):
    """A Connection as SQLAlchemy's documentation has it for SQLite: the driver begins nothing."""

    def __init__(self, engine: Engine) -> None:
        self.engine = sa.create_engine(alchemy(engine), poolclass=sa.NullPool)
        by_recipe(self.engine)
        self.connection = self.engine.connect()

    def autocommit(self) -> None:
        sa.event.remove(self.engine, "begin", begin)


class RecipeSessionDesk(SessionDesk):
    """A Session on such connections."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        by_recipe(self.engine)

    def autocommit(self) -> None:
        sa.event.remove(self.engine, "begin", begin)


def by_recipe(engine: sa.Engine) -> None:
    """Let SQLAlchemy say when a transaction begins, in the place of the driver."""
    sa.event.listen(engine, "connect", _leave_it)
    sa.event.listen(engine, "begin", begin)


def _leave_it(connection: Any, _: object) -> None:
    connection.isolation_level = None


def begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN")


class DjangoDesk(BlockingDesk):
    """`django.db.connection`, with `atomic`."""

    ALIAS = "default"

    def __init__(self, engine: Engine) -> None:
        if not django.conf.settings.configured:
            django.conf.settings.configure(USE_TZ=True)
            django.setup()
        databases = {"default": {}, self.ALIAS: configured(engine)}
        django.db.connections.settings = django.db.connections.configure_settings(databases)
        self.connection = self.given()
        self._atomic: Any = None

    def given(self) -> Any:
        return django.db.connection

    def begin(self) -> None:
        self._atomic = transaction.atomic(using=self.ALIAS)
        self._atomic.__enter__()

    def execute(self, sql: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)

    def commit(self) -> None:
        self._atomic.__exit__(None, None, None)

    def rollback(self) -> None:
        transaction.set_rollback(True, using=self.ALIAS)
        self._atomic.__exit__(None, None, None)

    def close(self) -> None:
        self.connection.close()
        del django.db.connections[self.ALIAS]

    def autocommit(self) -> None:
        pass


class DjangoAliasDesk(DjangoDesk):
    """One of several connections, by its alias."""

    ALIAS = "jobs"

    def given(self) -> Any:
        return django.db.connections[self.ALIAS]


def configured(engine: Engine) -> dict[str, Any]:
    if isinstance(engine, Sqlite):
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(engine.path)}
    url = sa.make_url(engine.url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": url.database,
        "USER": url.username,
        "HOST": url.host,
        "PORT": url.port,
    }
