"""A job whose attempts were lost with their worker twice runs alone in its process."""

import asyncio
import threading
from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from windlass import State, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Job, JobQuery, Transition
from windlass.stores.contract import CLAIM_BYTES
from windlass.stores.memory import MemoryStore
from windlass.testing.work import counts, until
from windlass.worker import alone
from windlass.worker.worker import Worker


class Suspicious(MemoryStore):
    """Says of some jobs that they were lost twice."""

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        jobs = await super().claim(queues, limit, lease, worker, most_bytes)
        return [replace(job, lost=2) if "doubtful" in job.id else job for job in jobs]


class Shop:
    def __init__(self) -> None:
        self.app = Windlass("memory://")
        self.store = Suspicious()
        self.gate = asyncio.Event()
        self.now: set[str] = set()
        self.beside: list[set[str]] = []
        self.ended: list[str] = []
        self.task = self.app.task(self.run)
        self.blocking = self.app.task(self.block)

    async def run(self, name: str) -> None:
        self._enter(name)
        if name.startswith("long"):
            await self.gate.wait()
        await asyncio.sleep(0.001)
        self._leave(name)

    def block(self, name: str) -> None:
        self._enter(name)
        threading.Event().wait(0.01)
        self._leave(name)

    def _enter(self, name: str) -> None:
        self.now.add(name)
        if name.startswith("doubtful"):
            self.beside.append(self.now - {name})

    def _leave(self, name: str) -> None:
        if any(each.startswith("doubtful") for each in self.now):
            self.beside.append(self.now - {each for each in self.now if "doubtful" in each})
        self.now.discard(name)
        self.ended.append(name)

    async def add(self, *names: str) -> None:
        await self.store.insert(
            [
                (self.blocking if "blocking" in name else self.task).using(id=name).call(name).job
                for name in names
            ]
        )

    async def worker(self, **settings: float) -> Worker:
        chosen = WorkerSettings(shutdown_timeout=1, **settings)  # type: ignore[arg-type]
        worker = Worker(self.app.registry, self.app.codecs, self.store, chosen)
        await worker.start()
        return worker


@pytest.mark.parametrize("name", ["doubtful", "doubtful-blocking"])
async def test_nothing_runs_beside_it_and_all_others_run_before_or_after(name: str) -> None:
    shop = Shop()
    names = [f"job-{n}" for n in range(300)] + [f"blocking-{n}" for n in range(60)]
    names[100:100] = [name]
    names[200:200] = [f"{name}-2", f"{name}-3"]
    await shop.add(*names)
    worker = await shop.worker(concurrency=20)
    await until(lambda: len(shop.ended) == len(names), 30)
    await worker.stop()
    assert not set().union(*shop.beside)
    assert sorted(shop.ended) == sorted(names)
    assert await counts(shop.store) == {State.COMPLETED: len(names)}
    page = await shop.store.find(JobQuery(limit=1000))
    assert {job.attempt for job in page.jobs} == {1}


async def test_it_waits_for_those_that_run_and_nothing_is_started_meanwhile() -> None:
    shop = Shop()
    await shop.add("long")
    worker = await shop.worker()
    await until(lambda: shop.now == {"long"})
    await shop.add("doubtful", "next")
    await until(lambda: worker._runner.is_isolating)
    await asyncio.sleep(0.7)
    assert shop.now == {"long"}
    assert (await counts(shop.store))[State.PENDING] == 1
    shop.gate.set()
    await until(lambda: len(shop.ended) == 3)
    await worker.stop()
    assert shop.ended == ["long", "doubtful", "next"]


async def test_it_waits_until_what_ended_or_was_given_back_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may kill the process in its first moment, and nobody else is to be lost with it."""
    shop = Shop()
    finish, asked, gate = shop.store.finish, asyncio.Event(), asyncio.Event()

    async def finish_later(moves: Sequence[Transition]) -> frozenset[str]:
        asked.set()
        await gate.wait()
        return await finish(moves)

    monkeypatch.setattr(shop.store, "finish", finish_later)
    await shop.add("before", "doubtful", "next")
    worker = await shop.worker()
    await asked.wait()
    await asyncio.sleep(0.1)
    assert "doubtful" not in shop.now
    assert worker._runner.is_isolating
    gate.set()
    await until(lambda: len(shop.ended) == 3)
    await worker.stop()
    assert shop.ended[0] == "doubtful"
    assert not set().union(*shop.beside)


async def test_it_is_given_back_if_the_others_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone, "PATIENCE", 0.1)
    shop = Shop()
    await shop.add("long")
    worker = await shop.worker()
    await until(lambda: shop.now == {"long"})
    await shop.add("doubtful", "next")
    await until(lambda: "next" in shop.ended)
    found = (await shop.store.get(["doubtful"]))["doubtful"]
    assert (found.state, found.attempt) == (State.SCHEDULED, 0)
    shop.gate.set()
    await worker.stop()


async def test_a_job_that_is_cancelled_while_it_waits_to_run_alone_holds_nobody_up() -> None:
    shop = Shop()
    await shop.add("long")
    worker = await shop.worker(lease=0.4)
    await until(lambda: shop.now == {"long"})
    await shop.add("doubtful", "next")
    await until(lambda: worker._runner.is_isolating)
    await shop.store.cancel(["doubtful"])
    await until(lambda: "next" in shop.ended)
    shop.gate.set()
    await worker.stop()
    assert "doubtful" not in shop.ended


async def test_a_worker_that_stops_gives_it_back() -> None:
    shop = Shop()
    await shop.add("long")
    worker = await shop.worker()
    await until(lambda: shop.now == {"long"})
    await shop.add("doubtful")
    await until(lambda: worker._runner.is_isolating)
    stopping = asyncio.create_task(worker.stop())
    await until(lambda: not worker._runner.is_isolating)
    shop.gate.set()
    await stopping
    found = (await shop.store.get(["doubtful"]))["doubtful"]
    assert (found.state, found.attempt) == (State.PENDING, 0)
