"""The stores that the conformance suite and the model are run on.

To add one, add a line to `STORES`: how to make a handle on data of its own. A store that needs
a server has that server's fixture in `SERVERS`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest

from tests.servers.emptied import emptied_database, emptied_schema
from tests.servers.mysql_client import fresh_database
from windlass.core.clock import Clock
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.stores.open import open_store

Handle = Callable[[], Store]
"""Makes one more handle on the same data."""


class Server(Protocol):
    url: str
    port: int


def memory(path: Path, clock: Clock) -> Handle:
    store = MemoryStore(clock)
    return lambda: store


def sqlite(path: Path, clock: Clock) -> Handle:
    return lambda: open_store(f"sqlite:///{path}/windlass.db", clock=clock)


_serial = count()


def redis(server: Server, path: Path, clock: Clock) -> Handle:
    url = f"{server.url}?namespace=conformance-{next(_serial)}"
    return lambda: open_store(url, clock=clock)


def postgres(server: Server, path: Path, clock: Clock) -> Handle:
    url = emptied_schema(server.url, f"conformance_{server.port}")
    return lambda: open_store(url, clock=clock)


def postgres_anew(server: Server, path: Path, clock: Clock) -> Handle:
    url = f"{server.url}?schema=anew_{next(_serial)}"
    return lambda: open_store(url, clock=clock)


def mysql(server: Server, path: Path, clock: Clock) -> Handle:
    url = emptied_database(server.url, "conformance")
    return lambda: open_store(url, clock=clock)


def mysql_anew(server: Server, path: Path, clock: Clock) -> Handle:
    url = fresh_database(server.url, "anew")
    return lambda: open_store(url, clock=clock)


SERVERS: Mapping[str, str] = {
    "redis": "redis_server",
    "redis-cluster": "redis_cluster",
    "redis-sentinel": "redis_sentinel",
    "redis-6.2": "redis_old",
    "valkey": "valkey_server",
    "postgres": "postgres_server",
    "postgres-pgbouncer": "pgbouncer_server",
    "mariadb": "mariadb_server",
}
"""The fixtures of the servers that stores need."""

STORES = ("memory", "sqlite", *SERVERS)

VARIANTS = ("redis-6.2", "valkey", "postgres-pgbouncer")
"""The same code on another server, or through a pooler: the model runs there for a shorter time."""


def maker(name: str, request: pytest.FixtureRequest) -> Callable[[Path, Clock], Handle]:
    """How to make a handle on fresh data of a store."""
    if name in SERVERS:
        engines = {"postgres": postgres, "mariadb": mysql}
        if request.node.name.startswith("test_bounded"):
            # So many rows are not emptied quickly, and leave their traces for the next test.
            engines = {"postgres": postgres_anew, "mariadb": mysql_anew}
        make = engines.get(name.partition("-")[0], redis)
        return partial(make, request.getfixturevalue(SERVERS[name]))
    return {"memory": memory, "sqlite": sqlite}[name]


EXEMPT: Mapping[tuple[str, str], str] = {
    ("memory", "bounded_no_listing_grows"): "sorts every job for each page, to be plain",
    ("memory", "bounded_no_listing_grows_with_the_active"): "sorts every job, again",
}
"""What a store is known not to do, by store and check, with the reason. Each must fail."""
