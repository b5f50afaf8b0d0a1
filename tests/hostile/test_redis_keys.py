"""Keys in Redis that something else has written over: one queue's or one job's trouble, no more."""

from collections.abc import AsyncIterator

import pytest
from redis import Redis

from tests.servers.server import Server
from windlass import State, Windlass
from windlass.admin.doctor import diagnose, examine
from windlass.config import WorkerSettings
from windlass.core.clock import system_clock
from windlass.core.ids import new_id
from windlass.core.model import JobQuery, NewJob, Spec
from windlass.errors import StoreError
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.sync import drive
from windlass.testing.work import until

BOTH = WorkerSettings(queues=("wrong", "default"), concurrency=2, lease=2)


class Site:
    """An app, and the hand that writes below it."""

    def __init__(self, server: Server) -> None:
        self.space = new_id()
        self.app = Windlass(f"{server.url}?namespace={self.space}")
        self.redis = Redis(port=server.port)
        self.tries: list[str] = []

        async def flaky(word: str) -> str:
            self.tries.append(word)
            if self.tries.count(word) == 1:
                raise ValueError("the first time")
            return word

        self.flaky = self.app.task(name="flaky", backoff=0.01)(flaky)

    def key(self, name: str) -> str:
        return f"{self.space}:{{0}}:{name}"

    def spoil(self, name: str) -> None:
        self.redis.set(self.key(name), "something else")

    async def told(self) -> str:
        store = await self.app.client.store()
        return " ".join(each.text for each in diagnose(await examine(store, system_clock)))


@pytest.fixture
async def site(redis_server: Server) -> AsyncIterator[Site]:
    site = Site(redis_server)
    yield site
    await site.app.aclose()
    site.redis.close()


@pytest.mark.parametrize("name", ["line:wrong", "later:wrong"])
async def test_a_key_of_one_queue_stops_no_other_queue(site: Site, name: str) -> None:
    lost = await site.flaky.using(queue="wrong", delay=0.01).aenqueue("lost")
    site.spoil(name)
    worker = await site.app.worker(BOTH)
    await worker.start()
    sound = [await site.flaky.aenqueue(f"sound-{n}") for n in range(10)]
    for handle in sound:
        assert await handle.aresult(timeout=20) == await handle.aresult(timeout=20)
    if name == "line:wrong":
        with pytest.raises(
            StoreError, match=r"The key \S+line:wrong in Redis is a string"
        ) as error:
            await site.flaky.using(queue="wrong").aenqueue("refused")
        assert "remove or rename the key" in str(error.value)
    assert f"{name} in Redis is a string and should be a zset" in await site.told()
    store = await site.app.client.store()
    await store.find(JobQuery())
    site.redis.delete(site.key(name))
    # What stood there is lost from the line, and not from the store.
    await store.reschedule([lost.id])
    assert await lost.aresult(timeout=20) == "lost"
    assert (
        await (await site.flaky.using(queue="wrong").aenqueue("new")).aresult(timeout=20) == "new"
    )
    await worker.stop()
    assert "in Redis is a" not in await site.told()


async def test_a_job_whose_queue_is_spoilt_while_it_runs_is_kept(site: Site) -> None:
    handle = await site.flaky.using(queue="wrong").aenqueue("kept")
    store = await site.app.client.store()
    [job] = await store.claim({"wrong": 1}, 1, 60_000, "w")
    site.spoil("line:wrong")
    other = await site.flaky.aenqueue("other")
    worker = await site.app.worker(BOTH)
    await worker.start()
    assert await other.aresult(timeout=20) == "other"
    assert (await handle.aget()).state is State.ACTIVE
    assert await store.cancel([job.id]) == {job.id}
    await worker.stop()


async def test_keys_of_one_job_and_of_one_worker_stop_nothing(site: Site) -> None:
    handle = await site.flaky.aenqueue("word")
    site.redis.set(site.key(f"attempts:{handle.id}"), "something else")
    worker = await site.app.worker(BOTH)
    for name in ("token", "tallied"):
        site.redis.rpush(site.key(f"{name}:{worker.id}"), "something else")
    await worker.start()
    assert await handle.aresult(timeout=20) == "word"
    await until(lambda: site.tries == ["word", "word"])
    await worker.stop()
    store = await site.app.client.store()
    assert await store.attempts([handle.id]) == {}


@pytest.mark.parametrize("name", ["jobs", "meta", "leases", "work", "counts"])
def test_a_key_that_everything_needs_is_named(redis_server: Server, name: str) -> None:
    space = new_id()
    store: Store = open_store(f"{redis_server.url}?namespace={space}", blocking=True)
    drive(store.open())
    with Redis(port=redis_server.port) as redis:
        redis.delete(f"{space}:{{0}}:{name}")
        redis.set(f"{space}:{{0}}:{name}", "something else")
    refused = []
    for call in (
        store.insert([NewJob("a", Spec("t", b""))]),
        store.claim({"default": 1}, 1, 1_000, "w"),
        store.rescue(1, 1_000, "w"),
        store.queues(),
        store.get(["a"]),
        store.cancel(["a"]),
    ):
        try:
            drive(call)
        except StoreError as error:
            refused.append(str(error))
    assert refused
    for sentence in refused:
        assert f"{{0}}:{name} in Redis is a string and should be a" in sentence
    drive(store.close())
