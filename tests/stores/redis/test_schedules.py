"""Ticks: a scheduler that dies or freezes between two steps, on one shard and on several."""

from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count

import pytest

from tests.servers.redis_cluster import Cluster
from tests.servers.server import Server
from tests.stores.redis.test_names import notes, redrive
from tests.stores.redis.watch import fresh
from windlass.core.model import NewJob, Receipt, Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.stores.redis.schedules import Due
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import claim_all, claim_one, finish, ids, state_of
from windlass.testing.suite.schedules import MINUTE, every_minute, scheduled, tick_now


class Died(Exception):
    """What ends a process in the middle of a tick."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["here", "elsewhere", "single"])
async def store(
    request: pytest.FixtureRequest, redis_cluster: Cluster, redis_server: Server, clock: FakeClock
) -> AsyncIterator[RedisStore]:
    server = redis_server if request.param == "single" else redis_cluster
    async with fresh(server.url, clock) as store:
        at_home = request.param != "elsewhere"
        names = (f"q{n}" for n in count())
        queue = next(q for q in names if (store._spread.of_job(q, "") == 0) is at_home)
        spec = Spec("work", b"", keep=0)
        await store.put_schedules([Schedule("s", "@every 60s", spec, queue=queue)])
        clock.advance(60)
        yield store


async def queue_of(store: RedisStore) -> str:
    return (await scheduled(store)).queue


@pytest.fixture(params=["_see_to", "_let_in", "_forget"])
def killed(
    request: pytest.FixtureRequest, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> pytest.MonkeyPatch:
    """Dies before this step, until it is undone."""

    async def die(*args: object) -> None:
        raise Died

    monkeypatch.setattr(store._ticks, request.param, die)
    return monkeypatch


async def test_a_tick_whose_scheduler_died_makes_its_job_once(
    store: RedisStore, clock: FakeClock, killed: pytest.MonkeyPatch
) -> None:
    late, tick = await scheduled(store), clock() // MINUTE * MINUTE
    try:
        await store.tick(late, tick)
    except Died:
        assert await notes(store) > 0
    killed.undo()
    queue = await queue_of(store)
    ran = await claim_all(store, queue)
    for job in ran:
        # Nothing of it is left, and still it is not made again.
        assert await finish(store, job, State.COMPLETED)
    for _ in range(3):
        await redrive(store, clock)
    ran += await claim_all(store, queue)
    assert ids(ran) == [late.new_job(tick).id]
    assert await notes(store) == 0
    assert await store.tick(late, tick) is None


async def test_a_tick_that_was_left_is_seen_to_before_the_next(
    store: RedisStore, clock: FakeClock, killed: pytest.MonkeyPatch
) -> None:
    made = [(await scheduled(store)).new_job(clock() // MINUTE * MINUTE).id]
    with suppress(Died):
        await tick_now(store)
    killed.undo()
    clock.advance(60)
    receipt = await tick_now(store)
    assert receipt is not None
    await redrive(store, clock)
    assert sorted(ids(await claim_all(store, await queue_of(store)))) == [*made, receipt.id]
    assert await notes(store) == 0


async def test_a_scheduler_that_froze_makes_no_second_job(
    store: RedisStore, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has noted the tick, sleeps, and goes on when others have long done all of it."""
    see_to = store._ticks._see_to

    async def freeze(due: Due) -> Receipt:
        monkeypatch.undo()
        await redrive(store, clock)
        job = await claim_one(store, queue=await queue_of(store))
        assert await finish(store, job, State.COMPLETED)
        return await see_to(due)

    monkeypatch.setattr(store._ticks, "_see_to", freeze)
    receipt = await tick_now(store)
    assert receipt is not None
    assert await state_of(store, receipt.id) is None
    assert await claim_all(store, await queue_of(store)) == []
    assert await notes(store) == 0


async def test_a_schedule_that_changes_during_a_tick_is_read_again(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = store._ticks._turn

    async def change(kept: Schedule, tick: int) -> tuple[NewJob | None, Receipt]:
        monkeypatch.undo()
        answer = await turn(kept, tick)
        await store.put_schedules([every_minute(queue="other")])
        return answer

    monkeypatch.setattr(store._ticks, "_turn", change)
    receipt = await tick_now(store)
    assert receipt is not None
    assert ids(await claim_all(store, "other")) == [receipt.id]
