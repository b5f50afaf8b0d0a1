"""Lanes and groups while many are at work on them, and while a user's transaction is open."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from tests.servers.server import Server
from tests.stores.postgres.site import ask, emptied, opened, schema_of, sleeping
from windlass.core.lane import Lane
from windlass.core.model import Job, Spec, Transition
from windlass.core.states import State
from windlass.stores.postgres.store import PostgresStore
from windlass.testing.jobs import LEASE, claim, counts, finish, ids, listing, new_job, put

JOBS = 60
SOON = 5.0


@pytest.fixture
def url(postgres_server: Server) -> str:
    return emptied(postgres_server.url)


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    async with opened(url) as store:
        yield store


def in_lane(lane: Lane) -> Spec:
    return Spec("work", b"", lane=lane)


async def test_no_slot_is_given_twice_and_none_is_lost(store: PostgresStore, url: str) -> None:
    spec = in_lane(Lane("l", slots=3))
    running: Counter[str] = Counter()
    most = done = 0

    async def work(mine: PostgresStore) -> None:
        nonlocal most, done
        while done < JOBS:
            for job in await claim(mine, 5):
                running[job.id] += 1
                most = max(most, running.total())
                await asyncio.sleep(0)
                running[job.id] -= 1
                assert await finish(mine, job, State.COMPLETED)
                done += 1

    async with opened(url) as another:
        puts = [put(store, f"job-{n}", spec=spec) for n in range(JOBS)]
        async with asyncio.timeout(60):
            await asyncio.gather(*puts, *(work(each) for each in (store, another) * 3))
    assert most <= 3
    assert await counts(store) == {State.COMPLETED: JOBS}


async def test_tickets_and_those_who_end_do_not_lock_each_other_out(
    store: PostgresStore, url: str
) -> None:
    """Each claim finds the ticket due, each end settles the lane that it is of."""
    spec = in_lane(Lane("l", slots=4, starts=1_000, per=1_000, burst=1))
    await put(store, *(f"job-{n}" for n in range(JOBS)), spec=spec)
    done = 0

    async def work(mine: PostgresStore) -> None:
        nonlocal done
        while done < JOBS:
            for job in await claim(mine, 5):
                assert await finish(mine, job, State.COMPLETED)
                done += 1

    async with opened(url) as another:
        began = time.monotonic()
        await asyncio.gather(*(work(each) for each in (store, another) * 3))
    # The server takes a second to notice that two wait for each other.
    assert time.monotonic() - began < 10
    assert await counts(store) == {State.COMPLETED: JOBS}


async def test_cancelling_those_that_wait_does_not_hold_up_those_that_run(
    store: PostgresStore, url: str
) -> None:
    spec = in_lane(Lane("l", slots=2))
    names = [f"job-{n:03}" for n in range(JOBS)]
    await put(store, *names, spec=spec)

    async def work(mine: PostgresStore) -> None:
        while jobs := await claim(mine, 2):
            for job in jobs:
                await finish(mine, job, State.COMPLETED)

    async with opened(url) as another:
        began = time.monotonic()
        cancelling = [another.cancel([name]) for name in names[10::2]]
        await asyncio.gather(work(store), work(another), *cancelling)
        await work(store)
        assert time.monotonic() - began < 10
    left = await counts(store)
    assert set(left) == {State.COMPLETED, State.CANCELLED}
    assert sum(left.values()) == JOBS


async def test_a_lane_that_a_users_transaction_has_holds_up_no_other_job(
    store: PostgresStore, url: str
) -> None:
    lane, group = in_lane(Lane("l", slots=5)), Spec("work", b"", group="g")
    await put(store, "mine", spec=lane)
    connection = await store._base.connect()
    await connection.raw.execute("BEGIN")
    await connection.each(store.inserting([new_job("held", lane), new_job("other", group)])(0))
    async with asyncio.timeout(SOON):
        await put(store, "plain")
        await put(store, "grouped", spec=group)
        jobs = await store.claim({"default": 9}, 9, LEASE, "w")
        assert sorted(ids(jobs)) == ["grouped", "mine", "plain"]
        assert len(await store.finish([done(job) for job in jobs if job.id != "mine"])) == 2
    await connection.raw.execute("COMMIT")
    await connection.raw.close()
    assert sorted(ids(await claim(store, 9))) == ["held", "other"]


async def test_places_that_are_given_at_one_moment_hide_no_job(
    store: PostgresStore, url: str
) -> None:
    connection = await store._base.connect()
    await connection.raw.execute("BEGIN")
    for group in "gh":
        plan = store.inserting([new_job(group, Spec("work", b"", group=group))])
        await connection.each(plan(await store.now()))
    for group in "ij":
        await put(store, group, spec=Spec("work", b"", group=group))
    await connection.raw.execute("COMMIT")
    await connection.raw.close()
    table = f"{schema_of(url)}.windlass_jobs"
    assert await ask(url, f"SELECT count(DISTINCT place) FROM {table}") == 2
    assert sorted(ids(await listing(store, limit=1))) == ["g", "h", "i", "j"]
    assert sorted(ids(await claim(store))) == ["g", "h", "i", "j"]


async def test_what_gets_a_slot_wakes_who_waits(store: PostgresStore, url: str) -> None:
    await put(store, "a", "b", spec=in_lane(Lane("l", slots=1)))
    [job] = await claim(store)
    async with opened(url) as another:
        waiting = await sleeping(another)
        assert await finish(store, job, State.COMPLETED)
        await asyncio.wait_for(waiting, SOON)


async def test_a_ticket_shortens_a_wait(store: PostgresStore, url: str) -> None:
    spec = in_lane(Lane("l", starts=1, per=500, burst=1))
    async with opened(url) as another:
        await put(store, "a", spec=spec)
        await claim(store)
        waiting = await sleeping(another)
        await put(store, "b", spec=spec)
        async with asyncio.timeout(SOON):
            await waiting
            while not (jobs := await claim(another)):
                await another.wait(["default"], 60.0)
        assert ids(jobs) == ["b"]


def done(job: Job) -> Transition:
    return Transition(job.id, job.fence, State.COMPLETED)
