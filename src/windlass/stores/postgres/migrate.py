"""Applies migrations to a database, in one transaction and under a lock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...core.clock import system_clock
from ...errors import StoreError
from ..sql.database import Schema
from ..sql.migrations import Applied, Migration, load_migrations, missing
from .connection import Raw
from .identity import Identity, learn
from .url import Settings

OLDEST: Final = 130000
"""`pg_current_xact_id` and sorting by part of an index came with 13."""

LOCK: Final = 0x77696E646C617373
"""Held while a schema is changed; the letters of the name."""

PATIENT: Final = 600.0
"""Seconds that a migration may take, or wait for the one of another process."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS {table} (
  number     integer PRIMARY KEY,
  name       text    NOT NULL,
  checksum   text    NOT NULL,
  compatible boolean NOT NULL,
  applied_at bigint  NOT NULL
)
"""


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
    """Apply what is missing, all or nothing, and name it."""
    # A look without the lock spares every later start from taking it.
    if not await check(raw, settings, schema):
        return ()
    async with raw.transaction():
        await raw.execute(f"SELECT pg_advisory_xact_lock({LOCK})", timeout=PATIENT)
        if settings.schema is not None:
            await raw.execute(f'CREATE SCHEMA IF NOT EXISTS "{settings.schema}"')
            await raw.execute(f'SET LOCAL search_path TO "{settings.schema}"')
        await raw.execute(_TABLE.format(table=schema.migrations_table))
        todo = await check(raw, settings, schema)
        for migration in todo:
            await raw.execute(migration.sql, timeout=PATIENT)
            await raw.execute(
                f"INSERT INTO {schema.migrations_table} VALUES ($1, $2, $3, $4, $5)",
                migration.number,
                migration.name,
                migration.checksum,
                migration.compatible,
                system_clock(),
            )
    return [migration.name for migration in todo]


async def _applied(raw: Raw, settings: Settings, schema: Schema) -> Sequence[Applied]:
    table = schema.migrations_table
    if settings.schema is not None:
        table = f'"{settings.schema}".{table}'
    if await raw.fetchval("SELECT to_regclass($1)", table) is None:
        return ()
    rows = await raw.fetch(
        f"SELECT number, name, checksum, compatible FROM {table} ORDER BY number"
    )
    return [Applied(*row) for row in rows]
