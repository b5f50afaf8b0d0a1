"""Ten thousand queues, most of them empty: they cost next to nothing, and each is served."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest

from tests.servers import redis
from tests.servers.redis import tell
from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.watch import counted, fresh, used_memory
from windlass import Windlass
from windlass.admin.doctor import diagnose, examine
from windlass.config import WorkerSettings
from windlass.core.clock import system_clock
from windlass.core.ids import new_id
from windlass.core.model import JobQuery, NewJob, Transition
from windlass.core.states import State
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import FLEETING, LEASE, finish, put
from windlass.testing.work import until

MANY = 10_000
QUEUES = tuple(f"tenant-{n}" for n in range(MANY))
CAPS = dict.fromkeys(QUEUES, 10)
SOME = QUEUES[::5]
"""Of so many the part of each is seen as well."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with redis.serve("--appendonly no") as server:
        yield server


@pytest.fixture
async def store(server: Server) -> AsyncIterator[RedisStore]:
    tell(server.port, "FLUSHALL")
    async with fresh(server.url) as store:
        yield store


async def put_one_in_each(store: RedisStore, queues: Sequence[str], delay: int = 0) -> None:
    jobs = [NewJob(new_id(), FLEETING, queue=queue, delay=delay, fresh=True) for queue in queues]
    for start in range(0, len(jobs), 500):
        await store.insert(jobs[start : start + 500])


async def drain(store: RedisStore) -> list[str]:
    """Claim and finish until nothing is left; the queues in the order in which they were met."""
    met: list[str] = []
    while jobs := await store.claim(CAPS, 500, LEASE, "w"):
        met += [job.queue for job in jobs]
        moves = [
            Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref)
            for job in jobs
        ]
        assert len(await store.finish(moves)) == len(moves)
    return met


async def test_every_queue_is_claimed_from_in_the_order_of_preference(store: RedisStore) -> None:
    await put_one_in_each(store, SOME)
    assert tuple(await drain(store)) == SOME


async def test_empty_queues_cost_no_round_trip_of_their_own(
    store: RedisStore, server: Server
) -> None:
    await put(store, "busy", queue=QUEUES[7_000])
    [job] = await store.claim(CAPS, 10, LEASE, "w")
    assert job.queue == QUEUES[7_000]
    await store.wait([], 0)
    with counted(server.port) as calls:
        assert await store.claim(CAPS, 10, LEASE, "w") == []
    assert calls["evalsha"] <= 1
    # Those inside of the script as well.
    assert sum(calls.values()) <= 10
    with counted(server.port) as calls:
        await store.wait(QUEUES, 0)
        await store.wait([], 0)
    assert calls["evalsha"] <= 2
    assert sum(calls.values()) <= 15


async def test_one_busy_queue_among_many_costs_one_more(store: RedisStore, server: Server) -> None:
    await put(store, "first", queue=QUEUES[1])
    await store.claim(CAPS, 10, LEASE, "w")
    await put(store, "busy", queue=QUEUES[9_999])
    with counted(server.port) as calls:
        assert len(await store.claim(CAPS, 10, LEASE, "w")) == 1
    assert calls["evalsha"] <= 2


async def test_a_queue_that_was_emptied_leaves_nothing(store: RedisStore, server: Server) -> None:
    await put(store, "job", queue="warm", spec=FLEETING)
    await store.claim({"warm": 1}, 1, LEASE, "w")
    before, size = used_memory(server.port), tell(server.port, "DBSIZE")
    await put_one_in_each(store, QUEUES)
    assert tell(server.port, "DBSIZE") >= size + MANY
    assert len(await drain(store)) == MANY
    assert tell(server.port, "DBSIZE") <= size
    assert [stats.name for stats in await store.queues()] == ["warm"]
    # Buffers of the connection are in it; what stays for good would be ten times this.
    assert used_memory(server.port) - before < 4_000_000


async def test_an_empty_queue_that_the_server_must_know_of_is_small(
    store: RedisStore, server: Server
) -> None:
    await put(store, "job", queue="warm")
    before = used_memory(server.port)
    await asyncio.gather(*(store.pause(queue) for queue in SOME))
    assert len(await store.queues()) == len(SOME) + 1
    assert (used_memory(server.port) - before) / len(SOME) < 2_048
    await asyncio.gather(*(store.resume(queue) for queue in SOME))
    assert [stats.name for stats in await store.queues()] == ["warm"]


async def test_a_scheduled_job_in_each_is_small_too(store: RedisStore, server: Server) -> None:
    await put(store, "job", queue="warm")
    before = used_memory(server.port)
    await put_one_in_each(store, SOME, delay=60_000)
    assert (used_memory(server.port) - before) / len(SOME) < 2_048


async def test_an_audit_looks_at_all_queues_in_one_walk(store: RedisStore, server: Server) -> None:
    """Of each look at one of 2,000 queues, one at all of them was a part: it took their square."""
    await put_one_in_each(store, SOME)
    with counted(server.port) as calls:
        chart = await examine(store, system_clock)
    assert calls["hscan"] < len(SOME) / 4
    assert calls["evalsha"] < len(SOME) / 4
    assert len(chart.counted) == len(SOME)
    assert not [finding for finding in diagnose(chart) if finding.kind == "counter"]
    with counted(server.port) as calls:
        page = await store.find(JobQuery(states=(State.PENDING,), queue=SOME[7]))
    assert (len(page.jobs), calls["hscan"]) == (1, 0)


@pytest.mark.parametrize("named", [True, False], ids=["by name", "every queue"])
async def test_a_worker_serves_them_all(server: Server, named: bool) -> None:
    app = Windlass(f"{server.url}?namespace={new_id()}")
    runs = 0

    @app.task(keep=0)
    async def note() -> None:
        nonlocal runs
        runs += 1

    store = await app.client.store()
    some = QUEUES[::40]
    await app.aenqueue_many([note.using(queue=queue).call() for queue in some])
    worker = await app.worker(WorkerSettings(queues=QUEUES if named else ("*",), concurrency=250))
    await worker.start()
    await until(lambda: runs == len(some), timeout=60)
    # Idle now: a job in any of them is met at once.
    await note.using(queue=QUEUES[1234]).aenqueue()
    await until(lambda: runs == len(some) + 1, timeout=20)
    await worker.stop()
    assert await store.queues() == []
    await app.aclose()


async def test_on_a_cluster_each_shard_is_asked_once(redis_cluster: Cluster) -> None:
    ports = [node.port for node in redis_cluster.nodes]
    async with fresh(redis_cluster.url) as store:
        await put(store, "job", queue=QUEUES[5], spec=FLEETING)
        [job] = await store.claim(CAPS, 10, LEASE, "w")
        assert await finish(store, job, State.COMPLETED)
        with counted(*ports) as calls:
            assert await store.claim(CAPS, 10, LEASE, "w") == []
        assert calls["evalsha"] <= 16
