"""A server that is full: nothing new gets in, not even half of it, and what is there gets out."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest

from tests.servers.redis import tell
from tests.servers.server import Server
from tests.stores.redis.watch import contents, fresh
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.attempts import AttemptRecord
from windlass.core.ids import new_id
from windlass.core.model import NewJob, Progress, Spec
from windlass.core.states import State
from windlass.core.stats import COARSE, Tally
from windlass.core.workers import WorkerInfo
from windlass.errors import StoreError
from windlass.stores.contract import CLAIM_BYTES
from windlass.stores.redis.shard import Terms
from windlass.stores.redis.store import RedisStore
from windlass.testing.jobs import (
    BOOM,
    BRIEF,
    LEASE,
    WORK,
    bring,
    claim,
    claim_all,
    counts,
    finish,
    ids,
    new_job,
    put,
)
from windlass.testing.work import until

LARGE = Spec("work", b"x" * 10_000)


@pytest.fixture(params=["redis_server", "redis_old", "valkey_server"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    server: Server = request.getfixturevalue(request.param)
    yield server
    tell(server.port, "CONFIG", "SET", "maxmemory", "0")


@pytest.fixture
async def store(server: Server) -> AsyncIterator[RedisStore]:
    async with fresh(server.url, namespace=new_id()) as store:
        yield store


@contextmanager
def full(server: Server) -> Iterator[None]:
    """No memory is left in the block."""
    tell(server.port, "CONFIG", "SET", "maxmemory", "1")
    yield
    tell(server.port, "CONFIG", "SET", "maxmemory", "0")


def namespace_of(store: RedisStore) -> str:
    return store._channel.partition(":")[0]


BATCHES = {
    "one": [new_job("one")],
    "plain ones": [NewJob(new_id(), WORK, fresh=True) for _ in range(300)],
    "one of every kind": [
        new_job("plain"),
        new_job("key", unique="key"),
        new_job("later", delay=60_000),
        new_job("large", LARGE),
        new_job("elsewhere", queue="other"),
        new_job("all", LARGE, queue="third", unique="second", delay=5),
    ],
    "a key first": [new_job("key", unique="key"), new_job("plain")],
    "a duplicate first": [new_job("there"), new_job("plain")],
}


@pytest.mark.parametrize("batch", BATCHES)
async def test_a_job_is_refused_and_nothing_of_it_is_written(
    store: RedisStore, server: Server, batch: str
) -> None:
    await put(store, "there", unique="taken")
    before = contents(server.port, namespace_of(store))
    with full(server):
        with pytest.raises(StoreError) as caught:
            await store.insert(BATCHES[batch])
        assert contents(server.port, namespace_of(store)) == before
    assert str(caught.value) == (
        "Redis is out of memory (maxmemory); nothing was stored: free some or raise the limit."
    )
    assert await counts(store) == {State.PENDING: 1}
    # As soon as there is memory again, all is as it would have been.
    receipts = await store.insert(BATCHES[batch])
    assert [receipt.duplicate for receipt in receipts] == [
        job.id == "there" for job in BATCHES[batch]
    ]


async def test_tasks_fail_with_one_sentence(server: Server) -> None:
    app = Windlass(f"{server.url}?namespace={new_id()}")

    @app.task
    async def note(number: int) -> None: ...

    await note.aenqueue(0)
    with full(server):
        with pytest.raises(StoreError, match="out of memory"):
            await note.aenqueue(1)
        with pytest.raises(StoreError, match="out of memory"):
            await app.aenqueue_many([note.call(n) for n in range(500)])
        with pytest.raises(StoreError, match="out of memory"):
            await asyncio.to_thread(note.enqueue, 2)
    assert await counts(await app.client.store()) == {State.PENDING: 1}
    await app.aclose()
    await asyncio.to_thread(app.close)


async def test_what_is_there_can_be_claimed_and_finished(store: RedisStore, server: Server) -> None:
    names = [f"job-{n}" for n in range(40)]
    await put(store, *names[:20], spec=BRIEF)
    await put(store, *names[20:30], spec=LARGE, priority=80)
    await put(store, *names[30:], delay=20)
    await asyncio.sleep(0.05)
    with full(server):
        jobs = await claim_all(store, limit=7)
        assert sorted(ids(jobs)) == sorted(names)
        states = (State.COMPLETED, State.RETRY, State.DEAD, State.PENDING)
        for n, job in enumerate(jobs):
            state = states[n % 4]
            error = BOOM if state is not State.COMPLETED else None
            result = b"done" if state is State.COMPLETED and n % 8 else None
            assert await finish(store, job, state, delay=60_000, error=error, result=result)
    assert await counts(store) == dict.fromkeys(states, 10)


async def test_people_can_make_room(store: RedisStore, server: Server) -> None:
    await put(store, "a", "b", "c", spec=BRIEF)
    await bring(store, "dead", State.DEAD, queue="other")
    with full(server):
        assert await store.cancel(["a"]) == {"a"}
        assert await store.delete(["b", "dead"]) == {"b", "dead"}
        assert await store.prune(10) == 0
    assert await counts(store) == {State.PENDING: 1, State.CANCELLED: 1}


async def test_leases_are_renewed(store: RedisStore, server: Server) -> None:
    """Otherwise jobs that run on would be taken for lost and run twice."""
    await put(store, "a", "b")
    jobs = await claim(store)
    with full(server):
        assert await store.renew([job.lease for job in jobs], 2 * LEASE) == {"a", "b"}


async def test_lost_jobs_are_rescued(store: RedisStore, server: Server) -> None:
    await put(store, "a")
    await claim(store, lease=1)
    await asyncio.sleep(0.01)
    with full(server):
        assert ids(await store.rescue(10, LEASE, "rescuer")) == ["a"]


async def test_a_lost_answer_to_a_claim_is_given_again(store: RedisStore, server: Server) -> None:
    await put(store, "a", "b")
    terms = Terms(LEASE, "w", "token", 0, CLAIM_BYTES, 0)
    first = await store._shards[0]._claim({"default": 10}, 10, terms)
    with full(server):
        again = await store._shards[0]._claim({"default": 10}, 10, terms)
    assert ids(first.jobs) == ids(again.jobs) == ["a", "b"]


async def test_workers_stay_on_the_list_and_leaders_in_office(
    store: RedisStore, server: Server
) -> None:
    worker = WorkerInfo("w", "host", 1, ("default",), 1, 0)
    await store.beat(worker, 60_000)
    term = await store.elect("pruner", "w", 60_000)
    with full(server):
        await store.beat(worker, 60_000)
        again = await store.elect("pruner", "w", 60_000)
    assert term is not None and again is not None
    assert again.term == term.term


async def test_workers_get_their_orders(store: RedisStore, server: Server) -> None:
    worker = WorkerInfo("w", "host", 1, ("default",), 1, 0)
    await store.beat(worker, 60_000)
    with full(server):
        assert await store.direct(["w"], "quiet") == {"w"}
        assert await store.beat(worker, 60_000) == "quiet"


async def test_what_attempts_logged_and_workers_counted_is_refused_as_a_whole(
    store: RedisStore, server: Server
) -> None:
    records = [AttemptRecord(id, "default", 1, 1, "w", 1) for id in ("a", "b")]
    tallies = [Tally("mail", {"completed": 1}), Tally("ops", {"dead": 1})]
    before = contents(server.port, namespace_of(store))
    with full(server):
        with pytest.raises(StoreError, match="out of memory"):
            await store.note_attempts(records, 60_000)
        with pytest.raises(StoreError, match="out of memory"):
            await store.tally("w", 1, tallies)
        assert contents(server.port, namespace_of(store)) == before
    await store.tally("w", 1, tallies)
    assert len(await store.stats(["", "mail", "ops"], COARSE, 0)) == 3


async def test_progress_is_refused_or_noted_but_never_half(
    store: RedisStore, server: Server
) -> None:
    await put(store, "a")
    [job] = await claim(store)
    before = contents(server.port, namespace_of(store))
    with full(server):
        try:
            await store.report([(job.lease, Progress(50.0))])
        except StoreError:
            assert contents(server.port, namespace_of(store)) == before
        else:
            assert (await store.get(["a"]))["a"].progress == Progress(50.0)


async def test_a_worker_drains_a_full_server(server: Server) -> None:
    app = Windlass(f"{server.url}?namespace={new_id()}")
    runs: list[int] = []

    @app.task
    async def note(number: int) -> None:
        runs.append(number)

    await app.aenqueue_many([note.call(n) for n in range(200)])
    worker = await app.worker(WorkerSettings(concurrency=10))
    store = await app.client.store()
    with full(server):
        await worker.start()
        await until(lambda: len(runs) == 200)
        await worker.stop()
    assert sorted(runs) == list(range(200))
    assert await counts(store) == {State.COMPLETED: 200}
    await app.aclose()
