"""Stores for chaos runs: private servers of each kind, and what can befall them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.chaos.disk import fill, mounted
from tests.servers import mariadb, postgres, redis
from tests.servers.process import wait_until
from tests.servers.proxy import Proxy, forward
from tests.servers.redis import tell
from tests.servers.redis_cluster import SLOTS, Cluster, serve_cluster
from tests.servers.redis_sentinel import Sentinels, serve_sentinel
from tests.servers.server import Server, Unhealthy
from windlass.testing.chaos.trouble import StoreHarm

FAULT = 0.5
"""How long a store stands still, or is without memory, in seconds."""


class Site(NamedTuple):
    """Where processes work, and what can be done to the store there."""

    url: str
    harms: tuple[StoreHarm, ...] = ()


@contextmanager
def sqlite() -> Iterator[Site]:
    """The disk is full for a while, where one is allowed to mount such a disk."""
    with TemporaryDirectory(prefix="windlass-chaos-") as name:
        folder = Path(name)
        with mounted(folder) as can_be_full:
            harms = (StoreHarm("disk", partial(fill, folder)),) if can_be_full else ()
            yield Site(f"sqlite:///{folder}/jobs.db", harms)


def of_server(server: Server, proxy: Proxy) -> Site:
    """All go through a bad network; the server is killed, restarted and frozen behind it."""
    harms = [
        StoreHarm("crash", partial(asyncio.to_thread, crash, server)),
        StoreHarm("restart", partial(asyncio.to_thread, restart, server)),
        StoreHarm("cut", partial(asyncio.to_thread, proxy.cut)),
        StoreHarm("drop", partial(asyncio.to_thread, proxy.drop_replies, 3)),
        StoreHarm("slow", partial(freeze, server)),
    ]
    if server.url.startswith("redis:"):
        harms.append(StoreHarm("memory", partial(starve, server)))
    return Site(proxy.through(server.url), tuple(harms))


def crash(server: Server) -> None:
    server.kill()
    server.start()


def restart(server: Server) -> None:
    server.stop()
    server.start()


async def freeze(server: Server) -> None:
    server.freeze()
    await asyncio.sleep(FAULT)
    server.thaw()


async def starve(server: Server) -> None:
    """Let it have less memory than it uses, so that it refuses what would need more."""
    await asyncio.to_thread(tell, server.port, "CONFIG", "SET", "maxmemory", "100kb")
    await asyncio.sleep(FAULT)
    await asyncio.to_thread(tell, server.port, "CONFIG", "SET", "maxmemory", "0")


def of_cluster(cluster: Cluster) -> Site:
    """A master dies, or changes places with its replica in good order."""
    chance = Random()

    def failover() -> None:
        master = cluster.master_of(chance.randrange(SLOTS))
        cluster.failover(cluster.replica_of(master))

    def takeover() -> None:
        slot = chance.randrange(SLOTS)
        master = cluster.master_of(slot)
        master.kill()
        if not wait_until(lambda: cluster.master_of(slot) is not master):
            raise Unhealthy("nobody took over")
        cluster.heal()

    return _replicated(cluster.url, failover, takeover)


def of_sentinels(group: Sentinels) -> Site:
    """The master dies, or stands still until it is no longer one, or leaves in good order."""

    def takeover() -> None:
        master = group.master()
        master.kill()
        if not wait_until(lambda: group.master() is not master):
            raise Unhealthy("nobody took over")
        group.heal()

    def oversleep() -> None:
        """It wakes up in the belief that it is the master."""
        master = group.master()
        master.freeze()
        try:
            if not wait_until(lambda: group.master() is not master):
                raise Unhealthy("nobody took over")
        finally:
            master.thaw()
        group.heal()

    return _replicated(group.url, group.failover, takeover, oversleep)


def _replicated(url: str, failover: Callable[[], None], *takeovers: Callable[[], None]) -> Site:
    """With `replicas=1`, what is accepted outlives its master."""
    harms = [StoreHarm("failover", partial(asyncio.to_thread, failover))]
    harms += [StoreHarm("takeover", partial(asyncio.to_thread, each)) for each in takeovers]
    return Site(f"{url}?replicas=1", tuple(harms))


@contextmanager
def _served(serve: Callable[[], AbstractContextManager[Server]]) -> Iterator[Site]:
    with serve() as server, forward(server.port) as proxy:
        yield of_server(server, proxy)


@contextmanager
def cluster() -> Iterator[Site]:
    with serve_cluster() as served:
        yield of_cluster(served)


@contextmanager
def sentinel() -> Iterator[Site]:
    with serve_sentinel() as group:
        yield of_sentinels(group)


LOST = 0.3
"""Seconds of what a store acknowledges, before it is set back to what it had then."""


def of_snapshots(server: Server) -> Site:
    """It comes back from a crash with what its last snapshot has; it must keep no file but this."""

    def forget() -> None:
        tell(server.port, "SAVE")
        time.sleep(LOST)
        crash(server)

    return _forgetful(server.url, forget)


def of_lagging_sentinels(group: Sentinels) -> Site:
    """The replica that takes over does not have what the master acknowledged last."""

    def forget() -> None:
        master = group.master()
        [replica] = [server for server in group.servers if server is not master]
        _lag_behind(replica)
        master.kill()
        if not wait_until(lambda: group.master() is replica):
            raise Unhealthy("nobody took over")
        _follow_again(replica)
        group.heal()

    return _forgetful(group.url, forget)


def of_lagging_cluster(cluster: Cluster) -> Site:
    """As under Sentinel, one of the masters after the other."""
    chance = Random()

    def forget() -> None:
        slot = chance.randrange(SLOTS)
        master = cluster.master_of(slot)
        replica = cluster.replica_of(master)
        _lag_behind(replica)
        master.kill()
        if not wait_until(lambda: cluster.master_of(slot) is replica):
            raise Unhealthy("nobody took over")
        _follow_again(replica)
        cluster.heal()

    return _forgetful(cluster.url, forget)


def _lag_behind(replica: Server) -> None:
    """Let a replica not get what its master is told from now on, for a while."""
    tell(replica.port, "CONFIG", "SET", "masterauth", "wrong")
    tell(replica.port, "CLIENT", "KILL", "TYPE", "master")
    time.sleep(LOST)


def _follow_again(replica: Server) -> None:
    tell(replica.port, "CONFIG", "SET", "masterauth", "")


def _forgetful(url: str, forget: Callable[[], None]) -> Site:
    return Site(url, (StoreHarm("loss", partial(asyncio.to_thread, forget)),))


SITES: Mapping[str, Callable[[], AbstractContextManager[Site]]] = {
    "sqlite": sqlite,
    "redis": partial(_served, redis.serve),
    "redis sentinel": sentinel,
    "redis cluster": cluster,
    "postgres": partial(_served, postgres.serve),
    "mariadb": partial(_served, mariadb.serve),
}
