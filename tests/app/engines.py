"""Stores of their own for apps, by name: what jobs do to each other is done by each engine."""

import tempfile
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from tests.servers.emptied import emptied_database, emptied_schema
from windlass.stores.open import open_store
from windlass.sync import drive

SERVERS = {
    "redis": "redis_server",
    "redis-cluster": "redis_cluster",
    "postgres": "postgres_server",
    "mariadb": "mariadb_server",
}

ENGINES = ("memory", "sqlite", *SERVERS)

_serial = count()


def url_of(request: pytest.FixtureRequest, folder: Path) -> str:
    """The URL of a store without data, for the engine that a fixture has as its parameter."""
    name = request.param
    if name not in SERVERS:
        return "memory://" if name == "memory" else sqlite_in(folder)
    server = request.getfixturevalue(SERVERS[name])
    match name:
        case "postgres":
            return emptied_schema(server.url, "app")
        case "mariadb":
            return emptied_database(server.url, "app")
    return f"{server.url}?namespace=app-{next(_serial)}"


def sqlite_in(folder: Path) -> str:
    """The URL of a SQLite file in a folder, with tables and nothing in them."""
    path = folder / "jobs.db"
    path.write_bytes(_migrated())
    return f"sqlite:///{path}"


@cache
def _migrated() -> bytes:
    """What is in such a file: to write it takes a fraction of the time of migrating one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "jobs.db")
        store = open_store(f"sqlite:///{path}", blocking=True)
        drive(store.open())
        drive(store.close())
        return path.read_bytes()
