"""How producers reach the store, from async code and from blocking code alike.

Everything is written once, async. `store()` gives the store of the running event loop;
`block()` runs the same code for a caller that has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Any, TypeVar

from .core.clock import Clock
from .core.codec import Codecs, encode_result, too_large
from .core.model import Job, NewJob, Receipt
from .core.states import FINISHED
from .errors import UnknownJob, WrongState
from .intake import Intake, Made
from .observe.events import Events
from .stores.contract import Store
from .stores.observed import observed
from .stores.open import open_store, scheme_of
from .sync import PerProcess, Portal, drive, refuse_in_loop

T = TypeVar("T")


class Client:
    """Opens stores where they are needed: one for each event loop, one for blocking code."""

    def __init__(self, url: str, clock: Clock | None = None, events: Events | None = None) -> None:
        scheme_of(url)
        self.url = url
        self._clock = clock
        self._events = events or Events()
        self._shared = open_store(url, clock=clock) if url.startswith("memory:") else None
        self._by_loop: dict[asyncio.AbstractEventLoop, asyncio.Future[Store]] = {}
        self._portal = Portal()
        self._blocking = PerProcess(self._open_blocking)
        self._intakes: dict[asyncio.AbstractEventLoop, Intake] = {}

    async def store(self) -> Store:
        """The store of the running event loop, opened on first use."""
        loop = asyncio.get_running_loop()
        opening = self._by_loop.get(loop)
        if opening is not None and opening.done():
            return opening.result()
        if opening is None:
            self._forget_closed_loops()
            opening = self._by_loop[loop] = asyncio.ensure_future(self._open())
            # A store that could not be opened is to be tried again by the next call.
            opening.add_done_callback(lambda done: self._forget_failed(loop, done))
        return await asyncio.shield(opening)

    def block(self, act: Callable[[Store], Coroutine[Any, Any, T]], call: str, instead: str) -> T:
        """Run `act` for a caller without an event loop."""
        refuse_in_loop(call, instead)
        store = self._blocking.get()
        coroutine = act(store)
        return drive(coroutine) if store.blocking else self._portal.run(coroutine)

    @asynccontextmanager
    async def private_store(self) -> AsyncIterator[Store]:
        """A store for the running event loop alone, in whichever thread; closed at the end."""
        if self._shared is not None:
            yield observed(self._shared, self._events)
            return
        store = open_store(self.url, clock=self._clock, blocking=True)
        await store.open()
        try:
            yield observed(store, self._events)
        finally:
            await store.close()

    @cached_property
    def unopened(self) -> Store:
        """A store that connects to nothing: for jobs that go over a connection of the user's."""
        return self._shared or open_store(self.url, clock=self._clock)

    def insert(
        self, jobs: Sequence[NewJob], call: str, instead: str, connection: object = None
    ) -> Sequence[Receipt]:
        """Have jobs stored for a caller without an event loop; over its own connection, if any."""
        try:
            if connection is None:
                return self.block(lambda store: store.insert(jobs), call, instead)
            from .stores.guest.insert import insert_on

            return insert_on(connection, self.unopened, jobs, call, instead)
        except BaseException as error:
            self._reject(jobs, error)
            raise

    def enqueue_on(
        self, connection: object, jobs: Sequence[NewJob], made: Made[T], call: str, instead: str
    ) -> asyncio.Future[T]:
        """Have jobs stored over a connection of the caller's, who awaits it before the commit."""
        from .stores.guest.insert import ainsert_on

        on = (connection, self.unopened, jobs)
        return ainsert_on(*on, made, self._reject, call, instead)

    def enqueue(self, jobs: Sequence[NewJob], made: Made[T]) -> asyncio.Future[T]:
        """Have jobs stored, whether or not anyone awaits it: a forgotten `await` loses nothing."""
        loop = asyncio.get_running_loop()
        intake = self._intakes.get(loop)
        if intake is None:
            self._forget_closed_loops()
            intake = self._intakes[loop] = Intake(self.store, self._reject)
        return intake.put(jobs, made)

    async def aclose(self) -> None:
        """Finish what was started on this event loop and close its store."""
        loop = asyncio.get_running_loop()
        intake = self._intakes.pop(loop, None)
        if intake is not None:
            await intake.settled()
        opening = self._by_loop.pop(loop, None)
        if opening is not None and self._shared is None:
            await (await opening).close()

    def close(self) -> None:
        """Close what blocking code used."""
        store = self._blocking.take()
        if store is not None and self._shared is None:
            if store.blocking:
                drive(store.close())
            else:
                self._portal.run(store.close())
        self._portal.close()

    def _reject(self, jobs: Sequence[NewJob], error: BaseException) -> None:
        if self._events.rejected:
            for job in jobs:
                self._events.rejected(job, error)

    async def _open(self) -> Store:
        store = self._shared or open_store(self.url, clock=self._clock)
        await store.open()
        return observed(store, self._events)

    def _open_blocking(self) -> Store:
        store = self._shared or open_store(self.url, clock=self._clock, blocking=True)
        if store.blocking:
            drive(store.open())
        else:
            self._portal.run(store.open())
        return observed(store, self._events)

    def _forget_failed(
        self, loop: asyncio.AbstractEventLoop, opening: asyncio.Future[Store]
    ) -> None:
        if opening.cancelled() or opening.exception() is not None:
            self._by_loop.pop(loop, None)

    def _forget_closed_loops(self) -> None:
        for loop in [loop for loop in self._by_loop if loop.is_closed()]:
            del self._by_loop[loop]
            self._intakes.pop(loop, None)


async def get_job(store: Store, id: str) -> Job:
    """The job of an id, or `UnknownJob`."""
    job = (await store.get([id])).get(id)
    if job is None:
        raise UnknownJob(f"There is no job {id}: it never was, was deleted, or was not kept.")
    return job


async def cancel_job(store: Store, id: str) -> None:
    """Cancel one job, or say why that cannot be."""
    if id not in await store.cancel([id]):
        job = await get_job(store, id)
        raise WrongState(f"Job {id} cannot be cancelled: it is {job.state} already.")


async def reschedule_job(store: Store, id: str, delay: int, due: int | None) -> None:
    """Give one job another time, or say why that cannot be."""
    if id not in await store.reschedule([id], delay, due):
        job = await get_job(store, id)
        raise WrongState(f"Job {id} cannot be rescheduled: it is {job.state}.")


async def prioritize_job(store: Store, id: str, priority: int) -> None:
    """Give one job another priority, or say why that cannot be."""
    if id not in await store.prioritize([id], priority):
        job = await get_job(store, id)
        raise WrongState(f"Job {id} cannot be prioritized: it is {job.state}.")


async def signal_job(store: Store, codecs: Codecs, id: str, name: str, value: Any) -> None:
    """Send a signal to one job, in the codec that its worker reads, or say why that cannot be."""
    job = await get_job(store, id)
    record = encode_result(codecs.get(job.spec.content_type), value, "signal")
    if len(record) > codecs.limit:
        raise too_large(f"The signals of {job.task}", record, codecs.limit)
    if await store.signal(id, name, record):
        return
    job = await get_job(store, id)
    if job.state in FINISHED:
        raise WrongState(f"Job {id} cannot get a signal: it is {job.state} already.")
    raise WrongState(f"Job {id} has the signal {name!r} already: the first one stays.")
