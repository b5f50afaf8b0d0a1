"""Blocking and async handlers have slots of their own, and neither waits for the other."""

import asyncio
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job
from windlass.core.rotation import Rotation, parse_queues
from windlass.stores.contract import CLAIM_BYTES
from windlass.stores.memory import MemoryStore
from windlass.testing.work import counts, until, work
from windlass.worker.shares import Shares
from windlass.worker.worker import Worker


class Noting(MemoryStore):
    """Notes what each claim has brought."""

    def __init__(self) -> None:
        super().__init__()
        self.claims: list[Sequence[Job]] = []

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        self.claims.append(await super().claim(queues, limit, lease, worker, most_bytes))
        return self.claims[-1]

    @property
    def claimed(self) -> int:
        return sum(map(len, self.claims))


class Both:
    """An app with a blocking task and an async one, which go on when they are let."""

    def __init__(self, *, blocking: bool = True, awaiting: bool = True) -> None:
        self.app = Windlass("memory://")
        self.store = Noting()
        self.gate = threading.Event()
        self.agate = asyncio.Event()
        self.blocking: list[int] = []
        self.awaiting: list[int] = []
        if blocking:
            self.block: Any = self.app.task(name="block")(self._block)
        if awaiting:
            self.suspend: Any = self.app.task(name="suspend")(self._suspend)

    def _block(self, n: int) -> None:
        self.blocking.append(n)
        self.gate.wait(30)

    async def _suspend(self, n: int) -> None:
        self.awaiting.append(n)
        await self.agate.wait()

    async def add(self, task: Any, number: int, queue: str = "default") -> None:
        await self.store.insert([task.using(queue=queue).call(n).job for n in range(number)])

    def worker(self, *queues: str, **settings: Any) -> Worker:
        chosen = WorkerSettings(
            queues=queues or ("default",), shutdown_timeout=5, **{"concurrency": 20, **settings}
        )
        return Worker(self.app.registry, self.app.codecs, self.store, chosen)

    async def end(self, worker: Worker) -> None:
        self.gate.set()
        self.agate.set()
        await worker.stop()


def test_blocking_handlers_have_few_slots_unless_it_is_said() -> None:
    def slots(**settings: int) -> int:
        return WorkerSettings(**settings).blocking  # type: ignore[arg-type]

    assert slots() == 10
    assert slots(concurrency=4) == 4
    assert slots(concurrency=4, threads=30) == 30
    assert slots(threads=2) == 2


async def test_no_more_blocking_handlers_run_than_there_are_threads() -> None:
    both = Both()
    now = most = 0
    lock = threading.Lock()

    @both.app.task
    def short(n: int) -> None:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.001)
        with lock:
            now -= 1

    await both.add(short, 300)
    worker = both.worker(concurrency=100, threads=3)
    await worker.start()
    async with asyncio.timeout(20):
        while (await counts(both.store))[State.COMPLETED] < 300:
            await asyncio.sleep(0.01)
    await worker.stop()
    assert most <= 3


async def test_a_worker_of_blocking_tasks_claims_what_its_threads_can_start() -> None:
    both = Both(awaiting=False)
    await both.add(both.block, 50)
    worker = both.worker(concurrency=100)
    await worker.start()
    await until(lambda: len(both.blocking) == 10)
    # Longer than jobs wait in a worker before they are given back, to be claimed again or not.
    await asyncio.sleep(1.2)
    assert (len(both.blocking), both.store.claimed, len(worker._hand)) == (10, 10, 10)
    assert (worker.slots, worker.busy) == (10, 10)
    info = worker._describe()
    assert (info.concurrency, info.threads, info.active, info.in_threads) == (10, 10, 10, 10)
    await both.end(worker)


async def test_a_worker_of_async_tasks_has_no_threads_to_tell_of() -> None:
    both = Both(blocking=False)
    worker = both.worker()
    info = worker._describe()
    assert (info.concurrency, info.threads) == (20, 0)


@pytest.mark.parametrize("order", [("slow", "quick"), ("quick", "slow")])
@pytest.mark.parametrize("strict", [False, True])
async def test_async_jobs_go_on_while_blocking_ones_of_another_queue_wait(
    order: tuple[str, ...], strict: bool
) -> None:
    both = Both()
    both.agate.set()
    await both.add(both.block, 30, "slow")
    worker = both.worker(*order, strict=strict, threads=2)
    await worker.start()
    await until(lambda: len(both.blocking) == 2)
    for total in (100, 200, 300):
        await both.add(both.suspend, 100, "quick")
        await until(lambda total=total: len(both.awaiting) == total)  # type: ignore[misc]
    assert len(both.blocking) == 2
    await both.end(worker)


async def test_blocking_jobs_go_on_while_async_ones_of_another_queue_wait() -> None:
    both = Both()
    both.gate.set()
    await both.add(both.suspend, 100, "long")
    worker = both.worker("long", "quick", concurrency=5)
    await worker.start()
    await until(lambda: len(both.awaiting) == 5)
    for total in (40, 80):
        await both.add(both.block, 40, "quick")
        await until(lambda total=total: len(both.blocking) == total)  # type: ignore[misc]
    assert len(both.awaiting) == 5
    await both.end(worker)


async def test_async_jobs_behind_blocking_ones_that_run_are_not_held_up() -> None:
    """In the same queue: what it gave before says nothing of what comes next."""
    both = Both()
    both.agate.set()
    await both.add(both.block, 2)
    worker = both.worker(threads=2)
    await worker.start()
    await until(lambda: len(both.blocking) == 2)
    for total in (1, 2, 62):
        await both.add(both.suspend, total - len(both.awaiting))
        await until(lambda total=total: len(both.awaiting) == total)  # type: ignore[misc]
    await both.end(worker)


async def test_what_could_not_be_started_is_not_claimed_again_and_again() -> None:
    both = Both()
    both.agate.set()
    await both.add(both.block, 200)
    worker = both.worker(threads=2)
    await worker.start()
    await until(lambda: len(both.blocking) == 2)
    await asyncio.sleep(2)
    # The two, what a queue may give of which nothing is known, and a look or two at the first.
    assert both.store.claimed <= 2 + 20 + 3
    assert len(worker._hand) <= 3
    await both.end(worker)


async def test_a_thread_that_is_free_takes_the_next_job_at_once() -> None:
    both = Both()
    gates = [threading.Event() for _ in range(6)]
    running: list[int] = []

    @both.app.task
    def step(n: int) -> None:
        running.append(n)
        gates[n].wait(30)

    await both.add(step, 6)
    worker = both.worker(threads=2)
    await worker.start()
    for n in range(4):
        await until(lambda n=n: running == list(range(n + 2)))  # type: ignore[misc]
        gates[n].set()
    for gate in gates:
        gate.set()
    await both.end(worker)


async def test_a_worker_gives_back_what_waits_in_line_for_slow_threads(app: Windlass) -> None:
    """It thought that these jobs were quick, and had some wait for a thread."""
    gate, running = threading.Event(), []

    @app.task
    def slow(n: int) -> None:
        running.append(n)
        gate.wait(30)

    jobs = await app.aenqueue_many([slow.call(n) for n in range(8)])
    worker = await app.worker(WorkerSettings(threads=2))
    worker._runner.waiting.blocking.seconds = 0.001
    await worker.start()
    await until(lambda: len(worker._runner.claims) == 8)
    await until(lambda: len(worker._hand) == 2)
    other = await app.worker(WorkerSettings(threads=6))
    await other.start()
    await until(lambda: len(running) == 8)
    gate.set()
    for job in jobs:
        await job.aresult(timeout=20)
        assert (await job.aget()).attempt == 1
    await worker.stop()
    await other.stop()


async def test_jobs_of_both_kinds_are_drained_from_one_queue(app: Windlass) -> None:
    @app.task
    async def suspends(n: int) -> int:
        return n

    @app.task
    def blocks(n: int) -> int:
        return n

    await app.aenqueue_many([(suspends if n % 3 else blocks).call(n) for n in range(900)])
    await work(app, timeout=60)
    assert await counts(await app.client.store()) == {State.COMPLETED: 900}


def test_queues_are_asked_by_what_they_gave() -> None:
    shares, rotation = Shares(), Rotation(parse_queues(("a", "b", "c")))
    both = Both()
    a = [job_of(both.suspend, "a") for _ in range(20)]
    b = [job_of(both.block, "b") for _ in range(20)]
    shares.note(a, b)
    assert [shares.of(queue) for queue in "abc"] == [0.0, 1.0, 0.5]
    by_threads, by_loop = shares.asks(rotation, 100, 10)
    assert (set(by_threads.caps), by_threads.room) == ({"b", "c"}, 20)
    assert by_threads.caps["b"] <= 10
    assert (set(by_loop.caps), by_loop.room) == ({"a"}, 100)
    [only] = shares.asks(rotation, 100, 0)
    assert set(only.caps) == {"a"}
    [probe] = shares.probe(rotation, {"b"}, blocks=True)
    assert (set(probe.caps), probe.probes) == ({"c"}, True)
    assert shares.asks(rotation, 0, 0) == []


def job_of(task: Any, queue: str) -> Job:
    new = task.using(queue=queue).call(1).job
    return Job(new.id, new.spec, queue, State.ACTIVE, 50, 0, 0)
