"""Applies migrations to a SQLite file, under its write lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ...core.clock import system_clock
from ...errors import StoreError
from ..sql.database import Schema
from ..sql.migrations import Applied, load_migrations, missing
from .connection import Connection

TABLE: Final = """
CREATE TABLE IF NOT EXISTS {table} (
  number     INTEGER PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  compatible INTEGER NOT NULL,
  applied_at INTEGER NOT NULL,
  oldest     INTEGER                             -- the migration that code beside it must know
)
"""
_ADD_OLDEST: Final = "ALTER TABLE {table} ADD COLUMN oldest INTEGER"


def migrate(connection: Connection, schema: Schema) -> Sequence[str]:
    """Apply what is missing, all or nothing, and name it."""
    known = load_migrations(schema.packages[-1])
    table = schema.migrations_table
    # A look without the lock spares every later start from taking it. If another process is
    # making the file right now, the look fails, and the one with the lock decides.
    with suppress(sqlite3.OperationalError):
        if not missing(known, _applied(connection.raw, table)):
            return ()
    connection.begin("BEGIN IMMEDIATE")
    try:
        connection.raw.execute(TABLE.format(table=table))
        if "oldest" not in _columns(connection.raw, table):
            connection.raw.execute(_ADD_OLDEST.format(table=table))
        todo = missing(known, _applied(connection.raw, table))
        for migration in todo:
            for statement in split(migration.sql):
                connection.raw.execute(statement)
            connection.raw.execute(
                f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)",
                (
                    migration.number,
                    migration.name,
                    migration.checksum,
                    migration.compatible,
                    system_clock(),
                    migration.oldest,
                ),
            )
        connection.raw.execute("COMMIT")
    except BaseException as error:
        connection.rollback()
        if isinstance(error, sqlite3.Error):
            raise StoreError(f"The schema could not be brought up to date: {error}.") from error
        raise
    return [migration.name for migration in todo]


def _applied(raw: sqlite3.Connection, table: str) -> Sequence[Applied]:
    columns = _columns(raw, table)
    if not columns:
        return ()
    oldest = "oldest" if "oldest" in columns else "NULL"
    rows = raw.execute(
        f"SELECT number, name, checksum, compatible, {oldest} FROM {table} ORDER BY number"
    )
    return [Applied(number, name, checksum, bool(c), o) for number, name, checksum, c, o in rows]


def _columns(raw: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of a table; none if there is no such table."""
    return frozenset(name for (_, name, *_) in raw.execute(f"PRAGMA table_info({table})"))


def split(script: str) -> Sequence[str]:
    """The statements of a script: `executescript` would commit the open transaction."""
    statements: list[str] = []
    text = ""
    for line in script.splitlines():
        text += line.split("--")[0] + "\n"
        if sqlite3.complete_statement(text):
            statements.append(text.strip())
            text = ""
    return [*statements, text] if text.strip() else statements
