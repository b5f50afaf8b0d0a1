"""The stores that the conformance suite and the model are run on.

To add one, add a line to `STORES`: how to make a handle on data of its own. A store that needs
a server has that server's fixture in `SERVERS`.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import chain, count
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.remote.serving import Serving
from tests.servers.emptied import emptied_database, emptied_file, emptied_schema
from tests.servers.mysql_client import fresh_database
from tests.servers.redis_cluster import Cluster
from windlass import Windlass
from windlass.core.clock import Clock
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.stores.open import open_store
from windlass.testing import suite

Handle = Callable[[], Store]
"""Makes one more handle on the same data."""

Maker = Callable[[Path, Clock], Handle]
"""Makes a handle on data without jobs. Called again with the same folder it empties these data,
if the store is one of those in `KEPT_OPEN`."""


class Server(Protocol):
    url: str
    port: int


def memory(path: Path, clock: Clock) -> Handle:
    store = MemoryStore(clock)
    return lambda: store


def sqlite(path: Path, clock: Clock) -> Handle:
    url = emptied_file(path / "windlass.db")
    return lambda: open_store(url, clock=clock)


_serial = count()


def redis(server: Server, path: Path, clock: Clock) -> Handle:
    url = f"{server.url}?namespace=conformance-{next(_serial)}"
    return lambda: open_store(url, clock=clock)


def cluster(server: Cluster, path: Path, clock: Clock) -> Handle:
    server.flush()
    return lambda: open_store(f"{server.url}?namespace=conformance", clock=clock)


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


def remote(server: Serving, path: Path, clock: Clock) -> Handle:
    url = server.host(Windlass("memory://", clock=clock))
    return lambda: open_store(url)


SERVERS: Mapping[str, str] = {
    "redis": "redis_server",
    "redis-cluster": "redis_cluster",
    "redis-sentinel": "redis_sentinel",
    "redis-6.2": "redis_old",
    "valkey": "valkey_server",
    "postgres": "postgres_server",
    "postgres-pgbouncer": "pgbouncer_server",
    "mariadb": "mariadb_server",
    "remote": "remote_server",
}
"""The fixtures of the servers that stores need."""

STORES = ("memory", "sqlite", *SERVERS)

VARIANTS = ("redis-sentinel", "redis-6.2", "valkey", "postgres-pgbouncer", "remote")
"""The same code on another server or behind one: the model runs there for a shorter time, and what
must not grow with the jobs is not measured. It would on the others as well."""

BRIEFLY = ("redis-sentinel", "valkey", "postgres-pgbouncer", "remote")
"""Variants that a part of the suite is run on, since what a check proves of our code it proves on
Redis and on PostgreSQL. They can differ in what a server knows, so every query and every script is
run, and in what outlasts a call: connections, prepared statements, notices, locks. Redis 6.2 is not
among them: any branch of any script may have a command that it lacks."""

MEASURED = "bounded"
"""The theme that is about time and no answer."""

KEPT_OPEN = ("postgres", "postgres-pgbouncer", "mariadb")
"""Stores that take longer to open than most checks take: one is opened for many checks, and its
data are emptied in between. It is closed after a check that fails."""

OPENED_ANEW = ("life", MEASURED)
"""Themes whose checks get a store that has just been opened all the same."""


def is_kept_open(name: str, check: str) -> bool:
    """Whether a check runs on a store that others have used before."""
    return name in KEPT_OPEN and check.partition("_")[0] not in OPENED_ANEW


THEMES_IN_FULL = (
    # About connections, and about who comes first.
    *("concurrent", "elect", "lease", "life", "wait"),
    # These have queries and scripts that nothing else runs.
    *("keys", "orphans", "schedules", "workers"),
)
"""Those of which a variant gets every check; of the others it gets each fourth."""

CHECKS_BESIDES = (
    "claim_many_queues_at_once",
    "finish_an_attempt_that_does_not_count_is_given_back_whatever_follows",
    "rate_a_ticket_that_is_cancelled_is_followed_by_another",
)
"""Each of these runs a query or a script that nothing else does."""


def stores_of(check: str) -> Sequence[str]:
    """The stores that a check is run on."""
    if check.startswith(f"{MEASURED}_"):
        return [name for name in STORES if name not in VARIANTS]
    return [name for name in STORES if name not in BRIEFLY or check in brief_checks()]


@cache
def brief_checks() -> frozenset[str]:
    """What variants are held to, by theme and name."""
    found: dict[str, list[str]] = {}
    for check in suite.checks():
        if check.theme != MEASURED:
            found.setdefault(check.theme, []).append(f"{check.theme}_{check.name}")
    kept = [names if theme in THEMES_IN_FULL else names[::4] for theme, names in found.items()]
    return frozenset(chain(CHECKS_BESIDES, *kept))


def maker(name: str, request: pytest.FixtureRequest) -> Maker:
    """How to make a handle on fresh data of a store."""
    if name == "remote":
        return partial(remote, request.getfixturevalue(SERVERS[name]))
    if name in SERVERS:
        engines: dict[str, Callable[[Any, Path, Clock], Handle]]
        engines = {"postgres": postgres, "mariadb": mysql, "redis-cluster": cluster}
        if request.node.name.startswith(f"test_{MEASURED}"):
            # So many rows are not emptied quickly, and leave their traces for the next test.
            engines |= {"postgres": postgres_anew, "mariadb": mysql_anew}
        make = engines.get(name) or engines.get(name.partition("-")[0], redis)
        return partial(make, request.getfixturevalue(SERVERS[name]))
    return {"memory": memory, "sqlite": sqlite}[name]


EXEMPT: Mapping[tuple[str, str], str] = {
    ("memory", "bounded_no_listing_grows"): "sorts every job for each page, to be plain",
}
"""What a store is known not to do, by store and check, with the reason. Each must fail."""
