"""Schema changes in order, once each, and never over a schema that is not ours."""

import asyncio
import re
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.stores.process import finish, start
from windlass.core.apikey import ApiKey, Role
from windlass.core.attempts import AttemptRecord
from windlass.core.model import Spec, encode_spec
from windlass.errors import SchemaMismatch, StoreError, StoreUnavailable
from windlass.stores.open import open_store
from windlass.stores.sql.migrations import Applied, Migration, load_migrations, missing, statements
from windlass.stores.sqlite.migrate import split
from windlass.testing.jobs import claim, ids, put, state_of

ONE = Migration(1, "0001_one", "CREATE TABLE one (x);", compatible=False)
TWO = Migration(2, "0002_two", "CREATE TABLE two (x);", compatible=True)
KEY = ApiKey("k", bytes(32), (Role.READ,))
ATTEMPT = AttemptRecord("a", "default", 1, 1, "w", 1)
ADDED = ("keys", "logs", "stats", "tallies", "orders")
COLUMNS = (("jobs", "lost"), ("journal", "lost"))
BEFORE_KEYS = (
    *(f"DROP TABLE windlass_{table}" for table in ADDED),
    *(f"ALTER TABLE windlass_{table} DROP COLUMN {column}" for table, column in COLUMNS),
    "DELETE FROM windlass_migrations WHERE number > 1",
)

OLD_MIGRATIONS = (
    "CREATE TABLE windlass_migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, "
    "checksum TEXT NOT NULL, compatible INTEGER NOT NULL, applied_at INTEGER NOT NULL)"
)
OLD_JOB = (
    "INSERT INTO windlass_jobs (id, state, spec, queue, rank, place, due, keep, created_at, fence, "
    "attempt) VALUES (?, ?, ?, 'default', 50, 1, 0, 9, 0, 1, 1)"
)


def applied(migration: Migration) -> Applied:
    """The row that a migration leaves when it is applied."""
    return Applied(migration.number, migration.name, migration.checksum, migration.compatible)


def execute(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        return raw.execute(sql).fetchall()


def tables(path: Path) -> set[object]:
    return {name for (name,) in execute(path, "SELECT name FROM sqlite_master")}


def test_what_is_missing_comes_in_order() -> None:
    assert missing([ONE, TWO], []) == [ONE, TWO]
    assert missing([ONE, TWO], [applied(ONE)]) == [TWO]
    assert missing([ONE, TWO], [applied(ONE), applied(TWO)]) == []


def test_a_migration_with_other_content_is_refused_by_name() -> None:
    with pytest.raises(SchemaMismatch, match="0001_one was applied with other content"):
        missing([ONE, TWO], [applied(ONE)._replace(checksum="0" * 64)])


def test_a_newer_schema_is_refused_unless_it_is_compatible() -> None:
    with pytest.raises(SchemaMismatch, match="newer migration 0002_two; upgrade windlass first"):
        missing([ONE], [applied(ONE), applied(TWO)._replace(compatible=False)])
    assert missing([ONE], [applied(ONE), applied(TWO)]) == []


def test_code_that_is_older_than_a_migration_says_is_refused() -> None:
    three = Applied(3, "0003_three", "x", True, oldest=2)
    assert missing([ONE, TWO], [applied(ONE), applied(TWO), three]) == []
    with pytest.raises(SchemaMismatch, match="0003_three, beside which this version"):
        missing([ONE], [applied(ONE), applied(TWO), three])


def test_a_script_is_cut_into_its_statements() -> None:
    script = "-- A comment; of two parts.\nDROP INDEX a; -- gone\n\nCREATE INDEX b\n  ON c (d);\n"
    assert statements(script) == ["DROP INDEX a", "CREATE INDEX b\n  ON c (d)"]


def test_the_files_are_numbered_in_order_without_a_gap() -> None:
    migrations = load_migrations("windlass.stores.sqlite")
    assert [each.number for each in migrations] == list(range(1, len(migrations) + 1))
    assert all(each.name.startswith(f"{each.number:04}_") for each in migrations)


@pytest.mark.parametrize("engine", ["sqlite", "postgres", "mysql"])
def test_a_store_and_a_history_in_one_database_share_no_table(engine: str) -> None:
    made = [
        {
            name
            for migration in load_migrations(f"windlass.{part}.{engine}")
            for name in re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?(\w+)", migration.sql)
        }
        for part in ("stores", "history")
    ]
    assert all(made)
    assert not set.intersection(*made)


def test_the_checksum_is_that_of_the_content() -> None:
    assert ONE.checksum == ONE._replace(name="renamed").checksum
    assert ONE.checksum != ONE._replace(sql=ONE.sql + " ").checksum


def test_a_script_is_split_where_its_statements_end() -> None:
    script = """-- A header; with a semicolon.
    CREATE TABLE a (x TEXT DEFAULT ';');  -- and a remark;
    CREATE TRIGGER t AFTER INSERT ON a BEGIN
      DELETE FROM a;
      DELETE FROM a;
    END;
    """
    first, second = split(script)
    assert first == "CREATE TABLE a (x TEXT DEFAULT ';');"
    assert second.startswith("CREATE TRIGGER t") and second.endswith("END;")


def test_a_last_statement_without_its_semicolon_is_not_dropped() -> None:
    """Dropped, it would be recorded as applied and never be carried out."""
    assert "CREATE TABLE b (x)" in " ".join(split("CREATE TABLE a (x);\nCREATE TABLE b (x)\n"))


async def test_migrating_names_what_it_did_and_then_has_nothing_to_do(url: str, path: Path) -> None:
    names = [migration.name for migration in load_migrations("windlass.stores.sqlite")]
    store = open_store(url)
    assert list(await store.migrate()) == names
    assert list(await store.migrate()) == []
    rows = execute(path, "SELECT name, checksum FROM windlass_migrations ORDER BY number")
    assert rows == [
        (each.name, each.checksum) for each in load_migrations("windlass.stores.sqlite")
    ]


async def test_a_changed_migration_is_refused_on_opening(url: str, path: Path) -> None:
    await open_store(url).migrate()
    execute(path, "UPDATE windlass_migrations SET checksum = 'other' WHERE number = 1")
    with pytest.raises(SchemaMismatch, match="0001_jobs was applied with other content"):
        await open_store(url).open()


@pytest.mark.parametrize("compatible", [0, 1])
async def test_a_newer_schema_stops_older_code_only_if_it_must(
    url: str, path: Path, compatible: int
) -> None:
    await open_store(url).migrate()
    execute(
        path,
        f"INSERT INTO windlass_migrations VALUES (999, '0999_later', '', {compatible}, 0, NULL)",
    )
    store = open_store(url)
    if compatible:
        await store.open()
        await put(store, "a")
        await store.close()
    else:
        with pytest.raises(SchemaMismatch, match="newer migration 0999_later; upgrade windlass"):
            await store.open()


async def test_code_that_is_too_old_to_run_beside_a_schema_stops(url: str, path: Path) -> None:
    await open_store(url).migrate()
    newest = load_migrations("windlass.stores.sqlite")[-1].number
    later = f"INSERT INTO windlass_migrations VALUES (999, '0999_later', '', 1, 0, {newest})"
    execute(path, later)
    store = open_store(url)
    await store.open()
    await put(store, "a")
    await store.close()
    execute(path, "UPDATE windlass_migrations SET oldest = 998 WHERE number = 999")
    with pytest.raises(SchemaMismatch, match="too old to run"):
        await store.open()


async def test_jobs_of_the_first_schema_live_through_every_migration_while_others_run(
    url: str, path: Path
) -> None:
    """With statements of the code before going on meanwhile, in tables as they were released."""
    first = load_migrations("windlass.stores.sqlite")[0]
    old = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    old.execute("PRAGMA journal_mode = wal")
    old.executescript(first.sql)
    old.execute(OLD_MIGRATIONS)
    old.execute(
        "INSERT INTO windlass_migrations VALUES (1, ?, ?, 0, 0)", (first.name, first.checksum)
    )
    for row in (("a", "pending"), ("b", "retry"), ("c", "active"), ("d", "dead")):
        old.execute(OLD_JOB, (*row, encode_spec(Spec("work", b""))))
    old.execute("UPDATE windlass_jobs SET lease_until = 1, worker = 'w' WHERE id = 'c'")
    old.execute("UPDATE windlass_jobs SET finished_at = 5 WHERE id = 'd'")
    done = threading.Event()

    def go_on() -> int:
        number = 0
        while not (done.is_set() and number):
            number += 1
            old.execute(OLD_JOB, (f"x{number}", "scheduled", encode_spec(Spec("work", b""))))
            old.execute("DELETE FROM windlass_jobs WHERE id = ?", (f"x{number}",))
        return number

    going = asyncio.create_task(asyncio.to_thread(go_on))
    store = open_store(url)
    await store.open()
    done.set()
    assert await going > 0
    old.close()
    assert ids(await claim(store)) == ["a", "b"]
    assert [job.id for job in await store.rescue(9, 1_000, "rescuer")] == ["c"]
    assert set(await store.get(["d"])) == {"d"}
    assert await store.replay(["d"]) == {"d"}
    assert await store.migrate() == ()
    await store.close()


async def test_a_migration_that_fails_half_way_leaves_nothing_behind(url: str, path: Path) -> None:
    # The last table of the first migration is there already, with other columns.
    execute(path, "CREATE TABLE windlass_terms (mine)")
    with pytest.raises(StoreError, match="schema could not be brought up to date"):
        await open_store(url).open()
    assert tables(path) == {"windlass_terms"}
    execute(path, "DROP TABLE windlass_terms")
    store = open_store(url)
    await store.open()
    await put(store, "a")
    await store.close()


async def test_a_store_of_the_version_before_gets_what_is_new_and_keeps_its_jobs(
    url: str, path: Path
) -> None:
    await open_store(url).migrate()
    for sql in BEFORE_KEYS:
        execute(path, sql)
    older = open_store(f"{url}?migrate=off")
    await older.open()
    await put(older, "a")
    with pytest.raises(StoreError, match="no such table: windlass_keys"):
        await older.keys()
    assert list(await open_store(url).migrate()) == [
        *("0002_keys", "0003_observe", "0004_lost"),
    ]
    await put(older, "b")
    await older.put_keys([KEY])
    assert list(await older.keys()) == [KEY]
    await older.note_attempts([ATTEMPT], 60_000)
    assert await older.attempts(["a"]) == {"a": [ATTEMPT]}
    assert ids(await claim(older)) == ["a", "b"]
    await older.close()


async def test_other_tables_in_the_same_file_are_left_alone(url: str, path: Path) -> None:
    execute(path, "CREATE TABLE mine AS SELECT 42 AS x")
    await open_store(url).migrate()
    assert execute(path, "SELECT x FROM mine") == [(42,)]


FILES = 40
MIGRATE = """
import asyncio, sys
from windlass.stores.open import open_store

stores = [open_store(sys.argv[1] + str(n)) for n in range(int(sys.argv[2]))]
sys.stdin.readline()
for store in stores:
    print(len(asyncio.run(store.migrate())))
"""


def test_several_processes_that_migrate_at_once_all_succeed(url: str) -> None:
    # Several files one after the other: the moment that matters is the first of each.
    processes = [start(MIGRATE, url, FILES) for _ in range(4)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    answers = [finish(process).split() for process in processes]
    number = str(len(load_migrations("windlass.stores.sqlite")))
    for by_file in zip(*answers, strict=True):
        assert sorted(by_file) == ["0", "0", "0", number]


async def test_switched_off_nothing_is_migrated_and_the_store_says_what_it_misses(
    url: str, path: Path
) -> None:
    store = open_store(f"{url}?migrate=off")
    await store.open()
    with pytest.raises(StoreError, match="no such table"):
        await put(store, "a")
    assert tables(path) == set()
    await store.migrate()
    await put(store, "a")
    assert await state_of(store, "a") == "pending"
    await store.close()


async def test_a_schema_that_stays_locked_is_told_in_our_own_words(url: str, path: Path) -> None:
    execute(path, "PRAGMA journal_mode = wal")
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await open_store(f"{url}?busy_timeout=0.2").open()
        raw.execute("ROLLBACK")
    await open_store(url).migrate()
