"""How much a worker claims."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job
from windlass.stores.contract import CLAIM_BYTES
from windlass.stores.memory import MemoryStore
from windlass.testing.faults import FaultyStore
from windlass.testing.work import until
from windlass.worker.pool import ahead
from windlass.worker.worker import Worker


class Stingy(MemoryStore):
    """Gives little at a time and wakes nobody for what was there before the wait."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Sequence[Job] = ()
        self.before_waits: list[Sequence[Job]] = []

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        self.last = await super().claim(queues, min(limit, 3), lease, worker, most_bytes)
        return self.last

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        self.before_waits.append(self.last)
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("seconds", "expected"), [(None, 0), (0.0, 900), (0.01, 200), (0.2, 10), (1.0, 2), (60.0, 0)]
)
def test_only_quick_jobs_are_claimed_ahead(seconds: float | None, expected: int) -> None:
    assert ahead(100, seconds, 900) == expected


async def test_a_slow_worker_leaves_jobs_to_an_idle_one(app: Windlass) -> None:
    running: list[int] = []
    go_on = asyncio.Event()

    @app.task
    async def slow(n: int) -> None:
        running.append(n)
        await go_on.wait()

    handles = await app.aenqueue_many([slow.call(n) for n in range(6)])
    one = await app.worker(WorkerSettings(concurrency=3))
    two = await app.worker(WorkerSettings(concurrency=3))
    await one.start()
    await until(lambda: len(running) == 3)
    await two.start()
    await until(lambda: len(running) == 6)
    go_on.set()
    for handle in handles:
        await handle.aresult(timeout=20)
    await one.stop()
    await two.stop()


async def test_never_more_jobs_run_than_the_concurrency_allows(app: Windlass) -> None:
    now = most = 0

    @app.task
    async def count() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1

    handles = await app.aenqueue_many([count.call() for _ in range(60)])
    worker = await app.worker(WorkerSettings(concurrency=7))
    await worker.start()
    for handle in handles:
        await handle.aresult(timeout=20)
    await worker.stop()
    assert most == 7


async def test_all_queues_that_were_named_are_served(app: Windlass) -> None:
    @app.task
    async def work(n: int) -> int:
        return n

    one = await work.using(queue="a").aenqueue(1)
    two = await work.using(queue="b").aenqueue(2)
    other = await work.using(queue="c").aenqueue(3)
    worker = await app.worker(WorkerSettings(queues=("a", "b")))
    await worker.start()
    assert (await one.aresult(timeout=20), await two.aresult(timeout=20)) == (1, 2)
    await worker.stop()
    assert (await other.aget()).attempt == 0


@pytest.mark.usefixtures("never_looks")
async def test_an_idle_worker_is_woken_and_starts_delayed_jobs_on_time(app: Windlass) -> None:
    @app.task
    async def work(n: int) -> int:
        return n

    store = FaultyStore(await app.client.store())
    worker = Worker(app.registry, app.codecs, store, WorkerSettings())
    await worker.start()
    await until(lambda: store.calls["wait"] == 1)
    assert await (await work.aenqueue(1)).aresult(timeout=20) == 1
    job = await work.using(delay=0.2).aenqueue(2)
    assert await job.aresult(timeout=20) == 2
    done = await job.aget()
    await worker.stop()
    assert done.started_at is not None and done.started_at >= done.due


@pytest.mark.parametrize("queues", [("a",), ("a", "b"), ("*",)])
async def test_it_claims_until_an_empty_answer_before_it_waits(queues: tuple[str, ...]) -> None:
    """A store may give fewer than there are, and wake a worker only for what is new."""
    app = Windlass("memory://")
    done: list[int] = []

    @app.task(queue="a")
    async def note(n: int) -> None:
        done.append(n)

    store = Stingy()
    await store.insert([note.call(n).job for n in range(50)])
    settings = WorkerSettings(queues=queues, concurrency=20)
    worker = Worker(app.registry, app.codecs, store, settings)
    await worker.start()
    await until(lambda: len(done) == 50)
    await until(lambda: bool(store.before_waits))
    await worker.stop()
    assert store.before_waits == [[]]
