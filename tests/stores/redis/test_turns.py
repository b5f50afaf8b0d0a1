"""Lanes and groups on Redis: no call grows with those that wait, and nothing is left of them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from tests.servers import redis
from tests.servers.server import Server
from tests.stores.redis.test_bounded import BATCH, LOAD, grown, measure, moves
from tests.stores.redis.watch import contents, fresh, fresh_namespace
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Job, JobQuery, NewJob, Spec
from windlass.core.states import State
from windlass.core.unique import UNTIL_STARTED
from windlass.stores.redis.store import RedisStore
from windlass.testing.clock import FakeClock
from windlass.testing.jobs import BOOM, LEASE, claim, claim_one, finish, new_job, put

FEW, MANY = 2_000, 20_000
HOUR = 3_600_000
WAITING_JOBS = JobQuery(states=(State.PENDING, State.BLOCKED), limit=BATCH)


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


async def fill(store: RedisStore, spec: Callable[[int], Spec], number: int) -> None:
    jobs = [NewJob(new_id(), spec(n), fresh=True) for n in range(number)]
    for start in range(0, number, 4 * LOAD):
        parts = [jobs[at : at + LOAD] for at in range(start, start + 4 * LOAD, LOAD)]
        await asyncio.gather(*(store.insert(part) for part in parts if part))


def of_slots(slots: int) -> Spec:
    return Spec("work", b"", lane=Lane("l", slots=slots))


class Site:
    """A store and what is done with it, again and again."""

    def __init__(self, store: RedisStore, clock: FakeClock, spec: Callable[[int], Spec]) -> None:
        self.store, self.clock, self.spec = store, clock, spec
        self.jobs: list[Job] = []

    async def insert(self) -> None:
        await fill(self.store, self.spec, BATCH)

    async def claim(self) -> None:
        self.clock.advance(1)
        self.jobs = list(await self.store.claim({"default": BATCH}, BATCH, LEASE, "w"))
        assert self.jobs

    async def run(self) -> None:
        await self.claim()
        await self.store.finish(moves(self.jobs, State.COMPLETED))

    async def retry(self) -> None:
        await self.claim()
        await self.store.finish(moves(self.jobs, State.RETRY, delay=HOUR, error=BOOM))

    async def release(self) -> None:
        await self.claim()
        await self.store.finish(moves(self.jobs, State.PENDING, refund=True))

    async def cancel(self) -> None:
        await self.claim()
        await self.store.cancel([job.id for job in self.jobs])

    async def prioritize(self) -> None:
        ids = [job.id for job in (await self.store.find(WAITING_JOBS)).jobs]
        for priority in (90, 50):
            assert await self.store.prioritize(ids, priority) == set(ids)

    async def wait(self) -> None:
        self.clock.advance(60)
        await self.store.wait([], 0)


SITES: dict[str, Callable[[int], Spec]] = {
    "one lane": lambda n: of_slots(500),
    "many lanes": lambda n: Spec("work", b"", lane=Lane(f"l{n % 10_000}", slots=1)),
    "a rate": lambda n: Spec("work", b"", lane=Lane("r", starts=1_000, per=1_000, burst=1_000)),
    "batches": lambda n: Spec("work", b"", lane=Lane("b", size=100, grace=1, longest=1)),
    "groups": lambda n: Spec("work", b"", group=f"g{n % 1_000}"),
    "one great group": lambda n: Spec("work", b"", group="g"),
}


async def costs_in_a_line(site: Site, server: Server, number: int) -> dict[str, float]:
    await fill(site.store, site.spec, number)
    steps: dict[str, Callable[[], Awaitable[object]]] = {
        "release": site.release,
        "insert": site.insert,
        "run": site.run,
        "retry": site.retry,
        "cancel": site.cancel,
        "prioritize": site.prioritize,
        "wait": site.wait,
        "lanes": lambda: site.store.lanes(1_000),
    }
    return await measure(server, steps, 4)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SITES)
async def test_no_call_takes_longer_when_more_wait(server: Server, name: str) -> None:
    costs = []
    for number in (FEW, MANY):
        clock = FakeClock()
        async with fresh(server.url, clock, timeout="30") as store:
            costs.append(await costs_in_a_line(Site(store, clock, SITES[name]), server, number))
    assert not grown(*costs)


async def test_a_lane_that_is_opened_wide_lets_a_bounded_number_in(
    server: Server, clock: FakeClock
) -> None:
    async def widened(number: int) -> dict[str, float]:
        async with fresh(server.url, clock, timeout="30") as store:
            await fill(store, lambda _: of_slots(1), number)

            async def widen() -> None:
                await store.insert([NewJob(new_id(), of_slots(100_000), fresh=True)])

            costs = await measure(server, {"widen": widen}, 3)
            (queue,) = await store.queues()
            assert queue.counts[State.PENDING] <= 301
            return costs

    assert not grown(await widened(1_000), await widened(10_000))


async def test_a_claim_takes_no_more_batches_than_it_can_carry(store: RedisStore) -> None:
    lanes = [Lane(f"b{n}", size=100, grace=HOUR, longest=HOUR) for n in range(10)]
    for lane in lanes:
        await fill(store, lambda _, lane=lane: Spec("work", b"", lane=lane), 100)  # type: ignore[misc]
    first = await store.claim({"default": 100}, 100, LEASE, "w")
    assert len(first) == 500
    second = await store.claim({"default": 100}, 100, LEASE, "w")
    assert len(second) == 500
    assert await claim(store) == []


async def test_nothing_is_left_of_jobs_that_are_gone(server: Server, clock: FakeClock) -> None:
    namespace = fresh_namespace()
    async with fresh(server.url, clock, namespace=namespace) as store:
        specs = [
            Spec("work", b"", keep=0, lane=Lane("l", slots=1)),
            Spec("work", b"", keep=0, lane=Lane("s", slots=1, strict=True)),
            Spec("work", b"", keep=0, lane=Lane("r", starts=1, per=1_000, burst=1)),
            Spec("work", b"", keep=0, lane=Lane("w", starts=1, per=1_000)),
            Spec("work", b"", keep=0, lane=Lane("b", size=2, grace=1, longest=1), group="g"),
            Spec("work", b"", keep=0, group="g"),
        ]
        for n, spec in enumerate(specs):
            await put(store, *(f"{n}-{m}" for m in range(5)), spec=spec)
        await put(store, "k", spec=Spec("work", b"", keep=0, unique_for=1_000), unique="k")
        await put(store, "u", spec=Spec("work", b"", keep=0, unique_for=UNTIL_STARTED), unique="u")
        await store.insert([new_job("x", specs[0], unique="u", conflict="replace")])
        assert await store.signal("k", "go", b"x")
        assert await store.cancel(["0-3", "1-3", "2-3", "3-3"])
        assert await store.delete(["0-4", "1-4", "2-4", "3-4"])
        for _ in range(30):
            for job in await claim(store):
                assert await finish(store, job, State.COMPLETED)
            clock.advance(1)
        assert not (await store.queues())
        assert len((await store.lanes(100)).lanes) == 5
        await store.prune(100)
        assert not (await store.lanes(100)).lanes
    left = {key.decode().rsplit(":", 1)[1] for key in contents(server.port, namespace)}
    assert left <= {"meta", "w1"}, "the counters, and the last claim of the worker"


async def test_a_lane_of_a_divided_queue_is_in_one_shard(redis_cluster: Server) -> None:
    async with fresh(redis_cluster.url, partitions="hot:8") as store:
        spec = Spec("work", b"", lane=Lane("l", slots=1))
        await put(store, *(f"j{n}" for n in range(20)), spec=spec, queue="hot")
        for n in range(20):
            job = await claim_one(store, queue="hot")
            assert job.id == f"j{n}"
            assert await claim(store, queue="hot") == []
            assert await finish(store, job, State.COMPLETED)


async def test_a_lane_of_a_divided_queue_goes_by_new_priorities(redis_cluster: Server) -> None:
    async with fresh(redis_cluster.url, partitions="hot:8") as store:
        laned = [f"l{n}" for n in range(5)]
        await put(store, *laned, spec=Spec("work", b"", lane=Lane("l", slots=1)), queue="hot")
        plain = [f"p{n}" for n in range(20)]
        await put(store, *plain, queue="hot")
        assert await store.prioritize(["l4", "l0", "l2", *plain[10:]], 90) == {
            *("l0", "l2", "l4"),
            *plain[10:],
        }
        jobs = await claim(store, queue="hot")
        first = {job.id for job in jobs if job.priority == 90}
        assert first == {"l0", *plain[10:]}
        ran = ["l0"]
        (job,) = (job for job in jobs if job.id == "l0")
        while await finish(store, job, State.COMPLETED) and len(ran) < 5:
            job = await claim_one(store, queue="hot")
            ran.append(job.id)
        assert ran == ["l0", "l2", "l4", "l1", "l3"]
