"""Windlass's tables, made on a connection of Django's: so a test database has them too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from django.db import transaction

from ..core.clock import system_clock
from ..stores.sql.migrations import Applied, Migration, load_migrations, missing, statements

HISTORY: Final = "windlass_migrations"


class Engine(NamedTuple):
    """Where an engine has its migrations, and how it divides one into statements."""

    package: str
    table: str
    split: Callable[[str], Sequence[str]]


def migrate(connection: Any) -> Sequence[str]:
    """Apply what is missing on this connection, and name it."""
    engine = _engine(connection.vendor)
    with connection.cursor() as cursor:
        cursor.execute(engine.table.format(table=HISTORY))
        columns = connection.introspection.get_table_description(cursor, HISTORY)
        if "oldest" not in {column.name for column in columns}:
            cursor.execute(f"ALTER TABLE {HISTORY} ADD COLUMN oldest integer")
        cursor.execute(f"SELECT number, name, checksum, compatible, oldest FROM {HISTORY}")
        applied = [Applied(*row) for row in cursor.fetchall()]
    todo = missing(load_migrations(engine.package), applied)
    for migration in todo:
        if migration.concurrently:
            _apply(connection, engine, migration)
        else:
            with transaction.atomic(using=connection.alias):
                _apply(connection, engine, migration)
    return [migration.name for migration in todo]


def _apply(connection: Any, engine: Engine, migration: Migration) -> None:
    with connection.cursor() as cursor:
        split = statements if migration.concurrently else engine.split
        for statement in split(migration.sql):
            cursor.execute(statement)
        cursor.execute(
            f"INSERT INTO {HISTORY} (number, name, checksum, compatible, applied_at, oldest) "
            "VALUES (%s, %s, %s, %s, %s, %s)",
            [
                migration.number,
                migration.name,
                migration.checksum,
                migration.compatible,
                system_clock(),
                migration.oldest,
            ],
        )


def _engine(vendor: str) -> Engine:
    name = {"sqlite": "sqlite", "postgresql": "postgres", "mysql": "mysql"}[vendor]
    package = f"windlass.stores.{name}"
    module = import_module(f"{package}.migrate")
    # Functions of PostgreSQL have semicolons inside: its driver takes a script as a whole.
    split = module.split if name != "postgres" else lambda sql: [sql]
    return Engine(package, module.TABLE, split)
