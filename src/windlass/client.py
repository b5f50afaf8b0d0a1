"""How producers reach the store, from async code and from blocking code alike.

Everything is written once, async. `store()` gives the store of the running event loop;
`block()` runs the same code for a caller that has none.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from threading import Thread
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from .core.binding import SIGNAL, EncryptingCodec
from .core.clock import Clock
from .core.codec import Codecs, decode_result, encode_result, too_large
from .core.model import Job, NewJob, Receipt
from .core.states import FINISHED
from .core.transaction import held_path
from .errors import (
    AttemptStopped,
    StoreUnavailable,
    UnknownJob,
    UsageError,
    WindlassError,
    WrongState,
)
from .intake import Intake, Made, Request, bring_late, tell_of
from .interrupts import uninterrupted
from .loops import Loop
from .observe.events import Events
from .stores.contract import Store
from .stores.observed import observed
from .stores.open import anchored, open_store, path_of, present_folder, scheme_of
from .sync import Handles, in_loop

log = logging.getLogger("windlass")

T = TypeVar("T")


class Reason(Protocol):
    """Why a job does not run."""

    @property
    def code(self) -> str:
        """one word of a fixed set"""

    @property
    def sentence(self) -> str: ...


Explain: TypeAlias = Callable[[Store, str], Awaitable[Reason]]

SILENCE: Final = 4.0
"""Seconds in which one look at a queue serves all who wait for jobs in it."""


class Notices:
    """What was said of each queue to those who wait: many may wait for one reason."""

    def __init__(self) -> None:
        self._looked: dict[str, float] = {}
        self._said: dict[str, str] = {}

    def is_due(self, queue: str) -> bool:
        """Whether nobody has looked lately; whoever asks looks now."""
        now = time.monotonic()
        if now - self._looked.get(queue, float("-inf")) < SILENCE:
            return False
        self._looked[queue] = now
        return True

    def is_new(self, queue: str, code: str) -> bool:
        """Whether this is a reason, and another one than was said last."""
        before, self._said[queue] = self._said.get(queue, ""), code
        return code not in ("", before)


class Client:
    """Opens stores where they are needed: one for each event loop, one for blocking code."""

    def __init__(
        self,
        url: str,
        clock: Clock | None = None,
        events: Events | None = None,
        explain: Explain | None = None,
    ) -> None:
        """`explain` tells why a job does not run."""
        scheme_of(url)
        self.url = url
        self._folder = present_folder()
        self._clock = clock
        self._events = events or Events()
        self._explain = explain
        self.notices = Notices()
        self._shared = open_store(url, clock=clock) if url.startswith("memory:") else None
        self._intakes: dict[Loop, Intake] = {}
        self._stores = Handles(
            self._make,
            keep=self._shared is not None,
            ending=self._settle,
            closed=self._take_over,
        )

    @property
    def _place(self) -> str:
        """The URL to open: that of the same file, though a handler may have left the folder."""
        return anchored(self.url, self._folder)

    async def store(self) -> Store:
        """The store of the running event loop, opened on first use."""
        return await self._stores.open()

    def block(self, act: Callable[[Store], Coroutine[Any, Any, T]], call: str, instead: str) -> T:
        """Run `act` for a caller without an event loop."""
        return self._stores.block(act, call, instead)

    @asynccontextmanager
    async def private_store(self) -> AsyncIterator[Store]:
        """A store for the running event loop alone, in whichever thread; closed at the end."""
        if self._shared is not None:
            yield observed(self._shared, self._events)
            return
        store = open_store(self._place, clock=self._clock, blocking=True)
        await store.open()
        try:
            yield observed(store, self._events)
        finally:
            await store.close()

    @cached_property
    def unopened(self) -> Store:
        """A store that connects to nothing: for jobs that go over a connection of the user's."""
        return self._shared or open_store(self._place, clock=self._clock)

    def insert(
        self, jobs: Sequence[NewJob], call: str, instead: str, connection: object = None
    ) -> Sequence[Receipt]:
        """Have jobs stored for a caller without an event loop; over its own connection, if any."""
        try:
            if connection is None:
                self._refuse_to_wait()
                return self.block(lambda store: store.insert(jobs), call, instead)
            from .stores.guest.insert import insert_on

            with uninterrupted:
                return insert_on(connection, self.unopened, jobs, call, instead)
        except AttemptStopped:
            # Raised when the jobs were stored, most likely.
            raise
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
        self._refuse_to_wait()
        loop = asyncio.get_running_loop()
        intake = self._intakes.get(loop)
        if intake is None:
            self._stores.attend()
            late = partial(self._bring_late, loop)
            intake = self._intakes[loop] = Intake(self.store, self._reject, late)
        return intake.put(jobs, made)

    async def reason(self, store: Store, id: str) -> Reason | None:
        """Why a job does not run, if that can be learnt."""
        if self._explain is None:
            return None
        try:
            return await self._explain(store, id)
        except WindlassError as error:
            # Who waits is to be told that it took too long, not that a key may not look at workers.
            log.debug("it cannot be told why job %s does not run: %s", id, error)
            return None

    async def aclose(self) -> None:
        """Finish what was started on this event loop and close its store."""
        await self._stores.aclose()

    def close(self) -> None:
        """Close what blocking code used."""
        self._stores.close()

    def _reject(self, jobs: Sequence[NewJob], error: BaseException) -> None:
        if self._events.rejected:
            for job in jobs:
                self._events.rejected(job, error)

    def _refuse_to_wait(self) -> None:
        """Refuse to wait for the very handler that asks, and to let all others wait with it."""
        held = held_path()
        if held is not None and held == path_of(self._place):
            raise UsageError(
                "This job would have to wait for the transaction of its own handler, which has the "
                "SQLite file to itself: enqueue it on the connection of that transaction, as in "
                "task.using(connection=connection), or after it."
            )

    def _make(self, blocking: bool) -> Store:
        store = self._shared or open_store(self._place, clock=self._clock, blocking=blocking)
        return observed(store, self._events)

    async def _settle(self, loop: Loop) -> None:
        """Before the store of an event loop is closed."""
        intake = self._intakes.pop(loop, None)
        if intake is not None:
            await intake.settled()

    def _take_over(self, loop: Loop) -> None:
        """An event loop was closed, whatever was under way."""
        intake = self._intakes.pop(loop, None)
        if intake is not None:
            intake.bring_late()

    def _bring_late(self, loop: Loop, requests: Sequence[Request]) -> None:
        """Have stored, as if by blocking code, what an event loop has left that was closed."""
        self._stores.let_go(loop)
        if in_loop():
            # Not a daemon, so that the process does not exit before it is done.
            Thread(target=self._bring_now, args=(requests,), name="windlass-late").start()
        else:
            self._bring_now(requests)

    def _bring_now(self, requests: Sequence[Request]) -> None:
        jobs = [job for asked, _, _ in requests for job in asked]
        try:
            receipts = self._stores.run(lambda store: store.insert(jobs))
        except Exception as error:
            if len(requests) > 1 and not isinstance(error, StoreUnavailable):
                for request in requests:
                    self._bring_now([request])
                return
            self._reject(jobs, error)
            tell_of(requests, str(error))
            return
        at = 0
        for asked, made, _ in requests:
            made(asked, receipts[at : at + len(asked)])
            at += len(asked)


atexit.register(bring_late)


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
    codec = codecs.get(job.spec.content_type)
    record = encode_result(codec, value, SIGNAL, id, job.task, name)
    if len(record) > codecs.limit:
        raise too_large(f"The signals of {job.task}", record, codecs.limit)
    if await store.signal(id, name, record):
        return
    job = await get_job(store, id)
    sent = (job.mail or {}).get(name)
    if sent is not None and isinstance(codec, EncryptingCodec):
        # The same value is never the same bytes.
        places = SIGNAL, id, job.task, name
        if decode_result(codec, sent, *places) == decode_result(codec, record, *places):
            return
    if job.state in FINISHED:
        raise WrongState(f"Job {id} cannot get a signal: it is {job.state} already.")
    raise WrongState(f"Job {id} has the signal {name!r} already: the first one stays.")
