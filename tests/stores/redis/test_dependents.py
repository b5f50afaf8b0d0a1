"""Dependents over several shards: a process that dies between two steps, and what was left over."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import count

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.test_names import hold, notes, redrive
from tests.stores.redis.watch import fresh, fresh_namespace
from windlass.core.ids import new_id
from windlass.core.model import Job, NewJob, Receipt, Spec, Transition
from windlass.core.states import State
from windlass.stores.redis.edges import Ending
from windlass.stores.redis.inserting import MOST_PARENTS
from windlass.stores.redis.parents import Dependent, Told, dependent
from windlass.stores.redis.record import pack_id
from windlass.stores.redis.shard import Shard
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import (
    FLEETING,
    claim_all,
    claim_one,
    ids,
    job_of,
    listing,
    new_job,
    put,
    state_of,
)
from windlass.testing.suite.dependents import after, end, settle

PARENTS = "parents"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(redis_cluster: Cluster, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_cluster.url, clock) as store:
        yield store


@pytest.fixture
async def single(redis_server: Server, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(redis_server.url, clock) as store:
        yield store


def shard_of(store: RedisStore, queue: str) -> Shard:
    return store._shards[store._spread.of_queue(queue)[0]]


def far(store: RedisStore) -> str:
    """A queue of another shard than that of the parents."""
    names = (f"q{n}" for n in count())
    return next(q for q in names if shard_of(store, q) is not shard_of(store, PARENTS))


async def edges(store: RedisStore) -> int:
    keys = ("dependents", "endings", "waits", "blocked")
    return sum([await shard.send("ZCARD", key) for shard in store._shards for key in keys])


async def end_only(store: RedisStore, job: Job, state: State = State.COMPLETED) -> list[Ending]:
    """The end of a job, after which its process died."""
    move = Transition(job.id, job.fence, state, queue=job.queue, ref=job.ref)
    answer = await shard_of(store, job.queue).finish([move])
    assert answer.ids == {job.id}
    return list(answer.endings)


async def depend_only(store: RedisStore, job: NewJob) -> None:
    """The second step of an insert, after which its process died."""
    await store._parents.tell([dependent(job, shard_of(store, job.queue).number)])


async def test_dependents_of_another_shard_are_released_by_whoever_finds_the_note(
    store: RedisStore,
) -> None:
    await put(store, "a", queue=PARENTS)
    for n in range(20):
        await put(store, f"c{n:02}", spec=after("a"), queue=f"q{n % 7}")
    await end_only(store, await claim_one(store, queue=PARENTS))
    assert await state_of(store, "c00") is State.BLOCKED
    await settle(store)
    assert len(await claim_all(store, *(f"q{n}" for n in range(7)))) == 20
    assert await edges(store) == 0


async def test_a_death_between_release_and_settlement_does_no_harm(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = far(store)
    await put(store, "a", queue=PARENTS)
    await put(store, "x", "y", spec=after("a"), queue=queue)
    (ending,) = await end_only(store, await claim_one(store, queue=PARENTS))
    shard = shard_of(store, PARENTS)

    async def dies(*args: object) -> None: ...

    with monkeypatch.context() as patch:
        patch.setattr(store._unblocking, "_settle", dies)
        await store._unblocking._step([ending], 100)
    assert await shard.send("ZCARD", "dependents") == 2
    job = await claim_one(store, queue=queue)
    await settle(store)
    # One of them runs by now; it is not made pending once more.
    assert await state_of(store, job.id) is State.ACTIVE
    assert ids(await claim_all(store, queue)) == ["y"]
    assert await edges(store) == 0


async def test_orphans_of_orphans_are_seen_to_after_a_death(store: RedisStore) -> None:
    await put(store, "root", queue=PARENTS)
    await put(store, "child", spec=after("root"), queue=far(store))
    await put(store, "grandchild", spec=after("child"), queue=PARENTS)
    await put(store, "brave", spec=after("child", runs_anyway=True), queue=far(store))
    (ending,) = await end_only(store, await claim_one(store, queue=PARENTS), State.DEAD)
    await store._unblocking._step([ending], 100)
    assert await state_of(store, "child") is State.CANCELLED
    assert await state_of(store, "grandchild") is State.BLOCKED
    await settle(store)
    error = (await job_of(store, "grandchild")).error
    assert error is not None
    assert error.message == "job root, which it depends on, is dead"
    assert await state_of(store, "brave") is State.PENDING
    assert await edges(store) == 0


async def test_an_edge_to_a_job_that_never_came_does_nothing(store: RedisStore) -> None:
    await put(store, "a", queue=PARENTS)
    await depend_only(store, new_job("never", after("a"), queue=far(store)))
    await end(store, "a", State.COMPLETED, PARENTS)
    assert await edges(store) == 0
    assert await state_of(store, "never") is None


async def test_a_job_held_for_its_parents_is_completed(store: RedisStore, clock: FakeClock) -> None:
    await put(store, "a", queue=PARENTS)
    await hold(store, new_job("child", after("a"), queue=far(store)))
    await redrive(store, clock)
    assert await notes(store) == 0
    assert (await job_of(store, "child")).waits_for == ("a",)
    await end(store, "a", State.COMPLETED, PARENTS)
    assert await state_of(store, "child") is State.PENDING


@pytest.mark.parametrize("state", [State.COMPLETED, State.DEAD])
async def test_a_parent_that_ends_while_a_job_is_held_counts_when_it_comes(
    store: RedisStore, clock: FakeClock, state: State
) -> None:
    job = new_job("child", after("a"), queue=far(store))
    await put(store, "a", queue=PARENTS)
    await hold(store, job)
    await depend_only(store, job)
    await end(store, "a", state, PARENTS)
    assert await store.unblock(100) == 0
    await redrive(store, clock)
    await settle(store)
    wanted = State.PENDING if state is State.COMPLETED else State.CANCELLED
    assert await state_of(store, "child") is wanted
    assert (await edges(store), await notes(store)) == (0, 0)


async def test_a_job_that_comes_in_late_finds_that_its_parent_has_ended(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent ends after the edge was written and before the job is there."""
    told = store._parents.tell

    async def slow(dependents: Sequence[Dependent]) -> list[Told]:
        answer = await told(dependents)
        await end(store, "a", State.COMPLETED, PARENTS)
        return answer

    await put(store, "a", queue=PARENTS)
    monkeypatch.setattr(store._parents, "tell", slow)
    await put(store, "child", spec=after("a"), queue=far(store))
    assert await state_of(store, "child") is State.PENDING
    assert (await edges(store), await notes(store)) == (0, 0)


async def test_a_replay_that_died_after_its_edges_leaves_the_job_as_it_was(
    store: RedisStore, clock: FakeClock
) -> None:
    queue = far(store)
    await put(store, "a", queue=PARENTS)
    await put(store, "child", spec=after("a"), queue=queue)
    assert await store.cancel(["child"]) == {"child"}
    shard = shard_of(store, queue)
    await shard.run("intend", (), ["p", pack_id("child"), b""])
    (told,) = await store._parents.tell([dependent(new_job("child", after("a"), queue=queue), 0)])
    await redrive(store, clock)
    await end(store, "a", State.COMPLETED, PARENTS)
    await settle(store)
    # Who comes late with it is refused: nobody would ever release the job.
    assert await shard.replay(["child"], [queue], False, told.tails) == frozenset()
    assert await state_of(store, "child") is State.CANCELLED
    assert (await edges(store), await notes(store)) == (0, 0)


async def test_a_late_note_does_not_touch_who_came_after_a_replay(store: RedisStore) -> None:
    await put(store, "a", queue=PARENTS)
    await put(store, "old", spec=after("a"), queue=far(store))
    await end_only(store, await claim_one(store, queue=PARENTS), State.DEAD)
    assert await store.replay(["a"]) == {"a"}
    shard = shard_of(store, PARENTS)
    (late,) = [Ending(shard.number, raw) for raw in await shard.send("ZRANGE", "endings", 0, -1)]
    await store.cancel(["old"])
    await store.replay(["old"])
    await put(store, "new", spec=after("a"), queue=far(store))
    await store._unblocking._step([late], 100)
    assert await state_of(store, "old") is State.BLOCKED
    assert await state_of(store, "new") is State.BLOCKED
    await end(store, "a", State.COMPLETED, PARENTS)
    assert await state_of(store, "new") is State.PENDING
    assert await state_of(store, "old") is State.PENDING


async def test_a_restored_job_is_released_by_a_parent_that_comes_later_to_any_shard(
    store: RedisStore,
) -> None:
    for n, queue in enumerate((PARENTS, far(store), "another")):
        parent, child = f"p{n}", f"c{n}"
        await put(store, parent, queue=queue)
        await put(store, child, spec=after(parent), queue="children")
        jobs = await store.get([parent, child])
        assert await store.delete([parent, child], moved=True) == {parent, child}
        assert list(await store.restore([jobs[child]])) == [Receipt(child)]
        assert (await job_of(store, child)).waits_for == (parent,)
        assert list(await store.restore([jobs[parent]])) == [Receipt(parent)]
        await end(store, parent, State.COMPLETED, queue)
        assert await state_of(store, child) is State.PENDING, queue
    await store.delete([*(f"p{n}" for n in range(3)), *(f"c{n}" for n in range(3))])
    assert await edges(store) == 0


@pytest.mark.parametrize("number", [1, 3])
async def test_a_job_can_come_anew_that_others_wait_for(single: RedisStore, number: int) -> None:
    await put(single, "a", queue=PARENTS)
    await put(single, "child", spec=after("a"))
    await single.delete(["a"], moved=True)
    assert await state_of(single, "a") is None
    assert await single.cancel(["a"]) == await single.replay(["a"]) == frozenset()
    fillers = [new_job(f"f{n}", queue="other") for n in range(number - 1)]
    assert Receipt("a") in await single.insert([new_job("a", queue=PARENTS), *fillers])
    await end(single, "a", State.COMPLETED, PARENTS)
    assert await state_of(single, "child") is State.PENDING


async def test_nothing_is_left_when_all_were_moved_away(single: RedisStore) -> None:
    for order in (["a", "child"], ["child", "a"]):
        await put(single, "a", queue=PARENTS)
        await put(single, "child", spec=after("a"))
        for id in order:
            assert await single.delete([id], moved=True) == {id}
        assert await edges(single) == 0
        assert await single._shards[0].send("HLEN", "jobs") == 0


async def test_a_job_with_very_many_parents_comes_in_by_steps(single: RedisStore) -> None:
    names = [f"{n:04}" for n in range(2 * MOST_PARENTS)]
    await put(single, *names, queue=PARENTS)
    await put(single, "end", spec=after(*names))
    assert set((await job_of(single, "end")).waits_for) == set(names)
    jobs = await claim_all(single, PARENTS)
    moves = [Transition(j.id, j.fence, State.COMPLETED, queue=j.queue, ref=j.ref) for j in jobs]
    await single.finish(moves[:-1])
    assert (await job_of(single, "end")).waits_for == (jobs[-1].id,)
    await single.finish(moves[-1:])
    assert await state_of(single, "end") is State.PENDING
    assert (await edges(single), await notes(single)) == (0, 0)


async def test_blocked_jobs_are_listed_by_id_whatever_it_is(single: RedisStore) -> None:
    names = [new_id(), "!", "0", "1b", "~", new_id(), "019"]
    await put(single, "a", queue=PARENTS)
    await put(single, *names, spec=after("a"))
    found = await listing(single, states=(State.BLOCKED,), limit=2)
    assert ids(found) == sorted(names)


async def test_two_processes_that_release_at_once_do_not_disturb_each_other(
    redis_cluster: Cluster,
) -> None:
    namespace = fresh_namespace()
    async with (
        fresh(redis_cluster.url, namespace=namespace) as one,
        fresh(redis_cluster.url, namespace=namespace) as two,
    ):
        await put(one, "a", queue=PARENTS, spec=FLEETING)
        names = [f"{n:03}" for n in range(300)]
        for start in range(0, 300, 100):
            await put(one, *names[start : start + 100], spec=after("a"), queue=far(one))
        await end_only(one, await claim_one(one, queue=PARENTS))
        while any(await asyncio.gather(*(each.unblock(50) for each in (one, two) * 3))):
            pass
        assert ids(await claim_all(one, far(one))) == names
        assert await edges(one) == 0


async def test_a_parent_in_the_same_call_may_be_in_another_shard(store: RedisStore) -> None:
    jobs = [
        new_job("a", queue=PARENTS),
        new_job("b", after("a"), queue=far(store)),
        new_job("c", after("a", "b", runs_anyway=True), queue=PARENTS),
    ]
    assert list(await store.insert(jobs)) == [Receipt("a"), Receipt("b"), Receipt("c")]
    await store.cancel(["a"])
    assert await state_of(store, "b") is State.CANCELLED
    assert await state_of(store, "c") is State.PENDING


async def test_a_spec_of_a_held_job_may_be_large(store: RedisStore, clock: FakeClock) -> None:
    await put(store, "a", queue=PARENTS)
    spec = Spec("work", b"x" * 10_000, parents=("a",))
    await hold(store, new_job("child", spec, queue=far(store)))
    await redrive(store, clock)
    found = await job_of(store, "child")
    assert (found.spec, found.waits_for) == (spec, ("a",))


async def test_a_held_parent_is_found_by_those_who_wait_for_it_elsewhere(
    store: RedisStore, clock: FakeClock
) -> None:
    queue = next(
        q for q in (f"q{n}" for n in count()) if shard_of(store, q).number != store._names.home("p")
    )
    await put(store, "p", queue=queue)
    await put(store, "c", spec=after("p"), queue="children")
    jobs = await store.get(["p", "c"])
    await store.delete(["c", "p"], moved=True)
    await store.restore([jobs["c"]])
    await hold(store, jobs["p"])
    await redrive(store, clock)
    await end(store, "p", State.COMPLETED, queue)
    assert await state_of(store, "c") is State.PENDING
