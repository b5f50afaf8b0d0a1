"""Stores of their own for apps, by name: what jobs do to each other is done by each engine."""

from itertools import count
from pathlib import Path

import pytest

from tests.servers.emptied import emptied_database, emptied_schema

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
        return "memory://" if name == "memory" else f"sqlite:///{folder}/jobs.db"
    server = request.getfixturevalue(SERVERS[name])
    match name:
        case "postgres":
            return emptied_schema(server.url, "app")
        case "mariadb":
            return emptied_database(server.url, "app")
    return f"{server.url}?namespace=app-{next(_serial)}"
