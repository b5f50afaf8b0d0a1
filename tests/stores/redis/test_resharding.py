"""A slot on its way to another node, with the real scripts: its shard waits, nothing is lost."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.test_cluster_transport import begin_move, end_move
from tests.stores.redis.test_partial_outage import job
from tests.stores.redis.watch import fresh
from windlass.errors import StoreUnavailable
from windlass.testing.jobs import claim_all

SHARD = 5


@contextmanager
def moved(cluster: Cluster, slot: int) -> Iterator[tuple[Server, Server]]:
    """The two nodes between which a slot is to go; it comes back at the end."""
    source = cluster.master_of(slot)
    goal = cluster.master_of((slot + 8_000) % 16_384)
    try:
        yield source, goal
    finally:
        tell(goal.port, "FLUSHALL")
        if cluster.master_of(slot) is goal:
            begin_move(slot, goal, source)
        end_move(cluster, slot, goal, source)


def carry(slot: int, source: Server, goal: Server) -> None:
    while keys := tell(source.port, "CLUSTER", "GETKEYSINSLOT", slot, 100):
        tell(source.port, "MIGRATE", "127.0.0.1", goal.port, "", 0, 5_000, "KEYS", *keys)


async def test_a_shard_waits_until_its_slot_has_moved(redis_cluster: Cluster) -> None:
    async with fresh(redis_cluster.url, patience="0.5") as store:
        slot = store._shards[SHARD]._keys.slot
        queues = [f"q-{n}" for n in range(60)]
        mine = next(q for q in queues if store._spread.of_queue(q) == [SHARD])
        other = next(q for q in queues if store._spread.of_queue(q) != [SHARD])
        before = [job(mine) for _ in range(10)]
        await store.insert(before)
        with moved(redis_cluster, slot) as (source, goal):
            begin_move(slot, source, goal)
            # From the first moment on, for a script names keys that are not there.
            with pytest.raises(StoreUnavailable):
                await claim_all(store, mine)
            carry(slot, source, goal)
            with pytest.raises(StoreUnavailable):
                await claim_all(store, mine)
            await store.insert([beside := job(other)])
            assert [each.id for each in await claim_all(store, other)] == [beside.id]
            end_move(redis_cluster, slot, source, goal)
            await store.insert([last := job(mine)])
            claimed = await claim_all(store, mine)
            assert [each.id for each in claimed] == [each.id for each in (*before, last)]
