"""One master of a Cluster and its replica are gone: everything else goes on."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest

from tests.servers.redis_cluster import Cluster
from tests.stores.redis.outage import QUEUES, working
from tests.stores.redis.watch import fresh
from tests.stores.site import Site
from windlass.core.ids import new_id
from windlass.core.model import Job, NewJob, Progress, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.handle import JobHandle
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import BRIEF, LEASE, WORK, claim, claim_all, counts, job_of, state_of
from windlass.testing.work import until

HASTY: Any = {"patience": "1", "timeout": "1"}


@pytest.fixture
async def store(redis_cluster: Cluster) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, **HASTY) as store:
        yield store


class Sides:
    """Queues and names on a master that will be gone, and on others."""

    def __init__(self, store: RedisStore, cluster: Cluster) -> None:
        self._store = store
        doomed = cluster.slots_with(0)
        self._doomed = {each.number for each in store._shards if each._keys.slot in doomed}
        assert 0 < len(self._doomed) < len(store._shards)
        words = [f"word-{n}" for n in range(100)]
        self.gone = [word for word in words if self._of_queue(word) in self._doomed]
        self.there = [word for word in words if self._of_queue(word) not in self._doomed]

    def _of_queue(self, queue: str) -> int:
        return self._store._spread.of_queue(queue)[0]

    def key(self, *, gone: bool) -> str:
        """A unique key that is at home there."""
        names = (f"key-{n}" for n in count())
        home = self._store._spread.home
        return next(name for name in names if (home(name) in self._doomed) is gone)


@pytest.fixture
def sides(store: RedisStore, redis_cluster: Cluster) -> Sides:
    return Sides(store, redis_cluster)


@asynccontextmanager
async def outage(cluster: Cluster, slot: int = 0) -> AsyncIterator[None]:
    """The master of a slot and its replica hang, then are well again."""
    master = cluster.master_of(slot)
    pair = (cluster.replica_of(master), master)
    for server in pair:
        server.freeze()
    try:
        yield
    finally:
        for server in pair:
            server.thaw()
        await asyncio.to_thread(cluster.heal)


def job(queue: str, spec: Spec = WORK, unique: str | None = None) -> NewJob:
    return NewJob(new_id(), spec, queue=queue, unique=unique, fresh=True)


def moves(jobs: Sequence[Job]) -> list[Transition]:
    return [
        Transition(each.id, each.fence, State.COMPLETED, queue=each.queue, ref=each.ref)
        for each in jobs
    ]


async def test_what_is_there_can_be_claimed_and_finished(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    queues = [*sides.gone[:3], *sides.there[:3]]
    await store.insert([job(queue) for queue in queues])
    async with outage(redis_cluster):
        assert (await store.oldest(queues)).keys() == set(sides.there[:3])
        claimed = await claim_all(store, *queues)
        assert sorted(each.queue for each in claimed) == sorted(sides.there[:3])
        assert await store.finish(moves(claimed)) == {each.id for each in claimed}
        async with asyncio.timeout(20):
            await store.wait(queues, 60.0)
    await until_awake(store)
    assert sorted(each.queue for each in await claim_all(store, *queues)) == sorted(sides.gone[:3])


async def test_a_finish_tells_what_was_written_and_what_was_not(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    queues = [*sides.gone[:2], *sides.there[:3]]
    await store.insert([job(queue) for queue in queues])
    jobs = {each.queue: each for each in await claim_all(store, *queues)}
    lost = jobs[sides.there[2]]
    await store.cancel([lost.id])
    done = moves(list(jobs.values()))
    async with outage(redis_cluster):
        with pytest.raises(StoreUnavailable) as caught:
            await store.finish(done)
        there = [jobs[queue] for queue in sides.there[:3]]
        assert caught.value.settled == {(each.id, each.fence) for each in there}
        assert caught.value.held == {each.id for each in there} - {lost.id}
        assert await state_of(store, there[0].id) is State.COMPLETED
        # Now that they are known to be down, nobody waits long for them.
        with pytest.raises(StoreUnavailable):
            await store.finish(moves([jobs[queue] for queue in sides.gone[:2]]))
    await until_awake(store)
    left = [jobs[queue] for queue in sides.gone[:2]]
    assert await store.finish(moves(left)) == {each.id for each in left}


async def test_leases_that_cannot_be_asked_for_are_not_lost(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    queues = [sides.gone[0], sides.there[0]]
    await store.insert([job(queue) for queue in queues])
    jobs = await claim_all(store, *queues)
    before = {each.queue: each.lease_until or 0 for each in jobs}
    async with outage(redis_cluster):
        held = await store.renew([each.lease for each in jobs], 10 * LEASE)
        assert held == {each.id for each in jobs}
        [there] = [each for each in jobs if each.queue == sides.there[0]]
        until_then = (await job_of(store, there.id)).lease_until or 0
        assert until_then > before[there.queue] + LEASE
        await store.report([(there.lease, Progress(50))])
        progress = (await job_of(store, there.id)).progress
        assert progress is not None and progress.percent == 50


async def test_enqueues_of_other_queues_are_not_refused_with_those_of_the_dead(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    there, gone = sides.there[0], sides.gone[0]
    asked = [
        *(job(there) for _ in range(20)),
        *(job(gone) for _ in range(20)),
        job(there, unique=sides.key(gone=True)),
    ]
    async with outage(redis_cluster):
        answers = await asyncio.gather(
            *(store.insert([each]) for each in asked), return_exceptions=True
        )
        assert answers[:20] == [[Receipt(each.id)] for each in asked[:20]]
        assert all(isinstance(answer, StoreUnavailable) for answer in answers[20:])
        assert await counts(store, there) == {State.PENDING: 20}


async def test_jobs_of_lost_workers_are_rescued_and_old_ones_pruned(redis_cluster: Cluster) -> None:
    clock = FakeClock()
    async with fresh(redis_cluster.url, clock, **HASTY) as store:
        sides = Sides(store, redis_cluster)
        queues = [sides.gone[0], sides.there[0], sides.gone[1], sides.there[1]]
        await store.insert([job(queue, BRIEF) for queue in queues])
        jobs = await claim_all(store, *queues)
        await store.finish(moves([each for each in jobs if each.queue in queues[:2]]))
        clock.advance(LEASE / 1000 + 60)
        async with outage(redis_cluster):
            rescued = await store.rescue(10, LEASE, "rescuer")
            assert [each.queue for each in rescued] == [sides.there[1]]
            assert await store.prune(10) == 1
        await until_awake(store)
        assert [each.queue for each in await store.rescue(10, LEASE, "r")] == [sides.gone[1]]
        assert await store.prune(10) == 1


async def test_a_key_that_the_dead_keep_is_given_up_when_they_are_back(
    redis_cluster: Cluster, store: RedisStore, sides: Sides
) -> None:
    key, queue = sides.key(gone=True), sides.there[0]
    await store.insert([job(queue, unique=key)])
    [holder] = await claim(store, queue=queue)
    async with outage(redis_cluster):
        assert await store.finish(moves([holder])) == {holder.id}
        await store.rescue(10, LEASE, "rescuer")
    await until_awake(store)
    await store.rescue(10, LEASE, "rescuer")
    [receipt] = await store.insert([job(queue, unique=key)])
    assert not receipt.duplicate


async def test_a_store_can_be_opened_meanwhile(
    redis_cluster: Cluster, sides: Sides, caplog: pytest.LogCaptureFixture
) -> None:
    async with outage(redis_cluster, slot=16_383), fresh(redis_cluster.url, **HASTY) as store:
        await store.insert([job(queue) for queue in sides.gone[:2]])
        claimed = await claim_all(store, *sides.gone[:2], *sides.there)
    assert sorted(each.queue for each in claimed) == sorted(sides.gone[:2])
    assert any("set up to keep jobs" in line for line in caplog.messages)


async def test_a_store_closes_at_once_while_it_waits_for_the_dead(
    redis_cluster: Cluster, sides: Sides
) -> None:
    queues = [sides.gone[0], sides.there[0]]
    async with fresh(redis_cluster.url, patience="60") as store, outage(redis_cluster):
        assert await claim_all(store, *queues) == []
        async with asyncio.timeout(20):
            await store.close()


async def test_a_worker_goes_on_though_some_of_its_jobs_cannot_be_written(
    redis_cluster: Cluster,
) -> None:
    url = redis_cluster.url
    async with working(url, url, QUEUES, options="&patience=1&timeout=1") as site:
        # One of every queue, so some of the dead master too; all of them end during the outage.
        words = [f"long-{n}" for n in range(len(QUEUES))]
        handles = await site.enqueue(*words)
        await until(lambda: site.runs.keys() >= set(words))
        async with outage(redis_cluster):
            site.release()
            alive = {queue for queue in QUEUES if await accepts(site, queue)}
            assert 0 < len(alive) < len(QUEUES)
            for handle, queue in zip(handles, QUEUES, strict=True):
                if queue in alive:
                    await ended(handle)
            await site.enqueue(*(f"later-{n}" for n in range(50)), queues=sorted(alive))
            await until(lambda: len(site.runs) >= 14 + len(alive) + 50)
        for handle in handles:
            await ended(handle)
    assert set(site.runs.values()) == {1}


async def ended(handle: JobHandle[Any]) -> None:
    """Wait for it, asking again where the hasty store of this test gives up too soon."""
    async with asyncio.timeout(40):
        while True:
            try:
                await handle.aresult(timeout=20)
                return
            except StoreUnavailable:
                await asyncio.sleep(0.05)


async def accepts(site: Site, queue: str) -> bool:
    try:
        await site.enqueue(queue, queues=(queue,))
    except StoreUnavailable:
        return False
    return True


async def until_awake(store: RedisStore) -> None:
    """Ask something until all have answered, as a worker does."""
    async with asyncio.timeout(20):
        while any(store._lookout.is_silent(n) for n in range(len(store._shards))):
            await store.queues()
            await asyncio.sleep(0.01)
