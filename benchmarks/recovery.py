"""How soon work goes on after kill -9 of a worker, and after an outage of the store."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from random import Random
from time import monotonic

from tests.servers import mariadb, postgres, redis
from tests.servers.server import Server
from windlass.stores.open import open_store
from windlass.testing.chaos.crew import Crew, Member
from windlass.testing.chaos.plan import QUEUES, ChaosPlan
from windlass.testing.chaos.record import Event, Notebook, Started, read
from windlass.testing.chaos.scenario import make_app
from windlass.testing.place import private

from .table import Goal, Line

JOBS = 20
OUTAGE = 3.0
PATIENCE = 90.0
SERVERS: tuple[Callable[[], AbstractContextManager[Server]], ...] = (
    redis.serve,
    postgres.serve,
    mariadb.serve,
)


def lines() -> Iterable[Line]:
    with ExitStack() as stack:
        servers = [stack.enter_context(serve()) for serve in SERVERS]
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="windlass-recovery-"))
        urls = [f"sqlite:///{folder}/jobs.db", *(server.url for server in servers)]
        for lease, goal in ((30.0, 35.0), (5.0, 7.0)):
            took = asyncio.run(_all_killed(urls, lease))
            yield Line(
                f"Jobs of a killed worker run again, lease {lease:g} s",
                max(took),
                "s",
                f"{JOBS} jobs on an idle queue, the leader killed; {_each(took)}",
                Goal("at most", goal),
            )
        back = [asyncio.run(_outage(server)) for server in servers]
        yield Line(
            "First job after the store is back",
            max(back),
            "s",
            f"no worker has exited; {_each([0.0, *back])}",
            Goal("at most", 2.0),
        )


def _each(seconds: list[float]) -> str:
    names = ("SQLite", "Redis", "PostgreSQL", "MariaDB")
    return ", ".join(
        f"{name} {each:.1f} s" for name, each in zip(names, seconds, strict=True) if each
    )


async def _all_killed(urls: list[str], lease: float) -> list[float]:
    return list(await asyncio.gather(*(_killed(url, lease) for url in urls)))


async def _killed(url: str, lease: float) -> float:
    """The seconds from the death of the leader, with all the jobs, to the last that runs again."""
    async with private(url) as place:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            crew = _crew(place, folder, lease)
            try:
                first = crew.start("worker", healthy=True)
                await _enqueue(place, folder, JOBS, 0.0)
                await _started(folder, JOBS, first)
                crew.start("worker", healthy=True)
                # Until it works: it must wait for the jobs and not they for it.
                await asyncio.sleep(2.0)
                crew.kill(first)
                killed = monotonic()
                events = await _started(folder, 2 * JOBS)
                return max(event.at for event in events) - killed
            finally:
                crew.close()


async def _outage(server: Server) -> float:
    """The seconds from when a server answers again to the start of a job that was due."""
    async with private(server.url) as place:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            crew = _crew(place, folder, 30.0)
            try:
                worker = crew.start("worker", healthy=True)
                await _enqueue(place, folder, 1, 0.0)
                await _started(folder, 1, worker)
                await _enqueue(place, folder, 1, 1.0)
                server.kill()
                await asyncio.sleep(OUTAGE)
                await asyncio.to_thread(server.start)
                back = monotonic()
                events = await _started(folder, 2)
                if not worker.lives:
                    raise RuntimeError("A worker has exited because its store was down.")
                return max(max(event.at for event in events) - back, 0.001)
            finally:
                crew.close()


def _crew(url: str, folder: Path, lease: float) -> Crew:
    plan = ChaosPlan(lease=lease, concurrency=100)
    return Crew(url, folder, plan, Random(), Notebook(folder / "harness.jsonl"))


async def _enqueue(url: str, folder: Path, number: int, delay: float) -> None:
    app = make_app(url, Notebook(folder / "unused.jsonl"), "producer", ticks=False)
    store = open_store(url)
    await store.open()
    task = app.tasks["hold"].using(queue=QUEUES[0], delay=delay)
    await store.insert([task.call().job for _ in range(number)])
    await store.close()


def _noted(folder: Path) -> list[Event]:
    return read(folder.glob("*.jsonl"))


async def _started(folder: Path, number: int, by: Member | None = None) -> list[Started]:
    until = monotonic() + PATIENCE
    while monotonic() < until:
        events = [event for event in _noted(folder) if isinstance(event, Started)]
        if len(events) >= number:
            return events
        await asyncio.sleep(0.05)
    raise TimeoutError(f"{number} jobs did not start{f' on {by.node}' if by else ''}.")
