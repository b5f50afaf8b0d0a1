"""The file itself: how it is opened, and what is no file of ours."""

import ctypes
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.stores.process import finish, start
from windlass.core.clock import system_clock
from windlass.errors import StoreError
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.stores.sql.queries import load_queries
from windlass.stores.sqlite.connection import Connection
from windlass.stores.sqlite.database import STORE
from windlass.stores.sqlite.url import Settings
from windlass.testing.jobs import put

NORMAL, FULL, IN_MEMORY = 1, 2, 2
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def pragma(path: Path, name: str, synchronous: str = "normal") -> object:
    settings = Settings(str(path), synchronous)
    connection = Connection(settings, load_queries(*STORE.packages), system_clock)
    with closing(connection):
        return connection.raw.execute(f"PRAGMA {name}").fetchone()[0]


async def test_the_file_is_in_wal_mode_for_everyone(store: Store, path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await put(store, "a")
    assert path.with_name(path.name + "-wal").stat().st_size > 0


def test_a_connection_has_the_settings_that_the_store_relies_on(path: Path) -> None:
    assert pragma(path, "journal_mode") == "wal"
    assert pragma(path, "synchronous") == NORMAL
    assert pragma(path, "temp_store") == IN_MEMORY
    assert pragma(path, "busy_timeout") == 0


def test_the_url_can_ask_for_every_commit_to_be_on_the_disk(path: Path) -> None:
    assert pragma(path, "synchronous", synchronous="full") == FULL


async def test_readers_see_what_was_committed_while_a_write_is_going_on(
    store: Store, path: Path
) -> None:
    await put(store, "a")
    with closing(sqlite3.connect(path, isolation_level=None)) as raw:
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("DELETE FROM windlass_jobs")
        assert "a" in await store.get(["a"])
        raw.execute("ROLLBACK")


async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    url: str, path: Path
) -> None:
    path.write_bytes(b"these are my notes\n" * 500)
    with pytest.raises(StoreError, match=r"Cannot open the SQLite file .* not a database"):
        await open_store(url).open()
    assert path.read_bytes() == b"these are my notes\n" * 500
    assert [file.name for file in path.parent.iterdir()] == [path.name]


async def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"Cannot open the SQLite file .*/nowhere/jobs\.db"):
        await open_store(f"sqlite:///{tmp_path}/nowhere/jobs.db").open()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("create", ["on", "off"])
async def test_a_folder_that_one_may_not_look_into_is_named(tmp_path: Path, create: str) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    account = os.geteuid()
    os.seteuid(account or 65534)  # to the superuser no folder is closed
    try:
        with pytest.raises(StoreError, match=f"let this user write to the folder {closed}"):
            await open_store(f"sqlite:///{closed}/jobs.db?create={create}").open()
    finally:
        os.seteuid(account)


async def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Cannot open the SQLite file"):
        await open_store(f"sqlite:///{tmp_path}").open()


OPEN = """
import asyncio, sys
from windlass.errors import StoreError
from windlass.stores.open import open_store
from windlass.testing.jobs import put

try:
    open(sys.argv[2], "ab").close()
except PermissionError:
    pass
else:
    sys.exit("this test needs a folder that it cannot write to")

async def main():
    store = open_store("sqlite:///" + sys.argv[1])
    await store.open()
    await put(store, "b")

try:
    asyncio.run(main())
except StoreError as error:
    print(error)
"""


def without_roots_powers() -> None:
    """Permissions bind root too once the next program starts without this capability."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def open_unprivileged(path: Path, forbidden: Path) -> str:
    return finish(start(OPEN, path, forbidden, before=without_roots_powers)).strip()


def test_a_folder_that_cannot_be_written_to_is_told(path: Path) -> None:
    path.parent.chmod(0o555)
    try:
        sentence = open_unprivileged(path, path.parent / "probe")
    finally:
        path.parent.chmod(0o755)
    assert sentence == (
        f"Cannot open the SQLite file {path}: unable to open database file; let this user write to "
        f"the folder {path.parent}."
    )


async def test_a_file_that_cannot_be_written_to_is_told(url: str, path: Path) -> None:
    store = open_store(url)
    await store.open()
    await put(store, "a")
    await store.close()
    path.chmod(0o444)
    sentence = open_unprivileged(path, path)
    assert str(path) in sentence
    assert "readonly database; let this user write to the file and to its folder" in sentence
