"""A damaged job dies by itself, with its reason, and stops no other."""

import asyncio
from collections.abc import AsyncIterator, Callable

import msgspec
import pytest
from redis import Redis

from tests.servers.server import Server
from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Failure, Job, JobQuery, NewJob, Progress, Transition
from windlass.scheduler.leader import Leader
from windlass.scheduler.rescuer import Rescuer
from windlass.stores.redis.record import HEAD_SIZE
from windlass.testing.clock import FakeClock
from windlass.testing.work import work

replace = msgspec.structs.replace

ONE = WorkerSettings(concurrency=1)
NOISE = bytes(range(200, 256))
DAMAGED: dict[str, Callable[[bytes], bytes | None]] = {
    "nothing": lambda record: b"",
    "half a head": lambda record: record[:5],
    "a head alone": lambda record: record[:HEAD_SIZE],
    "noise": lambda record: NOISE,
    "noise for a spec": lambda record: record[:HEAD_SIZE] + NOISE,
    "not there": lambda record: None,
}
"""What is made of a record."""


class Site:
    """An app with three jobs in a line, and the hand that harms: straight in the engine."""

    def __init__(self, server: Server) -> None:
        space = new_id()
        self.clock = FakeClock()
        self.app = Windlass(f"{server.url}?namespace={space}", clock=self.clock)
        self.task = self.app.task(name="fine", backoff=0.01)(fine)
        self._redis = Redis(port=server.port)
        self._prefix = f"{space}:{{0}}:"

    async def put(self, *ids: str, delay: float = 0) -> None:
        for id in ids:
            await self.task.using(id=id, delay=delay).aenqueue()

    def read(self, key: str, id: str) -> bytes:
        found = self._redis.hget(self._prefix + key, id)
        assert isinstance(found, bytes)
        return found

    def write(self, key: str, id: str, value: bytes | None) -> None:
        if value is None:
            assert self._redis.hdel(self._prefix + key, id) == 1
        else:
            assert self._redis.hset(self._prefix + key, id, value) == 0

    async def job(self, id: str) -> Job:
        return (await (await self.app.client.store()).get([id]))[id]

    async def states(self) -> dict[str, State]:
        page = await (await self.app.client.store()).find(JobQuery())
        return {job.id: job.state for job in page.jobs}

    async def close(self) -> None:
        await self.app.aclose()
        self._redis.close()


def fine() -> None: ...


@pytest.fixture
async def site(redis_server: Server) -> AsyncIterator[Site]:
    site = Site(redis_server)
    yield site
    await site.close()


DEAD_BY_ITSELF = {
    "before": State.COMPLETED,
    "harmed": State.DEAD,
    "after": State.COMPLETED,
}


async def is_dead_with_its_reason(site: Site) -> None:
    async with asyncio.timeout(20):
        await work(site.app, ONE)
    assert await site.states() == DEAD_BY_ITSELF
    error = (await site.job("harmed")).error
    assert error is not None
    assert (error.kind, "damaged and cannot be read" in error.message) == ("CorruptRecord", True)


@pytest.mark.parametrize("damage", DAMAGED)
async def test_a_job_that_waits_for_a_worker(site: Site, damage: str) -> None:
    await site.put("before", "harmed", "after")
    site.write("jobs", "harmed", DAMAGED[damage](site.read("jobs", "harmed")))
    await is_dead_with_its_reason(site)


@pytest.mark.parametrize("damage", DAMAGED)
async def test_a_job_that_waits_for_its_time(site: Site, damage: str) -> None:
    await site.put("before", "harmed", "after", delay=1)
    site.write("jobs", "harmed", DAMAGED[damage](site.read("jobs", "harmed")))
    site.clock.advance(1)
    await is_dead_with_its_reason(site)


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("harmed", ["first", "last"])
async def test_a_job_of_a_lane(site: Site, damage: str, harmed: str) -> None:
    """Be it the one that has the slot, or one that waits for it."""
    store = await site.app.client.store()
    order = ["harmed", "before", "after"] if harmed == "first" else ["before", "harmed", "after"]
    await site.put("sample")
    spec = replace((await site.job("sample")).spec, lane=Lane("l", slots=1), group="g")
    assert await store.delete(["sample"])
    await store.insert([NewJob(id, spec) for id in order])
    site.write("jobs", "harmed", DAMAGED[damage](site.read("jobs", "harmed")))
    for _ in range(3):
        async with asyncio.timeout(20):
            await work(site.app, ONE)
    states = await site.states()
    assert (states.get("before"), states.get("after")) == (State.COMPLETED, State.COMPLETED)
    assert states["harmed"] is State.DEAD


@pytest.mark.parametrize("damage", DAMAGED)
async def test_a_job_whose_worker_is_gone(site: Site, damage: str) -> None:
    store = await site.app.client.store()
    await site.put("before", "harmed", "after")
    assert len(await store.claim({"default": 3}, 3, 1_000, "gone")) == 3
    site.write("jobs", "harmed", DAMAGED[damage](site.read("jobs", "harmed")))
    site.clock.advance(1)
    leader = Leader(store, "me")
    assert await Rescuer(store, site.app.registry, leader, 5.0, "me").rescue() == 3
    site.clock.advance(60)
    await is_dead_with_its_reason(site)


@pytest.mark.parametrize("damage", DAMAGED)
async def test_a_job_that_was_kept_long_enough(site: Site, damage: str) -> None:
    store = await site.app.client.store()
    await site.put("before", "harmed", "after")
    await work(site.app, ONE)
    site.write("jobs", "harmed", DAMAGED[damage](site.read("jobs", "harmed")))
    site.clock.advance(2 * 24 * 3600)
    assert await store.prune(10) == 3
    assert await store.prune(10) == 0
    assert await store.get(["before", "harmed", "after"]) == {}


@pytest.mark.parametrize("damage", DAMAGED)
async def test_the_others_are_listed_all_the_same(site: Site, damage: str) -> None:
    await site.put("before", "harmed", "after")
    site.write("jobs", "harmed", DAMAGED[damage](site.read("jobs", "harmed")))
    assert {"before", "after"} <= (await site.states()).keys()


@pytest.mark.parametrize("value", [b"", NOISE, b"\x93\x01"])
async def test_what_is_told_of_former_attempts(site: Site, value: bytes) -> None:
    store = await site.app.client.store()
    await site.put("before", "harmed", "after")
    jobs = await store.claim({"default": 3}, 3, 60_000, "w")
    await store.report([(job.lease, Progress(50)) for job in jobs])
    failure = Failure("ValueError", "once")
    await store.finish([Transition(job.id, job.fence, State.RETRY, error=failure) for job in jobs])
    site.write("errors", "harmed", value)
    site.write("progress", "harmed", value)
    async with asyncio.timeout(20):
        await work(site.app, ONE)
    assert set((await site.states()).values()) == {State.COMPLETED}
    error = (await site.job("harmed")).error
    assert error is not None and error.kind == "Unreadable"
