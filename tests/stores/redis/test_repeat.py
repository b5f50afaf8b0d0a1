"""Every write may be sent twice: it does what one does, as the memory store shows."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from tests.servers.proxy import Proxy
from tests.servers.server import Server
from tests.stores.redis.outage import opened
from windlass.core.apikey import ApiKey, Role
from windlass.core.attempts import AttemptRecord
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Spec
from windlass.core.schedule import Schedule
from windlass.core.states import State
from windlass.core.stats import COARSE, Tally, summed
from windlass.core.unique import UNTIL_STARTED
from windlass.core.workers import WorkerInfo
from windlass.stores.contract import Store
from windlass.stores.memory import MemoryStore
from windlass.testing.jobs import LEASE, bring, claim, claim_one, finish, ids, new_job, put
from windlass.testing.suite.dependents import after
from windlass.testing.suite.schedules import every_minute
from windlass.testing.suite.signal import park

HOUR = 3_600_000

Step = Callable[[Store], Awaitable[Any]]

LANED = Spec("work", b"", lane=Lane("l", slots=1))
GATHERED = Spec("work", b"", lane=Lane("b", size=3, grace=HOUR, longest=HOUR))
UNSTARTED = Spec("work", b"", unique_for=UNTIL_STARTED)
WORKER = WorkerInfo("w9", "host", 9, ("other",), 1, 1)
WINDOW = Spec("work", b"", unique_for=HOUR)


async def one_of_each(store: Store) -> None:
    """A job in each state that can be reached, named after it; one more is pending in a queue."""
    for state in (State.SCHEDULED, State.RETRY, State.CANCELLED, State.DEAD, State.COMPLETED):
        await bring(store, state.value, state)
    await put(store, "pending", "second", queue="other")
    await put(store, "child", "dropped", spec=after("pending"))
    await put(store, "brave", spec=after("pending", runs_anyway=True))
    await put(store, "grandchild", spec=after("child"), queue="other")
    assert await store.cancel(["dropped"]) == {"dropped"}
    await put(store, "holder", unique="taken", queue="keys")
    await put(store, "runner", unique="busy", queue="runs")
    await claim_one(store, queue="runs")
    await put(store, "parked", queue="parks")
    assert await park(store, await claim_one(store, queue="parks"))
    await put(store, "l1", "l2", "l3", spec=LANED, queue="lane")
    await put(store, "b1", "b2", "b3", spec=GATHERED, queue="batch")
    await put(store, "g1", "g2", spec=Spec("work", b"", group="g"), queue="groups")


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


async def hold_for_a_time(store: Store) -> Any:
    window = new_job("a", WINDOW, fresh=True, unique="key")
    return await store.insert([window, new_job("b", fresh=True, unique="key")])


async def hold_until_the_start(store: Store) -> Any:
    await store.insert(
        [new_job("a", UNSTARTED, fresh=True, unique="key", queue="keys", priority=90)]
    )
    job = await claim_one(store, queue="keys")
    return job.id, await store.insert([new_job("b", fresh=True, unique="key")])


async def replace_holder(store: Store) -> Any:
    new = Spec("work", b"new")
    options: Any = {"fresh": True, "unique": "taken", "conflict": "replace", "priority": 80}
    return await store.insert([new_job("a", new, **options), new_job("b", new, **options)])


async def follow_holder(store: Store) -> Any:
    options: Any = {"fresh": True, "unique": "busy", "conflict": "last"}
    return await store.insert([new_job("a", **options), new_job("b", **options)])


async def follow_one_that_was_replaced(store: Store) -> Any:
    """The repetition comes when the job that it has replaced runs already."""
    job = new_job("a", fresh=True, unique="taken", conflict="last", queue="keys")
    receipts = await store.insert([job])
    await claim_one(store, queue="keys")
    return receipts


async def signal(store: Store) -> Any:
    return [
        await store.signal(id, "go", b"word") for id in ("parked", "runner", "dead", "scheduled")
    ]


async def park_again(store: Store) -> Any:
    return await park(store, await claim_one(store, queue="other"))


async def enter_lanes(store: Store) -> Any:
    return await store.insert(
        [
            new_job("a", LANED, fresh=True, queue="lane"),
            new_job("b", GATHERED, fresh=True, queue="batch"),
            new_job("c", Spec("work", b"", group="h"), fresh=True, queue="groups"),
        ]
    )


async def leave_lane(store: Store) -> Any:
    return await finish(store, await claim_one(store, queue="lane"), State.COMPLETED)


async def release_to_lane(store: Store) -> Any:
    job = await claim_one(store, queue="lane")
    return await finish(store, job, State.PENDING, refund=True)


async def gather(store: Store) -> Any:
    return ids(await claim(store, 1, queue="batch"))


async def cancel_in_lanes(store: Store) -> Any:
    return await store.cancel(["l1", "l3", "b1", "g1"])


async def reschedule_in_lanes(store: Store) -> Any:
    return await store.reschedule(["l1", "g1"])


async def prioritize(store: Store) -> Any:
    every = ["pending", "scheduled", "retry", "child", "dead", "runner", "unknown", "second"]
    return await store.prioritize(every, 70)


async def prioritize_in_lanes(store: Store) -> Any:
    done = await store.prioritize(["l1", "l3", "b2", "g1", "g2"], 80)
    return done, ids(await claim(store, queue="groups"))


async def prioritize_one_that_is_claimed(store: Store) -> Any:
    """The repetition comes when the job runs already."""
    done = await store.prioritize(["second"], 90)
    await claim_one(store, queue="other")
    return done


async def direct(store: Store) -> Any:
    orders = [await store.beat(WORKER, HOUR)]
    told = await store.direct(["w9", "nobody"], "quiet")
    orders.append(await store.beat(WORKER, HOUR))
    await store.leave("w9")
    return orders, told, await store.beat(WORKER, HOUR)


async def note_attempts(store: Store) -> Any:
    records = [AttemptRecord("second", "other", n, n, "w1", 1) for n in (1, 2)]
    await store.note_attempts(records, HOUR)
    return dict(await store.attempts(["second"]))


async def tally(store: Store) -> Any:
    await store.tally("w1", 1, [Tally("other", {"completed": 3}), Tally("mail", {"dead": 1})])
    return summed(await store.stats(["", "other"], COARSE, 0))


async def checkpoint(store: Store) -> Any:
    job = await claim_one(store, queue="other")
    return await store.checkpoint([(job.lease, b"half")])


async def schedules(store: Store) -> Any:
    await store.put_schedules([every_minute("one"), every_minute("two")])
    paused = await store.pause_schedules(["one", "none"], True)
    dropped = await store.drop_schedules(["two"])
    return paused, dropped, [schedule.name for schedule in await store.schedules()]


async def keys(store: Store) -> Any:
    one, two = (ApiKey(id, bytes(32), (Role.READ,)) for id in ("one", "two"))
    await store.put_keys([one, two])
    return await store.drop_keys(["two"]), list(await store.keys())


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
        *(checkpoint, schedules, keys, tick),
        *(hold_for_a_time, hold_until_the_start, replace_holder, follow_holder),
        *(follow_one_that_was_replaced, signal, park_again, enter_lanes, leave_lane),
        *(release_to_lane, gather, cancel_in_lanes, reschedule_in_lanes),
        *(prioritize, prioritize_in_lanes, prioritize_one_that_is_claimed),
        *(direct, note_attempts, tally),
    )
}


async def snapshot(store: Store) -> Any:
    """All that is comparable between two stores whose clocks differ."""
    kin = ["c", "child", "dropped", "brave", "grandchild"]
    kin += ["holder", "runner", "parked", "l1", "l2", "l3", "b1", "b2", "b3", "g1", "g2"]
    names = ["a", "b", "pending", "second", *kin, *(state.value for state in State)]
    jobs = await store.get(names)
    queues = await store.queues()
    return (
        {
            id: (
                *(job.state, job.attempt, job.queue, job.priority, job.spec),
                *(job.unique, job.waits_for, job.awaits, job.mail),
            )
            for id, job in jobs.items()
        },
        {queue.name: (dict(queue.counts), queue.paused) for queue in queues},
        (await store.lanes(100)).lanes,
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
