"""From a URL to a store."""

import os
from pathlib import Path

import pytest

from windlass.errors import InvalidOption, StoreError, UnknownScheme
from windlass.stores.memory import MemoryStore
from windlass.stores.open import open_store
from windlass.stores.sqlite.store import SqliteStore
from windlass.sync import drive
from windlass.testing.jobs import put, state_of


def sqlite(url: str) -> SqliteStore:
    store = open_store(url, blocking=True)
    assert isinstance(store, SqliteStore)
    drive(store.open())
    return store


def test_opening_makes_a_store_and_touches_nothing(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/jobs.db")
    assert list(tmp_path.iterdir()) == []


def test_memory_stores_are_each_their_own() -> None:
    one, two = open_store("memory://"), open_store("memory://")
    assert isinstance(one, MemoryStore)
    drive(put(one, "a"))
    assert drive(state_of(two, "a")) is None


def test_four_slashes_are_an_absolute_path(tmp_path: Path) -> None:
    drive(sqlite(f"sqlite:///{tmp_path}/a.db").close())
    assert (tmp_path / "a.db").is_file()
    assert str(tmp_path).startswith("/")


def test_three_slashes_are_a_path_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("sub")
    for url in ("sqlite:///a.db", "sqlite:///sub/b.db", "sqlite:///./c.db"):
        drive(sqlite(url).close())
    made = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.db")}
    assert made == {"a.db", "sub/b.db", "c.db"}


@pytest.mark.parametrize(
    ("written", "name"), [("a%20b.db", "a b.db"), ("a b.db", "a b.db"), ("gr%C3%BCn.db", "grün.db")]
)
def test_a_path_may_be_quoted_as_in_any_url(tmp_path: Path, written: str, name: str) -> None:
    drive(sqlite(f"sqlite:///{tmp_path}/{written}").close())
    assert [file.name for file in tmp_path.glob("*.db")] == [name]


def test_a_hash_in_a_path_does_not_lead_to_another_file(tmp_path: Path) -> None:
    """What follows a hash is no part of a URL's path: refused or kept, but not dropped."""
    try:
        store = sqlite(f"sqlite:///{tmp_path}/jobs#2.db")
    except InvalidOption:
        return
    drive(store.close())
    assert [file.name for file in tmp_path.iterdir()] == ["jobs#2.db"]


@pytest.mark.parametrize("url", ["sqlit:///a.db", "SQLITE:///a.db", "sqlite3:///a.db"])
def test_a_scheme_that_is_nearly_right_gets_a_suggestion(url: str) -> None:
    with pytest.raises(UnknownScheme, match=r"did you mean sqlite://\?"):
        open_store(url)


@pytest.mark.parametrize("url", ["kafka://host", "x://", "://", "", "jobs.db", "/var/jobs.db"])
def test_what_no_store_serves_is_refused_in_one_sentence(url: str) -> None:
    with pytest.raises(UnknownScheme) as caught:
        open_store(url)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite://jobs.db",
        "sqlite://host/jobs.db",
        "sqlite:///:memory:",
        "sqlite://[bad/jobs.db",
    ],
)
def test_a_sqlite_url_without_a_path_says_how_one_looks(url: str) -> None:
    with pytest.raises(InvalidOption, match=r"sqlite:///file\.db"):
        open_store(url)


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("sync=full", "sync"),
        ("synchronous=off", "synchronous"),
        ("synchronous=", "synchronous"),
        ("busy_timeout=long", "busy_timeout"),
        ("busy_timeout=-1", "busy_timeout"),
        ("busy_timeout=nan", "busy_timeout"),
        ("busy_timeout=inf", "busy_timeout"),
        ("migrate=no", "migrate"),
        ("migrate=", "migrate"),
        ("create=no", "create"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(setting: str, name: str) -> None:
    with pytest.raises(InvalidOption, match=name):
        open_store(f"sqlite:///jobs.db?{setting}")


def test_a_number_that_cannot_be_is_told_from_what_is_no_number() -> None:
    with pytest.raises(InvalidOption, match=r"busy_timeout must be .* 0 or more; got -1"):
        open_store("sqlite:///jobs.db?busy_timeout=-1")
    with pytest.raises(InvalidOption, match="must be a number of seconds"):
        open_store("sqlite:///jobs.db?busy_timeout=long")


def test_a_missing_file_is_made_unless_the_url_says_not_to(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/50%25 %23?.db".replace("?", "%3F")
    with pytest.raises(StoreError, match=r"There is no SQLite file .*/50% #\?\.db: check the URL"):
        sqlite(f"{url}?create=off")
    assert list(tmp_path.iterdir()) == []
    drive(sqlite(f"{url}?create=on").close())
    store = sqlite(f"{url}?create=off")
    drive(put(store, "a"))
    drive(store.close())
    assert [file.name for file in tmp_path.glob("*.db")] == ["50% #?.db"]


def test_a_missing_file_by_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("a.db", "missing/a.db", "./a.db"):
        with pytest.raises(StoreError, match=f"There is no SQLite file {path}: ") as caught:
            sqlite(f"sqlite:///{path}?create=off")
        assert ("no folder" in str(caught.value)) is path.startswith("missing")
    drive(sqlite("sqlite:///a.db").close())
    drive(sqlite("sqlite:///./a.db?create=off").close())


def test_a_folder_is_no_missing_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="Cannot open the SQLite file"):
        sqlite(f"sqlite:///{tmp_path}?create=off")
