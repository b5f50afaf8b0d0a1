"""No script holds the server up, however many jobs wait, are scheduled or run.

The same steps are taken with few jobs and with many, and may cost the server little more. Its
processor time is what counts, of several times the least: neighbours do not add to it, and what
grows with the jobs does so each time.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from itertools import count
from typing import Any

import pytest

from tests.servers import redis
from tests.servers.server import Server
from tests.stores.redis.watch import fresh, timed, worked
from windlass.core.attempts import AttemptRecord
from windlass.core.ids import new_id
from windlass.core.model import Job, JobQuery, NewJob, Progress, Transition
from windlass.core.states import State
from windlass.core.stats import FINE, Tally
from windlass.stores.redis.store import RedisStore
from windlass.stores.redis.unblocking import LARGEST_STEP
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import BOOM, BRIEF, LEASE, WORK, counts, new_job
from windlass.testing.suite.dependents import after

FEW, MANY = 4_000, 40_000
"""Jobs that wait, and that are scheduled, and that run: more than a step takes, even of the few."""

LOAD = 500
BATCH = 100
DEPENDENTS = 2_000, 10_000
ROUNDS = 5
GROWTH = 3.0
"""What ten times as many jobs may cost: a part more, since a logarithm grows and memory is further
away. What goes through all of them costs, with such small batches, several times as much."""

LEAST = 1.0
"""Milliseconds, below which a server's clock and its own chores are all that is measured."""

HOUR = 3_600_000

log = logging.getLogger(__name__)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with redis.serve("--appendonly no") as server:
        yield server


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(server: Server, clock: FakeClock) -> AsyncIterator[RedisStore]:
    async with fresh(server.url, clock, timeout="30") as store:
        yield store


async def load(store: RedisStore, number: int, **options: Any) -> list[str]:
    """So many new jobs; some calls at once, so that both sides are busy."""
    jobs = [NewJob(new_id(), WORK, fresh=True, **options) for _ in range(number)]
    for start in range(0, number, 8 * LOAD):
        parts = [jobs[at : at + LOAD] for at in range(start, start + 8 * LOAD, LOAD)]
        await asyncio.gather(*(store.insert(part) for part in parts if part))
    return [job.id for job in jobs]


def moves(jobs: list[Job], state: State, **options: Any) -> list[Transition]:
    return [
        Transition(job.id, job.fence, state, queue=job.queue, ref=job.ref, **options)
        for job in jobs
    ]


Step = Callable[[], Awaitable[object]]


class Site:
    """A store with a backlog, and what is to be done with it."""

    def __init__(self, store: RedisStore, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        self.active: list[Job] = []
        self.waiting: Iterator[str] = iter(())
        self._serial = count()

    async def fill(self, number: int) -> None:
        await load(self.store, number)
        while jobs := await self.store.claim({"default": LOAD}, LOAD, LEASE, "w"):
            self.active += jobs
        self.waiting = reversed(await load(self.store, number))
        await load(self.store, number, delay=HOUR)
        states = (State.ACTIVE, State.PENDING, State.SCHEDULED)
        assert await counts(self.store) == dict.fromkeys(states, number)

    def some(self) -> list[str]:
        """The ids of jobs that wait, others each time."""
        return [next(self.waiting) for _ in range(BATCH)]

    def taken(self) -> list[Job]:
        """Jobs that were claimed, others each time."""
        taken, self.active = self.active[:BATCH], self.active[BATCH:]
        return taken

    async def insert(self, **options: Any) -> None:
        await self.store.insert(
            [NewJob(new_id(), WORK, fresh=True, **options) for _ in range(BATCH)]
        )

    async def insert_with_keys(self) -> None:
        await self.store.insert(
            [new_job(f"job-{n}", BRIEF, unique=f"key-{n}", delay=HOUR + n) for n in self._numbers()]
        )

    def _numbers(self) -> list[int]:
        return [next(self._serial) for _ in range(BATCH)]

    async def claim(self) -> None:
        jobs = await self.store.claim({"default": BATCH}, BATCH, LEASE, "w")
        assert jobs
        self.active += jobs

    async def finish(self, state: State, **options: Any) -> None:
        jobs = self.taken()
        assert len(await self.store.finish(moves(jobs, state, **options))) == BATCH

    async def renew(self) -> None:
        jobs = self.active[-BATCH:]
        assert len(await self.store.renew([job.lease for job in jobs], LEASE)) == BATCH

    async def report(self) -> None:
        await self.store.report([(job.lease, Progress(50.0)) for job in self.active[-100:]])

    async def change(self) -> None:
        ids = self.some()
        for change in ("reschedule", "cancel", "replay", "delete"):
            assert await getattr(self.store, change)(ids) == set(ids)

    async def prioritize(self) -> None:
        ids = self.some()
        for priority in (70, 50):
            assert await self.store.prioritize(ids, priority) == set(ids)

    async def note_attempts(self) -> None:
        ids = self.some()
        await self.store.note_attempts(
            [AttemptRecord(id, "default", 1, 1, "w", 1) for id in ids], HOUR
        )
        assert len(await self.store.attempts(ids)) == BATCH

    async def tally(self) -> None:
        counts = {f"run:{n}": 1 for n in range(16)}
        queues = [f"queue-{n}" for n in range(100)]
        await self.store.tally("w", next(self._serial), [Tally(queue, counts) for queue in queues])
        assert len(await self.store.stats(queues, FINE, 0)) >= 100

    async def find(self) -> None:
        for state in State:
            query = JobQuery(states=(state,), limit=100)
            page = await self.store.find(query)
            if page.cursor:
                await self.store.find(JobQuery(states=(state,), limit=100, cursor=page.cursor))
        await self.store.find(JobQuery(task="nobody"))

    async def rescue(self) -> None:
        assert len(await self.store.rescue(BATCH, LEASE, "r")) == BATCH

    async def prune(self) -> None:
        assert await self.store.prune(BATCH) == BATCH


async def measure(
    server: Server, steps: Mapping[str, Step], rounds: int = ROUNDS
) -> dict[str, float]:
    """What each step costs the server, at its best."""
    costs: dict[str, float] = {}
    for name, step in steps.items():
        spent = []
        for _ in range(rounds):
            before = worked(server.port)
            await step()
            spent.append(worked(server.port) - before)
        costs[name] = min(spent)
    return costs


def grown(few: Mapping[str, float], many: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """The steps that cost more because there are more jobs: how much they did, and how much now."""
    for name in few:
        log.info("%s: %.2f ms, then %.2f ms", name, few[name], many[name])
    return {
        name: (few[name], many[name]) for name in few if many[name] > GROWTH * max(few[name], LEAST)
    }


async def costs_before_a_line(
    site: Site, server: Server, clock: FakeClock, number: int
) -> dict[str, float]:
    await site.fill(number)
    costs = await measure(
        server,
        {
            "insert": site.insert,
            "insert of scheduled jobs": lambda: site.insert(delay=HOUR),
            "insert with keys": site.insert_with_keys,
            "claim": site.claim,
            "renew": site.renew,
            "report": site.report,
            "completion": lambda: site.finish(State.COMPLETED),
            "completion with results": lambda: site.finish(State.COMPLETED, result=b"done"),
            "failure": lambda: site.finish(State.RETRY, delay=HOUR, error=BOOM),
            "death": lambda: site.finish(State.DEAD, error=BOOM),
            "release": lambda: site.finish(State.PENDING, refund=True),
            "changes": site.change,
            "another priority": site.prioritize,
            "records of attempts": site.note_attempts,
            "counts of many queues": site.tally,
            "find": site.find,
            "queues": site.store.queues,
            "oldest": lambda: site.store.oldest(["default", "nobody's"]),
            "wait": lambda: site.store.wait([], 0),
            "wait for one": lambda: site.store.wait(["nobody's"], 0),
        },
    )
    clock.now += LEASE
    costs |= await measure(server, {"rescue": site.rescue})
    clock.now += HOUR
    # Every scheduled job is due now.
    costs |= await measure(server, {"claim of due jobs": site.claim})
    clock.now += 24 * HOUR
    return costs | await measure(server, {"prune": site.prune})


@pytest.mark.timeout(600)
async def test_no_call_takes_longer_before_a_longer_line(server: Server) -> None:
    costs = []
    for number in (FEW, MANY):
        clock = FakeClock()
        async with fresh(server.url, clock, timeout="30") as store:
            costs.append(await costs_before_a_line(Site(store, clock), server, clock, number))
    assert not grown(*costs)


async def test_a_claim_from_many_queues_takes_no_longer_when_more_jobs_are_due(
    server: Server,
) -> None:
    queues = [f"queue-{n}" for n in range(64)]

    async def costs(number: int) -> dict[str, float]:
        clock = FakeClock()
        async with fresh(server.url, clock, timeout="30") as store:
            for queue in queues:
                await load(store, number, queue=queue, delay=HOUR)
            clock.now += HOUR

            async def claim() -> None:
                assert await store.claim(dict.fromkeys(queues, 100), 100, LEASE, "w")

            return await measure(server, {"claim": claim})

    assert not grown(await costs(LOAD // 5), await costs(2 * LOAD))


async def fan(store: RedisStore, dependents: int) -> tuple[str, str, list[str]]:
    """One job, so many that depend on it, and one that depends on all of these."""
    first, last = new_id(), new_id()
    middle = [new_id() for _ in range(dependents)]
    jobs = [new_job(first), *(new_job(id, after(first)) for id in middle)]
    await store.insert([*jobs, new_job(last, after(*middle))])
    return first, last, middle


async def settle(store: RedisStore) -> None:
    while await store.unblock(LOAD):
        pass


async def complete(store: RedisStore, dependents: int) -> None:
    first, last, _ = await fan(store, dependents)
    (job,) = await store.claim({"default": 1}, 1, LEASE, "w")
    assert await store.finish(moves([job], State.COMPLETED)) == {first}
    await settle(store)
    for _ in range(0, dependents, LOAD):
        claimed = await store.claim({"default": LOAD}, LOAD, LEASE, "w")
        assert len(await store.finish(moves(list(claimed), State.COMPLETED))) == LOAD
    assert [job.id for job in await store.claim({"default": 1}, 1, LEASE, "w")] == [last]


async def orphan(store: RedisStore, dependents: int) -> None:
    first, last, middle = await fan(store, dependents)
    assert await store.cancel([first]) == {first}
    await settle(store)
    jobs = await store.get([*middle, last])
    assert {job.state for job in jobs.values()} == {State.CANCELLED}


async def call_off(store: RedisStore, dependents: int) -> None:
    first, last, _ = await fan(store, dependents)
    assert await store.cancel([last]) == {last}
    assert await store.cancel([first]) == {first}
    await settle(store)


@pytest.mark.parametrize("step", [complete, orphan, call_off])
async def test_ten_thousand_dependents_are_seen_to_in_short_steps(
    store: RedisStore, server: Server, step: Callable[[RedisStore, int], Awaitable[None]]
) -> None:
    costs = []
    for number in DEPENDENTS:
        before = worked(server.port)
        with timed(server.port) as calls:
            await step(store, number)
        costs.append(worked(server.port) - before)
        assert len(calls["release"]) >= number / LARGEST_STEP
    few, many = costs
    # A step that goes through all who depend, to see to some of them, makes this the square of it.
    assert many < 2 * few * DEPENDENTS[1] / DEPENDENTS[0], (few, many)
