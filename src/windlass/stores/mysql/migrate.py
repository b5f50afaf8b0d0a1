"""Applies migrations to a MySQL database, one process at a time.

MySQL commits each statement that changes a schema. So every statement of a migration is one that
can be run again, and a migration is noted as applied after its last one: what was cut short is
begun anew by whoever comes next.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Sequence
from time import monotonic
from typing import Final

from asyncmy import errors

from ...core.clock import system_clock
from ...errors import StoreUnavailable
from ..sql.database import Schema
from ..sql.migrations import Applied, Migration, load_migrations, missing
from .fault import UNKNOWN_TABLE, code, is_conflict
from .link import Link
from .url import Settings

PATIENCE: Final = 60
"""Seconds to wait for another process that migrates, and for each of its statements."""

WAIT: Final = 1
"""Seconds for which a statement waits for transactions that have a table."""

TABLE: Final = """
CREATE TABLE IF NOT EXISTS {table} (
  number     INT NOT NULL PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  checksum   CHAR(64) NOT NULL,
  compatible TINYINT NOT NULL,
  applied_at BIGINT NOT NULL,
  oldest     INT                                 -- the migration that code beside it must know
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin
"""


async def migrate(link: Link, schema: Schema, settings: Settings) -> Sequence[str]:
    """Apply what is missing and name it."""
    known = load_migrations(schema.packages[-1])
    table = settings.named(schema.migrations_table)
    # A look without the lock spares every later start from taking it.
    if not missing(known, await _applied(link, table)):
        return ()
    lock = link.literal(_lock(settings, table))
    [[locked]] = (await link.ask([f"SELECT GET_LOCK({lock}, {PATIENCE})"], 2 * PATIENCE))[0].rows
    if locked != 1:
        raise StoreUnavailable(
            f"Another process has been changing the schema for {PATIENCE} seconds; try again when "
            "it is done."
        )
    try:
        await link.ask([f"SET SESSION lock_wait_timeout = {WAIT}", TABLE.format(table=table)])
        await _add_oldest(link, table, settings)
        todo = missing(known, await _applied(link, table))
        for migration in todo:
            await _apply(link, migration, table, settings)
    finally:
        # A link that was lost has lost its lock with it.
        if not link.broken:
            release = f"SELECT RELEASE_LOCK({lock})"
            await link.ask([release, "SET SESSION lock_wait_timeout = DEFAULT"])
    return [migration.name for migration in todo]


async def check(link: Link, schema: Schema, settings: Settings) -> None:
    """Raise `SchemaMismatch` if the tables are of a version that this code does not know."""
    missing(
        load_migrations(schema.packages[-1]),
        await _applied(link, settings.named(schema.migrations_table)),
    )


async def _apply(link: Link, migration: Migration, table: str, settings: Settings) -> None:
    for statement in split(migration.sql):
        await _execute(link, settings.named(statement), settings)
    values = (
        migration.number,
        migration.name,
        migration.checksum,
        migration.compatible,
        system_clock(),
        migration.oldest,
    )
    await link.ask([f"INSERT INTO {table} VALUES ({', '.join(map(link.literal, values))})"])


async def _add_oldest(link: Link, table: str, settings: Settings) -> None:
    """Add what the first version of the table lacks."""
    columns = (await link.ask([f"SHOW COLUMNS FROM {table} LIKE 'oldest'"]))[0].rows
    if not columns:
        await _execute(link, f"ALTER TABLE {table} ADD COLUMN oldest INT", settings)


async def _execute(link: Link, statement: str, settings: Settings) -> None:
    """Change the schema, past transactions that have its tables.

    Who waits for a table makes all others wait who come later: so the wait is short, and made again
    after a while, in which the others go on.
    """
    deadline = monotonic() + PATIENCE
    while True:
        try:
            await link.ask([statement], PATIENCE * 60)
        except errors.Error as error:
            if not is_conflict(error):
                raise
            if monotonic() > deadline:
                raise StoreUnavailable(
                    f"Other transactions on {settings.where} have had the tables for {PATIENCE} "
                    "seconds, so the schema could not be changed; end them, and try again."
                ) from error
        else:
            return
        await asyncio.sleep(random.uniform(WAIT / 2, WAIT))


async def _applied(link: Link, table: str) -> Sequence[Applied]:
    # The first version of the table has no column `oldest`, so none is named.
    query = f"SELECT * FROM {table} ORDER BY number"
    try:
        rows = (await link.ask([query]))[0].rows
    except errors.Error as error:
        if code(error) == UNKNOWN_TABLE:
            return ()
        raise
    return [
        Applied(number, name, checksum, bool(compatible), oldest=more[0] if more else None)
        for number, name, checksum, compatible, _, *more in rows
    ]


def _lock(settings: Settings, table: str) -> str:
    """A name for the lock: the server has one for all databases, of 64 characters."""
    return "windlass-" + hashlib.sha256(f"{settings.database}.{table}".encode()).hexdigest()[:48]


def split(script: str) -> Sequence[str]:
    """The statements of a script, comments cut."""
    lines = [line.split("--")[0].rstrip() for line in script.splitlines()]
    statements = "\n".join(line for line in lines if line).split(";")
    return [statement.strip() for statement in statements if statement.strip()]
