"""Jobs of groups cost the same however many groups wait; nothing stays of a queue that is empty."""

import asyncio
import logging
from collections.abc import Iterator, Sequence

import pytest

from tests.servers import redis
from tests.servers.redis import tell
from tests.servers.server import Server
from tests.stores.redis.watch import fresh, worked
from windlass.core.ids import new_id
from windlass.core.model import NewJob, Spec
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import claim_all

FEW, MANY = 100, 100_000
LOAD = 500
GROWTH = 3.0
"""What a thousand times as many groups may cost: a logarithm grows."""

log = logging.getLogger(__name__)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with redis.serve("--appendonly no") as server:
        yield server


def jobs(groups: Sequence[str]) -> list[NewJob]:
    return [NewJob(new_id(), Spec("work", b"", group=name), fresh=True) for name in groups]


async def wait_in(store: RedisStore, number: int) -> None:
    for start in range(0, number, 4 * LOAD):
        parts = [
            [f"group-{n}" for n in range(at, min(at + LOAD, number))]
            for at in range(start, min(start + 4 * LOAD, number), LOAD)
        ]
        await asyncio.gather(*(store.insert(jobs(part)) for part in parts))


async def cost(server: Server, store: RedisStore, size: int, name: str) -> float:
    """The milliseconds of the server for some more, each of a group of its own, at the best."""
    spent = []
    for n in range(4):
        before = worked(server.port)
        for k in range(LOAD // size // 5):
            await store.insert(jobs([f"{name}-{size}-{n}-{k}-{at}" for at in range(size)]))
        spent.append(worked(server.port) - before)
    return min(spent)


@pytest.mark.timeout(300)
async def test_a_job_of_a_group_costs_the_same_with_many_groups(server: Server) -> None:
    found = []
    for number in (FEW, MANY):
        async with fresh(server.url, timeout="60") as store:
            await wait_in(store, number)
            found.append([await cost(server, store, size, "more") for size in (1, 100)])
    log.info("%s", found)
    for few, many in zip(*found, strict=True):
        assert many < GROWTH * max(few, 10.0)


async def test_nothing_is_left_of_queues_whose_groups_are_gone(server: Server) -> None:
    tell(server.port, "FLUSHALL")
    async with fresh(server.url, namespace="gone") as store:
        for n in range(20):
            spec = Spec("work", b"", group="g")
            await store.insert([NewJob(new_id(), spec, queue=f"q-{n}", fresh=True)])
        await claim_all(store, *(f"q-{n}" for n in range(20)))
        fields = await store._shards[0].send("HKEYS", "meta")
        assert not [field for field in fields if field.startswith(b"clock")]
