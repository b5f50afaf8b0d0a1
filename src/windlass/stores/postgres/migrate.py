"""Applies migrations to a database, each in a transaction and under a lock."""

from __future__ import annotations

import asyncio
import logging
import random
import re
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from asyncpg import exceptions as pg

from ...core.clock import system_clock
from ...errors import StoreError
from ..sql.database import Schema
from ..sql.migrations import Applied, Migration, load_migrations, missing, statements
from .connection import Raw
from .fault import reason
from .identity import Identity, learn
from .names import qualified
from .url import Settings

OLDEST: Final = 130000
"""`pg_current_xact_id` and sorting by part of an index came with 13."""

LOCK: Final = 0x77696E646C617373
"""Held while a schema is changed; the letters of the name."""

PATIENT: Final = 600.0
"""Seconds that a migration may take, or wait for the one of another process."""

LOCK_TIMEOUT: Final = "2s"
"""How long a change waits for those who use a table, for all who come later wait for the change."""

SPARE: Final = 10.0
"""Seconds for what makes or drops an index: all goes on without it."""

PAUSE: Final = 2.0
"""Seconds until the next try, at most."""

log = logging.getLogger("windlass")

TABLE: Final = """
CREATE TABLE IF NOT EXISTS {table} (
  number     integer PRIMARY KEY,
  name       text    NOT NULL,
  checksum   text    NOT NULL,
  compatible boolean NOT NULL,
  applied_at bigint  NOT NULL,
  oldest     integer                             -- the migration that code beside it must know
)
"""
_HAS_OLDEST: Final = """
SELECT EXISTS (
  SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'oldest'
)
"""
_MADE: Final = re.compile(r"CREATE INDEX CONCURRENTLY ((?:\S+\.)?\S+)")


async def check(raw: Raw, settings: Settings, schema: Schema) -> Sequence[Migration]:
    """What is missing of the schema, if the server is one that can be used; an error if not."""
    version, encoding, recovering, read_only, *identity = await raw.fetchrow(  # type: ignore[misc]
        "SELECT current_setting('server_version_num')::integer, "
        "current_setting('server_encoding'), pg_is_in_recovery(), "
        "current_setting('transaction_read_only') = 'on', "
        "current_database()::text, (SELECT system_identifier::text FROM pg_control_system())"
    )
    learn(settings, Identity(*identity))
    if version < OLDEST:
        raise StoreError(
            f"PostgreSQL {version // 10000} at {settings.where} is too old: windlass needs 13 "
            "or newer."
        )
    if encoding != "UTF8":
        raise StoreError(
            f"The database at {settings.where} has the encoding {encoding}: windlass needs UTF8."
        )
    if recovering or read_only:
        raise StoreError(
            f"PostgreSQL at {settings.where} is a read-only replica: name the primary in the "
            "URL, or all servers and target_session_attrs=read-write."
        )
    applied = await _applied(raw, settings, schema)
    return missing(load_migrations(schema.packages[-1]), applied)


async def migrate(raw: Raw, settings: Settings, schema: Schema) -> Sequence[str]:
    """Apply what is missing, one after the other, and name it.

    Whoever uses the database waits for none of it longer than `LOCK_TIMEOUT`: a change of a table
    waits for the transactions that use it, and all who come later wait for that change.
    """
    # A look without the lock spares every later start from taking it.
    todo = await check(raw, settings, schema)
    return tuple(
        [
            each.name
            for each in todo
            if await _patiently(partial(_apply, raw, settings, schema, each))
        ]
    )


async def _patiently(apply: partial[Coroutine[None, None, bool]]) -> bool:
    """Try again what could not get its locks; what nobody needs is left for the next start."""
    needed = not apply.args[-1].concurrently
    deadline = time.monotonic() + (PATIENT if needed else SPARE)
    while True:
        try:
            return await apply()
        except (pg.LockNotAvailableError, pg.DeadlockDetectedError) as error:
            if time.monotonic() > deadline:
                if needed:
                    raise
                log.warning("a change of the schema is left for the next start: %s", reason(error))
                return False
            log.info("the schema is in use, trying again to change it: %s", reason(error))
            await asyncio.sleep(random.uniform(PAUSE / 2, PAUSE))


async def _apply(raw: Raw, settings: Settings, schema: Schema, migration: Migration) -> bool:
    """Apply a migration unless another process has done it; whether it was this one."""
    if migration.concurrently:
        await _apply_concurrently(raw, settings, schema, migration)
    async with _changing(raw, settings, schema):
        todo = missing(load_migrations(schema.packages[-1]), await _applied(raw, settings, schema))
        if migration not in todo:
            return False
        if not migration.concurrently:
            await raw.execute(migration.sql, timeout=PATIENT)
        await raw.execute(
            f"INSERT INTO {schema.migrations_table} "
            "(number, name, checksum, compatible, applied_at, oldest) "
            "VALUES ($1, $2, $3, $4, $5, $6)",
            migration.number,
            migration.name,
            migration.checksum,
            migration.compatible,
            system_clock(),
            migration.oldest,
        )
    return True


async def _apply_concurrently(
    raw: Raw, settings: Settings, schema: Schema, migration: Migration
) -> None:
    """Execute each statement by itself: an index that is made or dropped so keeps nobody out."""
    for statement in statements(migration.sql):
        sql = qualified(statement, settings.schema)
        if (made := _MADE.match(sql)) is not None:
            # One that was not finished is there, and of no use.
            await raw.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {made.group(1)}", timeout=PATIENT)
        await raw.execute(sql, timeout=PATIENT)


@asynccontextmanager
async def _changing(raw: Raw, settings: Settings, schema: Schema) -> AsyncIterator[None]:
    """A transaction in which nobody else changes the schema."""
    async with raw.transaction():
        await raw.execute(f"SELECT pg_advisory_xact_lock({LOCK})", timeout=PATIENT)
        await raw.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
        if settings.schema is not None:
            # To ask for it takes a right that who only makes tables need not have.
            if not await raw.fetchval("SELECT to_regnamespace($1)", settings.schema):
                await raw.execute(f'CREATE SCHEMA IF NOT EXISTS "{settings.schema}"')
            await raw.execute(f'SET LOCAL search_path TO "{settings.schema}"')
        table = schema.migrations_table
        if await raw.fetchval("SELECT to_regclass($1)", table) is None:
            await raw.execute(TABLE.format(table=table))
        elif not await raw.fetchval(_HAS_OLDEST, table):
            await raw.execute(f"ALTER TABLE {table} ADD COLUMN oldest integer")
        yield


async def _applied(raw: Raw, settings: Settings, schema: Schema) -> Sequence[Applied]:
    table = schema.migrations_table
    if settings.schema is not None:
        table = f'"{settings.schema}".{table}'
    if await raw.fetchval("SELECT to_regclass($1)", table) is None:
        return ()
    oldest = "oldest" if await raw.fetchval(_HAS_OLDEST, table) else "NULL"
    rows = await raw.fetch(
        f"SELECT number, name, checksum, compatible, {oldest} FROM {table} ORDER BY number"
    )
    return [Applied(*row) for row in rows]
