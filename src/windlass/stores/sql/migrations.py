"""Schema changes: numbered files, applied in order, never edited afterwards.

A migration that says `-- compatible: yes` leaves the schema usable for the version of
the code before it: that version goes on while workers are replaced. Any other
unknown migration makes older code stop with a sentence instead of guessing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ...errors import SchemaMismatch


class Migration(NamedTuple):
    """One step of the schema, as its file has it."""

    number: int
    name: str
    sql: str
    compatible: bool

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


class Applied(NamedTuple):
    """One row of `windlass_migrations`."""

    number: int
    name: str
    checksum: str
    compatible: bool


@cache
def load_migrations(package: str) -> Sequence[Migration]:
    """The migrations in a package, in order; read once, since a process may open many stores."""
    folder = files(package) / "migrations"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return tuple(_migration(name, (folder / name).read_text("utf-8")) for name in names)


def _migration(name: str, sql: str) -> Migration:
    stem = name.removesuffix(".sql")
    return Migration(int(stem.split("_")[0]), stem, sql, "-- compatible: yes" in sql)


def missing(known: Sequence[Migration], applied: Sequence[Applied]) -> Sequence[Migration]:
    """What is still to be applied; `SchemaMismatch` where the schema is not ours to touch."""
    mine = {migration.number: migration for migration in known}
    for done in applied:
        migration = mine.get(done.number)
        if migration is None and not done.compatible:
            raise SchemaMismatch(
                f"The database has the newer migration {done.name}; upgrade windlass first."
            )
        if migration is not None and migration.checksum != done.checksum:
            raise SchemaMismatch(
                f"Migration {done.name} was applied with other content than this version of "
                "windlass has; restore the released package or the database."
            )
    numbers = {done.number for done in applied}
    return [migration for migration in known if migration.number not in numbers]
