"""Every write may be sent twice: it does what one does, as the memory store shows."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.redis.outage import opened
from windlass.core.ids import new_id
from windlass.core.model import Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.testing.jobs import LEASE, bring, claim_one, finish, new_job, put
from windlass.testing.suite.dependents import after
from windlass.testing.suite.schedules import every_minute

Step = Callable[[Store], Awaitable[Any]]


async def one_of_each(store: Store) -> None:
    """A job in each state that can be reached, named after it; one more is pending in a queue."""
    for state in (State.SCHEDULED, State.RETRY, State.CANCELLED, State.DEAD, State.COMPLETED):
        await bring(store, state.value, state)
    await put(store, "pending", "second", queue="other")
    await put(store, "child", "dropped", spec=after("pending"))
    await put(store, "brave", spec=after("pending", runs_anyway=True))
    await put(store, "grandchild", spec=after("child"), queue="other")
    assert await store.cancel(["dropped"]) == {"dropped"}


async def insert(store: Store) -> Any:
    delayed = new_job("b", fresh=True, delay=9_000, unique="key")
    return await store.insert([new_job("a", fresh=True), delayed])


async def insert_dependents(store: Store) -> Any:
    jobs = [
        new_job("a", after("second"), fresh=True),
        new_job("b", after("dead"), fresh=True),
        new_job("c", after("a", "b"), fresh=True),
    ]
    return await store.insert(jobs)


async def unblock(store: Store) -> Any:
    job = await claim_one(store, queue="other")
    done = await finish(store, job, State.COMPLETED)
    return done, await store.unblock(100)


async def replay_blocked(store: Store) -> Any:
    return await store.replay(["dropped"])


async def checkpoint(store: Store) -> Any:
    job = await claim_one(store, queue="other")
    return await store.checkpoint([(job.lease, b"half")])


async def schedules(store: Store) -> Any:
    await store.put_schedules([every_minute("one"), every_minute("two")])
    paused = await store.pause_schedules(["one", "none"], True)
    dropped = await store.drop_schedules(["two"])
    return paused, dropped, [schedule.name for schedule in await store.schedules()]


async def tick(store: Store) -> Any:
    await store.put_schedules([Schedule("s", "@every 1s", Spec("work", b""))])
    (schedule,) = await store.schedules()
    moment = schedule.last + 1
    while await store.now() < moment:
        pass
    receipt = await store.tick(schedule, moment)
    found = await store.get([schedule.new_job(moment).id])
    return receipt is not None, [job.state for job in found.values()]


async def cancel(store: Store) -> Any:
    return await store.cancel(["pending", "scheduled", "dead", "unknown"])


async def replay(store: Store) -> Any:
    return await store.replay(["dead", "cancelled", "pending"])


async def reschedule(store: Store) -> Any:
    return await store.reschedule(["pending", "retry", "dead"], delay=60_000)


async def hasten(store: Store) -> Any:
    return await store.reschedule(["scheduled", "retry", "completed"])


async def delete(store: Store) -> Any:
    return await store.delete(["pending", "completed", "unknown"])


async def restore(store: Store) -> Any:
    gone = await store.get(["scheduled", "dead", "second"])
    await store.delete(["second"])
    changed = [msgspec.structs.replace(job, id="a", unique="key") for job in gone.values()]
    return await store.restore([*gone.values(), changed[0]])


async def elect(store: Store) -> Any:
    term = await store.elect("upkeep", "me", 10_000)
    return term and (term.holder, term.term)


async def resign(store: Store) -> Any:
    await store.elect("upkeep", "me", 10_000)
    await store.resign("upkeep", "me")
    term = await store.elect("upkeep", "you", 10_000)
    return term and (term.holder, term.term)


async def pause(store: Store) -> Any:
    await store.pause("other")
    return await store.claim({"other": 1}, 1, LEASE, "w1")


CALLS: dict[str, Step] = {
    step.__name__: step
    for step in (
        *(insert, cancel, replay, reschedule, hasten, delete, restore),
        *(elect, resign, pause, insert_dependents, unblock, replay_blocked),
        *(checkpoint, schedules, tick),
    )
}


async def snapshot(store: Store) -> Any:
    """All that is comparable between two stores whose clocks differ."""
    kin = ["c", "child", "dropped", "brave", "grandchild"]
    names = ["a", "b", "pending", "second", *kin, *(state.value for state in State)]
    jobs = await store.get(names)
    queues = await store.queues()
    return (
        {
            id: (job.state, job.attempt, job.queue, job.unique, job.waits_for)
            for id, job in jobs.items()
        },
        {queue.name: (dict(queue.counts), queue.paused) for queue in queues},
    )


@asynccontextmanager
async def repeated(
    call: Step, drops: int, server: Server, proxy: Proxy
) -> AsyncIterator[tuple[Store, Any]]:
    """A store on which `call` was made with its reply lost `drops` times; and its answer."""
    namespace = new_id()
    async with opened(server.url, f"{namespace}-first") as store:
        await one_of_each(store)
        # From now on the server knows the script: what will be lost is the reply to a deed.
        await call(store)
    async with (
        opened(server.url, namespace) as direct,
        opened(proxy.through(server.url), namespace) as store,
    ):
        await one_of_each(direct)
        proxy.drop_replies(drops, after=b"EVALSHA")
        answer = await call(store)
        assert proxy.counts.dropped == drops
        yield direct, answer


@pytest.mark.parametrize("drops", [1, 3])
@pytest.mark.parametrize("name", CALLS)
async def test_a_call_that_had_to_be_repeated_did_what_one_does(
    name: str, drops: int, redis_server: Server, redis_proxy: Proxy
) -> None:
    model = MemoryStore()
    await one_of_each(model)
    await CALLS[name](model)
    async with repeated(CALLS[name], drops, redis_server, redis_proxy) as (store, _):
        assert await snapshot(store) == await snapshot(model)


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_that_had_to_be_repeated_answers_as_the_first_would_have(
    name: str, redis_server: Server, redis_proxy: Proxy
) -> None:
    model = MemoryStore()
    await one_of_each(model)
    expected = await CALLS[name](model)
    async with repeated(CALLS[name], 1, redis_server, redis_proxy) as (_, answer):
        assert answer == expected
