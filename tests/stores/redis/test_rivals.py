"""Replacing and following on a Cluster: a process that dies between two steps, and two at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.servers.redis_cluster import Cluster
from tests.stores.redis.test_names import (
    QUEUE,
    elsewhere,
    here,
    hold,
    notes,
    other_queue,
    redrive,
    shard_of,
)
from tests.stores.redis.watch import fresh, fresh_namespace
from windlass.core.model import NewJob, Receipt, Spec
from windlass.core.schedule import following
from windlass.core.states import State
from windlass.core.unique import UNTIL_STARTED
from windlass.stores.redis.names import Claim
from windlass.stores.redis.packing import pack_new
from windlass.stores.redis.record import pack_id
from windlass.stores.redis.rivals import Holder, Replaced
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import LEASE, claim, claim_one, finish, job_of, new_job, put

WINDOW = Spec("work", b"new", unique_for=600_000)
UNSTARTED = Spec("work", b"", unique_for=UNTIL_STARTED)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(redis_cluster: Cluster, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, clock) as store:
        yield store


async def replace_only(store: RedisStore, job: NewJob, old: str) -> None:
    """The step in the shard of the holder, after which its process died."""
    record, large = pack_new(job)
    key = (job.unique or "").encode()
    words: list[Any] = [pack_id(old), key, pack_id(job.id), record, large or b""]
    done, noted = await shard_of(store).run("replace", [QUEUE], words)
    assert done == 1 and noted is not None


async def test_terms_that_were_noted_are_told_to_the_home_of_the_key(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    await put(store, "a", unique=key)
    await replace_only(store, new_job("b", WINDOW, unique=key), "a")
    assert (await job_of(store, "a")).unique is None
    assert await notes(store) == 1
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await finish(store, await claim_one(store), State.COMPLETED)
    assert await store.insert([new_job("c", unique=key)]) == [Receipt("a", duplicate=True)]
    clock.advance(600)
    assert await store.insert([new_job("c", unique=key)]) == [Receipt("c")]


async def test_terms_that_come_late_change_nothing(store: RedisStore, clock: FakeClock) -> None:
    key = elsewhere(store)
    await put(store, "a", unique=key)
    await replace_only(store, new_job("b", WINDOW, unique=key), "a")
    late = await shard_of(store).send("HGET", "outbox", b"k" + pack_id("a"))
    assert await store.insert([new_job("c", unique=key, conflict="replace")]) == [
        Receipt("a", duplicate=True)
    ]
    assert await notes(store) == 0
    number = int.from_bytes(late[8:16], "big")
    await store._names.rekey(key, "a", number, clock() + 600_000)
    assert await store.cancel(["a"]) == {"a"}
    assert await store.insert([new_job("d", unique=key)]) == [Receipt("d")]


async def test_a_follower_whose_process_died_comes_in_and_has_the_key(
    store: RedisStore, clock: FakeClock
) -> None:
    for n, place in enumerate((elsewhere, here)):
        key = place(store)
        queue = other_queue(store) if n else QUEUE
        await put(store, f"a{n}", unique=key, queue=queue)
        first = await claim_one(store, queue=queue)
        follower = following(new_job(f"b{n}", unique=key), f"a{n}")
        await hold(store, follower)
        refused = await store._names.reserve([Claim("u", key, f"b{n}", 0, before=f"a{n}")])
        assert not refused
        clock.advance(60)
        # Not rescued here: the one that runs is to run on.
        await store.renew([first.lease], 10 * LEASE)
        await redrive(store, clock)
        assert await notes(store) == 0
        last = await job_of(store, f"b{n}")
        assert (last.state, last.waits_for, last.unique) == (State.BLOCKED, (f"a{n}",), key)
        assert (await job_of(store, f"a{n}")).unique is None
        assert await finish(store, first, State.DEAD)
        assert (await claim_one(store)).id == f"b{n}"


async def test_a_key_until_the_start_that_is_owed_is_given_up(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    await put(store, "a", spec=UNSTARTED, unique=key)
    taken = await shard_of(store).claim({QUEUE: 1}, 1, 10 * LEASE, "w")
    assert [kind for kind, _, _ in taken.owed] == ["u"]
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await store.insert([new_job("b", unique=key)]) == [Receipt("b")]


async def test_a_holder_that_has_moved_on_is_not_replaced(store: RedisStore) -> None:
    key = elsewhere(store)
    await put(store, "a", unique=key)
    found = Holder(shard_of(store), await job_of(store, "a"))
    await claim_one(store)
    new = new_job("b", Spec("work", b"new"), unique=key, conflict="replace")
    assert await store._inserter._rivalry.replace(found, new) is Replaced.MOVED_ON
    assert (await job_of(store, "a")).spec.payload == b""


async def test_of_many_who_come_at_once_the_last_one_stays(redis_cluster: Cluster) -> None:
    namespace = fresh_namespace()
    async with (
        fresh(redis_cluster.url, namespace=namespace) as one,
        fresh(redis_cluster.url, namespace=namespace) as two,
    ):
        queues = [QUEUE, other_queue(one)]
        key = elsewhere(one)
        await put(one, "first", unique=key)
        running = await claim_one(one)
        jobs = [
            new_job(f"j{n}", unique=key, conflict="last", queue=queues[n % 2]) for n in range(40)
        ]
        answers = await asyncio.gather(
            *((one, two)[n % 2].insert([job]) for n, job in enumerate(jobs))
        )
        accepted = [receipt.id for [receipt] in answers if not receipt.duplicate]
        assert len(accepted) == 1
        assert {receipt.id for [receipt] in answers} <= {"first", *accepted}
        assert await finish(one, running, State.COMPLETED)
        left = [job for queue in queues for job in await claim(one, queue=queue)]
        assert [job.id for job in left] == accepted
        assert await finish(one, left[0], State.COMPLETED)
        assert await one.insert([new_job("next", unique=key)]) == [Receipt("next")]
        assert await notes(one) == 0
