"""A worker that something happens to, and the questions to ask afterwards; of any engine."""

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar
from unittest.mock import patch

from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.clock import Clock
from windlass.core.states import State
from windlass.handle import JobHandle
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.testing.work import until
from windlass.worker import heartbeat
from windlass.worker.worker import Worker

S = TypeVar("S", bound=Store)

LEASE = 10.0
"""In seconds: longer than every outage here, so that none of them allows a second run."""

BEAT = 0.3
"""In seconds, between two renewals."""


@asynccontextmanager
async def opened(url: str, kind: type[S], clock: Clock | None = None) -> AsyncIterator[S]:
    """The store at a URL, which must be of this kind."""
    store = open_store(url, clock=clock)
    assert isinstance(store, kind)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


class Site:
    """A worker, and a producer that reaches the same data over a way of its own."""

    def __init__(self, app: Windlass, producer: Windlass, queues: Sequence[str]) -> None:
        self._queues = queues
        self.runs: Counter[str] = Counter()
        self.started: dict[str, float] = {}
        self._held = asyncio.Event()

        async def note(word: str) -> None:
            self.runs[word] += 1
            self.started.setdefault(word, time.monotonic())
            if word.startswith("long"):
                await self._held.wait()

        app.task(name="note", backoff=0.1)(note)
        self._note = producer.task(name="note")(note)
        self.long: JobHandle[None] | None = None

    async def enqueue(
        self, *words: str, delay: float = 0, queues: Sequence[str] = ()
    ) -> Sequence[JobHandle[None]]:
        """One job for each word, spread over the queues, all acknowledged on return."""
        places = itertools.cycle(queues or self._queues)
        return [
            await self._note.using(queue=queue, delay=delay).aenqueue(word)
            for word, queue in zip(words, places, strict=False)
        ]

    async def begin(self) -> None:
        """Have one job done and one under way."""
        [self.long] = await self.enqueue("long")
        await self.enqueue("early")
        await until(lambda: self.runs["early"] == self.runs["long"] == 1)

    async def proves_well(self, back: float) -> float:
        """How long after `back` each queue had a new job started; all else was found well."""
        words = [f"late-{n}" for n in range(len(self._queues))]
        handles = await self.enqueue(*words)
        await until(lambda: all(word in self.started for word in words))
        for handle in handles:
            await handle.aresult(timeout=20)
        await self._is_still_held()
        return max(self.started[word] for word in words) - back

    async def _is_still_held(self) -> None:
        """The heartbeat goes on, and the job that ran all the time ends as if nothing had been."""
        assert self.long is not None
        before = (await self.long.aget()).lease_until
        assert before is not None
        async with asyncio.timeout(20):
            while ((await self.long.aget()).lease_until or 0) <= before:
                await asyncio.sleep(0.05)
        self._held.set()
        await self.long.aresult(timeout=20)
        job = await self.long.aget()
        assert (job.state, job.attempt) == (State.COMPLETED, 1)

    def release(self) -> None:
        self._held.set()


@asynccontextmanager
async def working(
    url: str, direct: str, queues: Sequence[str] = ("default",)
) -> AsyncIterator[Site]:
    """A worker on `url` and a producer on `direct`; no part of the worker may end meanwhile.

    It renews leases more often than usual, since that is waited for.
    """
    with patch.object(heartbeat, "LONGEST_PAUSE", BEAT):
        async with _working(url, direct, queues) as site:
            yield site


@asynccontextmanager
async def _working(url: str, direct: str, queues: Sequence[str]) -> AsyncIterator[Site]:
    app, producer = Windlass(url), Windlass(direct)
    site = Site(app, producer, queues)
    worker = await app.worker(WorkerSettings(queues=tuple(queues), lease=LEASE))
    await worker.start()
    services = running_services()
    assert services
    try:
        await site.begin()
        yield site
        assert running_services() == services
    finally:
        site.release()
        await end(worker, app, producer)


async def end(worker: Worker, *apps: Windlass) -> None:
    await worker.stop()
    for app in apps:
        await app.aclose()


def running_services() -> set[str]:
    """The parts of workers that run on this event loop, by name."""
    names = {task.get_name() for task in asyncio.all_tasks()}
    return {name for name in names if name.startswith("windlass-")}


def words(prefix: str, number: int) -> Iterator[str]:
    return (f"{prefix}-{n}" for n in range(number))
