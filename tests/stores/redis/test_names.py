"""Ids and unique keys on a Cluster: a process that dies between two steps, and two at once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import count

import msgspec
import pytest

from tests.servers.redis_cluster import Cluster
from tests.stores.redis.watch import fresh, fresh_namespace
from windlass.core.model import Job, NewJob, Progress, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.stores.redis.arrivals import note_of, pack
from windlass.stores.redis.record import REMOTE_ID, REMOTE_KEY, pack_id
from windlass.stores.redis.shard import Answer, Shard
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import (
    FLEETING,
    LEASE,
    WORK,
    bring,
    claim_all,
    claim_one,
    new_job,
    put,
    state_of,
)

QUEUE = "default"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(redis_cluster: Cluster, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, clock) as store:
        yield store


def shard_of(store: RedisStore, queue: str = QUEUE) -> Shard:
    return store._shards[store._spread.of_queue(queue)[0]]


def name(store: RedisStore, where: Callable[[int], bool]) -> str:
    """A name whose home, as told from the shard of the queue, is as asked for."""
    return next(n for n in (f"name-{n}" for n in count()) if where(store._spread.home(n)))


def elsewhere(store: RedisStore) -> str:
    return name(store, lambda home: home != shard_of(store).number)


def here(store: RedisStore) -> str:
    return name(store, lambda home: home == shard_of(store).number)


def other_queue(store: RedisStore) -> str:
    """A queue of another shard."""
    return next(
        queue
        for queue in (f"q{n}" for n in count())
        if shard_of(store, queue) is not shard_of(store)
    )


async def hold(store: RedisStore, job: NewJob | Job) -> None:
    """The first step of an insert or a restore, after which its process died."""
    shard = shard_of(store, job.queue)
    flags = store._names.remote(job, shard.number)
    record, large = pack(job, flags)
    assert flags
    words: list[str | bytes] = [note_of(job), pack_id(job.id), record, large or b""]
    assert await shard.run("hold", (), words) == [[], []]


async def finish_only(store: RedisStore, job: Job) -> Answer:
    """A job's completion, after which its process died."""
    move = Transition(job.id, job.fence, State.COMPLETED, queue=job.queue, ref=job.ref)
    answer = await shard_of(store, job.queue).finish([move])
    assert answer.ids == {job.id}
    return answer


async def redrive(store: RedisStore, clock: FakeClock) -> None:
    clock.advance(60)
    await store.rescue(100, LEASE, "rescuer")


async def notes(store: RedisStore) -> int:
    return sum([await shard.send("HLEN", "outbox") for shard in store._shards])


async def test_a_held_insert_is_completed(store: RedisStore, clock: FakeClock) -> None:
    for n, given in enumerate((WORK, Spec("work", b"x" * 10_000))):
        key = elsewhere(store)
        job = new_job(f"{key}-{n}", given, unique=f"{key}-{n}", priority=7)
        await hold(store, job)
        assert await state_of(store, job.id) is None
        await redrive(store, clock)
        assert await notes(store) == 0
        found = (await store.get([job.id]))[job.id]
        assert (found.state, found.priority, found.unique) == (State.PENDING, 7, job.unique)
        assert found.spec == given
        assert await store.insert([new_job("next", unique=job.unique)]) == [
            Receipt(job.id, duplicate=True)
        ]


async def test_a_held_insert_is_left_alone_while_its_process_may_live(store: RedisStore) -> None:
    job = new_job(elsewhere(store))
    await hold(store, job)
    await store.rescue(100, LEASE, "rescuer")
    assert await state_of(store, job.id) is None
    assert await notes(store) == 1


async def test_what_is_accepted_again_after_its_process_died_is_there(store: RedisStore) -> None:
    job = new_job(elsewhere(store))
    await hold(store, job)
    assert await store.insert([job]) == [Receipt(job.id, duplicate=True)]
    assert await state_of(store, job.id) == State.PENDING
    assert await notes(store) == 0


async def test_who_came_first_has_accepted_a_job_that_the_second_let_in(store: RedisStore) -> None:
    job = new_job(elsewhere(store))
    await hold(store, job)
    assert await store.insert([job]) == [Receipt(job.id, duplicate=True)]
    shard = shard_of(store)
    flags = store._names.remote(job, shard.number)
    receipts: list[Receipt | None] = [None]
    await store._names._let_go([job], [flags], [0], receipts, shard, {})
    assert receipts == [Receipt(job.id)]
    assert await state_of(store, job.id) == State.PENDING


async def test_a_dependent_waits_for_a_parent_whose_first_process_died(store: RedisStore) -> None:
    parent = new_job(elsewhere(store))
    child = new_job("child", Spec("work", b"", parents=(parent.id,)))
    await hold(store, parent)
    first, second = await store.insert([parent, child])
    assert (first, second) == (Receipt(parent.id, duplicate=True), Receipt("child"))
    assert await state_of(store, "child") == State.BLOCKED


async def test_what_is_accepted_again_gives_way_to_who_has_its_key(store: RedisStore) -> None:
    key = elsewhere(store)
    job = new_job(f"{key}-job", unique=key)
    await hold(store, job)
    await put(store, "winner", unique=key)
    assert await store.insert([job]) == [Receipt("winner", duplicate=True)]
    assert await state_of(store, job.id) is None
    assert await notes(store) == 0


async def test_a_held_insert_is_dropped_when_another_has_the_key(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    job = new_job(elsewhere(store), unique=key)
    await hold(store, job)
    await put(store, "winner", unique=key)
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await state_of(store, job.id) is None
    # Its id is free again, in whatever queue.
    await put(store, job.id, queue=other_queue(store))


async def test_a_held_insert_that_loses_a_key_of_its_own_shard_gives_its_id_up(
    store: RedisStore, clock: FakeClock
) -> None:
    key = here(store)
    job = new_job(elsewhere(store), unique=key)
    await hold(store, job)
    await put(store, "winner", unique=key)
    await redrive(store, clock)
    assert await state_of(store, job.id) is None
    await put(store, job.id, queue=other_queue(store))
    assert await state_of(store, job.id) is State.PENDING


async def test_a_held_insert_is_dropped_when_its_id_went_to_another_queue(
    store: RedisStore, clock: FakeClock
) -> None:
    job = new_job(elsewhere(store))
    await hold(store, job)
    await put(store, job.id, queue=other_queue(store))
    await redrive(store, clock)
    assert await notes(store) == 0
    assert [found.queue for found in (await store.get([job.id])).values()] == [other_queue(store)]
    assert len(await claim_all(store, QUEUE, other_queue(store))) == 1


async def test_a_held_insert_whose_id_is_at_home_does_not_make_a_second_job_of_it(
    store: RedisStore, clock: FakeClock
) -> None:
    job = new_job(here(store), unique=elsewhere(store))
    await hold(store, job)
    await put(store, job.id, queue=other_queue(store))
    await redrive(store, clock)
    assert await notes(store) == 0
    assert len(await claim_all(store, QUEUE, other_queue(store))) == 1


async def test_a_rival_that_was_quicker_in_another_queue_is_no_fault(store: RedisStore) -> None:
    job = new_job(here(store), unique=elsewhere(store))
    shard = shard_of(store)
    await hold(store, job)
    await put(store, job.id, queue=other_queue(store))
    receipts: list[Receipt | None] = [None]
    flags = [store._names.remote(job, shard.number)]
    await store._names._let_go([job], flags, [0], receipts, shard, {})
    assert receipts == [Receipt(job.id, duplicate=True)]
    assert await notes(store) == 0


async def from_elsewhere(store: RedisStore, state: State, key: str) -> Job:
    """A job with all that one can have, as another store has it."""
    made = elsewhere(store)
    await bring(store, made, state, Spec("work", b"x" * 10_000), unique=key)
    job = (await store.get([made]))[made]
    assert await store.delete([made]) == {made}
    return msgspec.structs.replace(job, progress=Progress(50.0, "half"))


async def test_a_held_restore_is_completed(store: RedisStore, clock: FakeClock) -> None:
    key = elsewhere(store)
    job = await from_elsewhere(store, State.RETRY, key)
    await hold(store, job)
    assert await state_of(store, job.id) is None
    await redrive(store, clock)
    assert await notes(store) == 0
    assert (await store.get([job.id]))[job.id] == job
    assert await store.insert([new_job("next", unique=key)]) == [Receipt(job.id, duplicate=True)]


async def test_a_held_restore_of_a_finished_job_takes_no_key(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    job = await from_elsewhere(store, State.DEAD, key)
    await put(store, "holder", unique=key)
    await hold(store, job)
    await redrive(store, clock)
    assert (await store.get([job.id]))[job.id] == job
    assert await store.insert([new_job("next", unique=key)]) == [Receipt("holder", duplicate=True)]


async def test_a_held_restore_is_dropped_when_another_has_the_key(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    job = await from_elsewhere(store, State.RETRY, key)
    await hold(store, job)
    await put(store, "winner", unique=key)
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await state_of(store, job.id) is None
    await put(store, job.id, queue=other_queue(store))


async def test_a_restore_that_was_held_can_be_made_again_at_once(store: RedisStore) -> None:
    job = await from_elsewhere(store, State.SCHEDULED, elsewhere(store))
    await hold(store, job)
    assert await store.restore([job]) == [Receipt(job.id)]
    assert await notes(store) == 0
    assert (await store.get([job.id]))[job.id] == job


async def test_a_restore_that_is_refused_gives_its_names_up(store: RedisStore) -> None:
    key = here(store)
    job = await from_elsewhere(store, State.RETRY, key)
    await put(store, "holder", unique=key)
    assert await store.restore([job]) == [Receipt("holder", duplicate=True)]
    assert await notes(store) == 0
    await put(store, job.id, queue=other_queue(store))


async def test_names_that_are_owed_are_given_up(store: RedisStore, clock: FakeClock) -> None:
    id, key = elsewhere(store), elsewhere(store)
    await put(store, id, spec=FLEETING, unique=key)
    answer = await finish_only(store, await claim_one(store))
    assert {kind for kind, _, _ in answer.owed} == {"u", "i"}
    await redrive(store, clock)
    assert await notes(store) == 0
    await put(store, "next", unique=key)
    await put(store, id, queue=other_queue(store))


async def test_names_that_are_owed_are_not_taken_from_a_later_job_of_the_same_id(
    store: RedisStore, clock: FakeClock
) -> None:
    id, key = elsewhere(store), elsewhere(store)
    await put(store, id, spec=FLEETING, unique=key)
    await finish_only(store, await claim_one(store))
    await put(store, id, unique=key)
    await redrive(store, clock)
    assert await state_of(store, id) is State.PENDING
    assert await store.insert([new_job("second", unique=key)]) == [Receipt(id, duplicate=True)]


async def test_a_replay_that_was_noted_is_carried_out(store: RedisStore, clock: FakeClock) -> None:
    key = elsewhere(store)
    await bring(store, "job", State.DEAD, unique=key)
    shard = shard_of(store)
    await shard.run("intend", (), ["r", pack_id("job"), key])
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await state_of(store, "job") is State.PENDING
    assert await store.insert([new_job("b", unique=key)]) == [Receipt("job", duplicate=True)]


async def test_a_replay_that_took_its_key_is_carried_out(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    await bring(store, "job", State.CANCELLED, unique=key)
    assert await store._names.take_keys(shard_of(store), {"job": key}) == ["job"]
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await state_of(store, "job") is State.PENDING


async def test_a_replay_that_was_noted_is_dropped_when_another_has_the_key(
    store: RedisStore, clock: FakeClock
) -> None:
    key = elsewhere(store)
    await bring(store, "job", State.DEAD, unique=key)
    await shard_of(store).run("intend", (), ["r", pack_id("job"), key])
    await put(store, "winner", unique=key)
    await redrive(store, clock)
    assert await notes(store) == 0
    assert await state_of(store, "job") is State.DEAD
    assert await store.insert([new_job("b", unique=key)]) == [Receipt("winner", duplicate=True)]


async def test_many_notes_are_all_carried_out(store: RedisStore, clock: FakeClock) -> None:
    ids = [
        id
        for id in (f"job-{n}" for n in range(700))
        if store._spread.home(id) != shard_of(store).number
    ]
    for id in ids:
        await hold(store, new_job(id))
    rounds = 0
    while await notes(store):
        await redrive(store, clock)
        rounds += 1
        assert rounds < 50
    assert len(await store.get(ids)) == len(ids)


@pytest.mark.parametrize("names", ["id", "key", "both"])
async def test_of_two_who_insert_at_once_one_wins(redis_cluster: Cluster, names: str) -> None:
    namespace = fresh_namespace()
    async with (
        fresh(redis_cluster.url, namespace=namespace) as one,
        fresh(redis_cluster.url, namespace=namespace) as two,
    ):
        queues = [QUEUE, other_queue(one)]

        def job(side: int, n: int) -> NewJob:
            id = f"job-{n}" if names != "key" else f"job-{side}-{n}"
            key = f"key-{n}" if names != "id" else None
            return new_job(id, queue=queues[(side + n) % 2], unique=key)

        numbers = range(60)
        answers = await asyncio.gather(
            *(one.insert([job(0, n)]) for n in numbers), *(two.insert([job(1, n)]) for n in numbers)
        )
        receipts = [receipt for [receipt] in answers]
        for first, second in zip(receipts[:60], receipts[60:], strict=True):
            assert {first.duplicate, second.duplicate} == {True, False}
            assert first.id == second.id
        jobs = await claim_all(one, *queues)
        assert sorted(job.id for job in jobs) == sorted({receipt.id for receipt in receipts})
        assert await notes(one) == 0


async def test_a_name_at_home_needs_no_second_step(store: RedisStore) -> None:
    number = shard_of(store).number
    at_home, away = here(store), elsewhere(store)
    assert store._names.remote(new_job(at_home, unique=at_home), number) == 0
    assert store._names.remote(new_job(away, unique=away), number) == REMOTE_ID | REMOTE_KEY
    assert store._names.remote(NewJob(away, WORK, fresh=True), number) == 0
