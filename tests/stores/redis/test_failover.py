"""Another server takes over: a worker goes on with it, and finds all that was acknowledged."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from tests.servers.process import wait_until
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.redis_sentinel import Sentinels
from tests.servers.server import Server
from tests.stores.redis.outage import PROMISED, QUEUES, soonest, working
from tests.stores.site import Site
from windlass.errors import StoreUnavailable
from windlass.testing.work import until

KEPT = [f"kept-{n}" for n in range(24)]
"""Accepted before, to run after."""

DELAY = 2.0

log = logging.getLogger(__name__)


@pytest.fixture
def cluster(redis_cluster: Cluster) -> Iterator[Cluster]:
    yield redis_cluster
    redis_cluster.heal()


@pytest.fixture
def sentinels(redis_sentinel: Sentinels) -> Iterator[Sentinels]:
    yield redis_sentinel
    redis_sentinel.heal()


async def test_a_cluster_fails_over_in_good_order(cluster: Cluster) -> None:
    def happens() -> None:
        cluster.failover(cluster.replica_of(cluster.master_of(0)))

    await survives(cluster, happens)


async def test_a_master_of_a_cluster_is_killed(cluster: Cluster) -> None:
    def happens() -> None:
        master = cluster.master_of(0)
        replica = cluster.replica_of(master)
        replicated(master, replica)
        master.kill()
        assert wait_until(lambda: cluster.master_of(0) is replica)

    await survives(cluster, happens)


async def test_sentinels_fail_over_in_good_order(sentinels: Sentinels) -> None:
    # Sentinels change roles without a halt: what the old master takes meanwhile is lost, unless it
    # is acknowledged when the replica has it.
    await survives(sentinels, sentinels.failover, "&replicas=1")


async def test_the_master_under_sentinels_is_killed(sentinels: Sentinels) -> None:
    def happens() -> None:
        master = sentinels.master()
        [replica] = [server for server in sentinels.servers if server is not master]
        replicated(master, replica)
        master.kill()
        assert wait_until(lambda: sentinels.master() is replica)

    await survives(sentinels, happens)


async def test_queues_of_other_masters_go_on_while_one_is_down(cluster: Cluster) -> None:
    async with working(cluster.url, cluster.url, QUEUES[:3], options="&patience=1") as site:
        master = cluster.master_of(0)
        cluster.replica_of(master).kill()
        master.kill()
        try:
            taken, refused = await offered(site, QUEUES[:3])
            assert taken
            assert refused
            await until(lambda: site.runs.keys() >= taken)
        finally:
            await asyncio.to_thread(cluster.heal)


async def offered(site: Site, queues: Sequence[str]) -> tuple[set[str], set[str]]:
    """The queues that took a job, named like the queue, and those that could not."""
    taken, refused = set(), set()
    for queue in queues:
        try:
            await site.enqueue(queue, queues=(queue,))
            taken.add(queue)
        except StoreUnavailable:
            refused.add(queue)
    return taken, refused


async def survives(
    servers: Cluster | Sentinels, happens: Callable[[], None], options: str = ""
) -> None:
    """Whatever `happens`, all that was accepted before runs once, and what comes after, soon."""

    async def trial() -> float:
        await asyncio.to_thread(servers.heal)
        async with working(servers.url, servers.url, QUEUES, options) as site:
            await site.enqueue(*KEPT, delay=DELAY)
            await asyncio.to_thread(happens)
            took = await site.proves_well(back=time.monotonic())
            await until(lambda: site.runs.keys() >= set(KEPT))
        log.info("jobs of all queues had started %.3f s after the failover", took)
        assert set(site.runs.values()) == {1}
        return took

    assert await soonest(trial) < PROMISED


def replicated(master: Server, replica: Server) -> None:
    """Wait until the replica has all that the master had at the time of the call.

    Redis acknowledges before it replicates; what it loses by that is not ours to test.
    """
    offset = tell(master.port, "INFO", "replication")["master_repl_offset"]
    assert wait_until(
        lambda: tell(replica.port, "INFO", "replication")["slave_repl_offset"] >= offset
    )
