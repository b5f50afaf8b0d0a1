"""What was left behind in an outbox comes to its end, however much of it there is."""

from collections.abc import AsyncIterator
from time import monotonic

import pytest

from tests.servers.redis_cluster import Cluster
from tests.stores.redis.test_names import elsewhere, finish_only, notes, other_queue, shard_of
from tests.stores.redis.test_partial_outage import outage
from tests.stores.redis.watch import fresh
from windlass.core.model import NewJob, Receipt
from windlass.stores.redis.arrivals import note_of, pack
from windlass.stores.redis.record import pack_id
from windlass.stores.redis.shard import Shard
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import LEASE, claim_all, claim_one, new_job, put, state_of

MANY = 3_000
ROUNDS = 30


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(redis_cluster: Cluster, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, clock) as store:
        yield store


async def rescued(store: RedisStore, rounds: int = ROUNDS) -> None:
    for _ in range(rounds):
        await store.rescue(100, LEASE, "rescuer")


async def hold_many(store: RedisStore, jobs: list[NewJob]) -> None:
    shard, words = shard_of(store), list[str | bytes]()
    for job in jobs:
        record, large = pack(job, store._names.remote(job, shard.number))
        words += (pack_id(job.id), record, large or b"")
    assert await shard.run("hold", (), [note_of(jobs[0]), *words]) == [[], []]


async def owe(shard: Shard, numbers: range) -> None:
    """Notes of names that nobody has any more."""
    pairs = [word for n in numbers for word in (f"iowed-{n}", f"owed-{n}")]
    await shard.send("HSET", "outbox", *pairs)


async def test_all_that_is_owed_is_paid(store: RedisStore) -> None:
    await owe(shard_of(store), range(MANY))
    # Gone by half, the hash keeps its size: what is left stands far apart.
    await shard_of(store).send("HDEL", "outbox", *(f"iowed-{n}" for n in range(0, MANY, 2)))
    await rescued(store)
    assert await notes(store) == 0


async def test_notes_that_are_not_due_hide_no_others(store: RedisStore, clock: FakeClock) -> None:
    key = elsewhere(store)
    old = [new_job(f"{key}-old-{n}", unique=f"{key}-{n}") for n in range(20)]
    await hold_many(store, old)
    clock.advance(60)
    for start in range(0, 2_000, 500):
        await hold_many(
            store, [new_job(f"{key}-{n}", unique=f"new-{n}") for n in range(start, start + 500)]
        )
    await rescued(store)
    assert (await store.get([job.id for job in old])).keys() == {job.id for job in old}


async def test_what_waits_for_a_master_comes_in_when_it_is_back(
    redis_cluster: Cluster, store: RedisStore, clock: FakeClock
) -> None:
    held = [new_job(f"held-{n}", unique=f"key-{n}") for n in range(100)]
    number = shard_of(store).number
    await hold_many(store, [each for each in held if store._names.remote(each, number)])
    await owe(shard_of(store), range(100))
    clock.advance(60)
    async with outage(redis_cluster):
        began = monotonic()
        await rescued(store, 3)
        # Not the patience of a call for each of these.
        assert monotonic() - began < 60
    await rescued(store)
    assert await notes(store) == 0


async def test_a_key_that_is_owed_keeps_no_job_out(store: RedisStore) -> None:
    key = elsewhere(store)
    await put(store, "first", unique=key)
    await finish_only(store, await claim_one(store))
    assert await store.insert([new_job("second", unique=key)]) == [Receipt("second")]
    assert await store.insert([new_job("third", unique=key)]) == [Receipt("second", duplicate=True)]
    assert await notes(store) == 0


async def test_an_id_that_is_owed_keeps_no_job_out(store: RedisStore) -> None:
    id, shard = elsewhere(store), shard_of(store)
    await put(store, id)
    answer = await shard.delete([id], ["default"], "01234567", 0)
    assert answer.ids == {id}
    assert answer.owed
    assert await state_of(store, id) is None
    queue = other_queue(store)
    assert await store.insert([new_job(id, queue=queue)]) == [Receipt(id)]
    assert [job.id for job in await claim_all(store, queue)] == [id]
