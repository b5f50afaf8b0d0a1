"""Stores for chaos runs: private servers of each kind, and what can befall them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.servers import mariadb, postgres, redis
from tests.servers.proxy import Proxy, forward
from tests.servers.redis_cluster import SLOTS, Cluster, serve_cluster
from tests.servers.server import Server
from windlass.testing.chaos.trouble import StoreHarm


class Site(NamedTuple):
    """Where processes work, and what can be done to the store there."""

    url: str
    harms: tuple[StoreHarm, ...] = ()


@contextmanager
def sqlite() -> Iterator[Site]:
    with TemporaryDirectory(prefix="windlass-chaos-") as folder:
        yield Site(f"sqlite:///{folder}/jobs.db")


def of_server(server: Server, proxy: Proxy) -> Site:
    """All go through a bad network; the server is killed, restarted and frozen behind it."""
    return Site(
        proxy.through(server.url),
        (
            StoreHarm("restart", partial(asyncio.to_thread, crash, server)),
            StoreHarm("restart", partial(asyncio.to_thread, restart, server)),
            StoreHarm("cut", partial(asyncio.to_thread, proxy.cut)),
            StoreHarm("cut", partial(asyncio.to_thread, proxy.drop_replies, 3)),
            StoreHarm("slow", partial(freeze, server)),
        ),
    )


def crash(server: Server) -> None:
    server.kill()
    server.start()


def restart(server: Server) -> None:
    server.stop()
    server.start()


async def freeze(server: Server) -> None:
    server.freeze()
    await asyncio.sleep(0.7)
    server.thaw()


def of_cluster(cluster: Cluster) -> Site:
    """A failover in good order loses nothing; one of a dead master may, and is not promised."""
    chance = Random()

    def failover() -> None:
        master = cluster.master_of(chance.randrange(SLOTS))
        cluster.failover(cluster.replica_of(master))

    harm = StoreHarm("failover", partial(asyncio.to_thread, failover))
    return Site(cluster.url, (harm, harm))


@contextmanager
def _served(serve: Callable[[], AbstractContextManager[Server]]) -> Iterator[Site]:
    with serve() as server, forward(server.port) as proxy:
        yield of_server(server, proxy)


@contextmanager
def cluster() -> Iterator[Site]:
    with serve_cluster() as served:
        yield of_cluster(served)


SITES: Mapping[str, Callable[[], AbstractContextManager[Site]]] = {
    "sqlite": sqlite,
    "redis": partial(_served, redis.serve),
    "redis cluster": cluster,
    "postgres": partial(_served, postgres.serve),
    "mariadb": partial(_served, mariadb.serve),
}
