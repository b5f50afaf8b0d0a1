"""Schema changes: numbered files, applied in order, never edited afterwards.

A migration that says `-- compatible: from 0004` leaves the schema usable for code that knows the
migrations up to that one: it goes on while workers are replaced. `-- compatible: yes` says so of
any code. Another unknown migration makes older code stop with a sentence instead of guessing.

`-- concurrently: yes` is for engines on which some statements cannot be in a transaction: each is
one by itself, and must do no harm if it is executed again.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from ...errors import SchemaMismatch

_COMPATIBLE: Final = re.compile(r"^-- compatible: (?:yes|from (\d+))$", re.MULTILINE)


def statements(sql: str) -> Sequence[str]:
    """Those of a script that has no semicolon inside of one, comments cut."""
    lines = [line.partition("--")[0].rstrip() for line in sql.splitlines()]
    parts = "\n".join(line for line in lines if line).split(";")
    return [part.strip() for part in parts if part.strip()]


class Migration(NamedTuple):
    """One step of the schema, as its file has it."""

    number: int
    name: str
    sql: str
    compatible: bool
    oldest: int | None = None
    """the migration that code must know to go on with this one; None if none"""
    concurrently: bool = False

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


class Applied(NamedTuple):
    """One row of `windlass_migrations`."""

    number: int
    name: str
    checksum: str
    compatible: bool
    oldest: int | None = None
    """as of the migration; None as well if it was applied by a version that did not note it"""


@cache
def load_migrations(package: str) -> Sequence[Migration]:
    """The migrations in a package, in order; read once, since a process may open many stores."""
    folder = files(package) / "migrations"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(_migration(name, (folder / name).read_text("utf-8")) for name in names)


def _migration(name: str, sql: str) -> Migration:
    stem = name.removesuffix(".sql")
    marked = _COMPATIBLE.search(sql)
    oldest = marked and marked.group(1)
    return Migration(
        int(stem.split("_")[0]),
        stem,
        sql,
        compatible=marked is not None,
        oldest=None if oldest is None else int(oldest),
        concurrently="-- concurrently: yes" in sql,
    )


def missing(known: Sequence[Migration], applied: Sequence[Applied]) -> Sequence[Migration]:
    """What is still to be applied; `SchemaMismatch` where the schema is not ours to touch."""
    mine = {migration.number: migration for migration in known}
    newest = max(mine, default=0)
    for done in applied:
        migration = mine.get(done.number)
        if migration is None and not done.compatible:
            raise SchemaMismatch(
                f"The database has the newer migration {done.name}; upgrade windlass first."
            )
        if migration is None and done.oldest is not None and newest < done.oldest:
            raise SchemaMismatch(
                f"The database has the migration {done.name}, beside which this version of "
                "windlass is too old to run; upgrade windlass first."
            )
        if migration is not None and migration.checksum != done.checksum:
            raise SchemaMismatch(
                f"Migration {done.name} was applied with other content than this version of "
                "windlass has; restore the released package or the database."
            )
    numbers = {done.number for done in applied}
    return [migration for migration in known if migration.number not in numbers]
