"""A fence never comes again, whatever the server has forgotten."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest

from tests.servers import redis
from tests.servers.process import wait_until
from tests.servers.redis import tell
from tests.servers.server import Server
from tests.stores.redis.watch import fresh, fresh_namespace
from windlass.core.model import Job, Transition
from windlass.core.states import State
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import LEASE, claim_one, new_job


@pytest.fixture
def forgetful() -> Iterator[Server]:
    """A server that has what its last snapshot has, after a crash."""
    with redis.serve("--appendonly no") as server:
        yield server


@contextmanager
def replica_of(master: Server) -> Iterator[Server]:
    with redis.serve(f"--replicaof 127.0.0.1 {master.port}") as replica:
        assert wait_until(
            lambda: tell(replica.port, "INFO", "replication")["master_link_status"] == "up"
        )
        yield replica


@asynccontextmanager
async def opened(server: Server, namespace: str) -> AsyncIterator[RedisStore]:
    async with fresh(server.url, namespace=namespace) as store:
        yield store


def move(job: Job, state: State) -> Transition:
    return Transition(job.id, job.fence, state, queue=job.queue, ref=job.ref)


async def refused_in_all(store: RedisStore, zombie: Job, owner: Job) -> None:
    """The first owner, whose claim was forgotten, can do nothing; the second one can."""
    assert zombie.id == owner.id
    assert zombie.fence < owner.fence
    assert await store.renew([zombie.lease], LEASE) == frozenset()
    assert await store.checkpoint([(zombie.lease, b"step")]) == frozenset()
    for state in (State.RETRY, State.COMPLETED):
        assert await store.finish([move(zombie, state)]) == frozenset()
    assert await store.finish([move(owner, State.COMPLETED)]) == {owner.id}


async def test_a_replica_that_lagged_gives_no_fence_again() -> None:
    namespace = fresh_namespace()
    with redis.serve() as master, replica_of(master) as replica:
        async with opened(master, namespace) as store:
            await store.insert([new_job("job")])
            assert wait_until(lambda: replicated(master, replica))
            tell(replica.port, "REPLICAOF", "NO", "ONE")
            zombie = await claim_one(store)
        async with opened(replica, namespace) as store:
            await refused_in_all(store, zombie, await claim_one(store))


def replicated(master: Server, replica: Server) -> bool:
    offset = tell(master.port, "INFO", "replication")["master_repl_offset"]
    return bool(tell(replica.port, "INFO", "replication")["slave_repl_offset"] >= offset)


async def test_a_restart_from_an_old_snapshot_gives_no_fence_again(forgetful: Server) -> None:
    namespace = fresh_namespace()
    async with opened(forgetful, namespace) as store:
        await store.insert([new_job("job")])
        tell(forgetful.port, "SAVE")
        zombie = await claim_one(store)
    forgetful.kill()
    forgetful.start()
    async with opened(forgetful, namespace) as store:
        await refused_in_all(store, zombie, await claim_one(store))


async def test_a_rescue_after_a_restart_gives_no_fence_again(forgetful: Server) -> None:
    namespace = fresh_namespace()
    async with opened(forgetful, namespace) as store:
        await store.insert([new_job("job")])
        await claim_one(store, lease=1)
        tell(forgetful.port, "SAVE")
        [zombie] = await rescued(store)
        assert await store.renew([zombie.lease], 1) == {"job"}
    forgetful.kill()
    forgetful.start()
    async with opened(forgetful, namespace) as store:
        [owner] = await rescued(store)
        await refused_in_all(store, zombie, owner)


async def rescued(store: RedisStore) -> list[Job]:
    while not (jobs := await store.rescue(1, LEASE, "rescuer")):
        pass
    return list(jobs)


async def test_a_fence_is_at_least_the_time_of_the_server(redis_server: Server) -> None:
    async with opened(redis_server, fresh_namespace()) as store:
        await store.insert([new_job("one"), new_job("two")])
        before = await store.now()
        fences = [(await claim_one(store)).fence for _ in range(2)]
        assert before * 1024 < fences[0] < fences[1]
        # It has room for a hundred years, where numbers are doubles.
        assert fences[1] < 2**53 // 2
