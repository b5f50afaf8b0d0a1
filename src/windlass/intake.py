"""Jobs on their way to the store, from many coroutines of one event loop, brought there together.

As a database commits in groups: what is asked for while calls are under way becomes the next
call. Nobody waits for company: a lone caller's job goes out in the same turn of the loop.

What was asked for is brought to the store even if nobody awaits it and the event loop ends: a task
that is cancelled goes on until it is done, or `FAREWELL` is over.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from .core.model import NewJob, Receipt
from .errors import StoreUnavailable
from .loops import OURS, drop, hang_up
from .stores.contract import Store
from .sync import in_loop

log = logging.getLogger("windlass")

T = TypeVar("T")

LARGEST: Final = 500
LARGEST_BYTES: Final = 4 * 1024 * 1024
"""Of the payloads of one call; a single request may have more."""

AT_ONCE: Final = 2
"""Calls under way: while the store carries out one, the next one is made ready."""

SHARE: Final = 16
"""Fewer than so many callers are not worth a call of their own."""

APART: Final = 2.0
"""Seconds in which those parts of a store answer that are there, when another is away."""

FAREWELL: Final = 5.0
"""Seconds that jobs have to get to the store after the event loop, or the process, began to end."""

LOOK: Final = 0.01
"""Seconds between two looks at whether they have."""

PROGRAM: Final = "the program ended"


Made = Callable[[Sequence[NewJob], Sequence[Receipt]], T]
"""Turns jobs and their receipts into the answer that a caller gets."""

Reject = Callable[[Sequence[NewJob], BaseException], None]
"""Is told of jobs that were not stored, or of which nobody knows."""

Request = tuple[Sequence[NewJob], Made[Any], asyncio.Future[Any]]
"""One caller's jobs, what is made of the receipts, and where it goes."""


class Intake:
    """Collects requests; each caller gets the answer to its own."""

    busy: Final[set[Intake]] = set()
    """those of all event loops that have something under way"""

    def __init__(
        self,
        store: Callable[[], Awaitable[Store]],
        reject: Reject,
        bring_late: Callable[[Sequence[Request]], None] | None = None,
    ) -> None:
        self._store = store
        self._reject = reject
        self._bring_late = bring_late or (lambda requests: tell_of(requests, "it closed first"))
        self.loop = asyncio.get_running_loop()
        self._waiting: list[Request] = []
        self._taken = 0
        """how many have left that line"""
        self._out: dict[int, list[Request]] = {}
        """what is under way, by the call; who has an answer is taken out"""
        self._going: set[asyncio.Task[None]] = set()
        self._is_last = False
        """the process ends: nobody awaits an answer any more"""
        self._until: float | None = None
        """when the end of the event loop waits no longer, once that has begun"""

    def put(self, jobs: Sequence[NewJob], made: Made[T]) -> asyncio.Future[T]:
        """Have jobs stored, whether or not anyone awaits the answer."""
        answer: asyncio.Future[T] = self.loop.create_future()
        self._waiting.append((jobs, made, answer))
        if len(self._going) < AT_ONCE:
            self._begin()
        return answer

    async def settled(self) -> None:
        """Wait until everything is stored or refused."""
        while self._going:
            await asyncio.wait(self._going)

    def left(self) -> list[Request]:
        """What is not known to be stored or refused, also if its caller was cancelled."""
        out = (request for batch in list(self._out.values()) for request in list(batch))
        return [*out, *self._waiting]

    def finish(self) -> None:
        """From another thread, before the process ends: wait for what is under way, or tell of it.

        What comes meanwhile is not waited for, or a loop that goes on would hold up the end.
        """

        async def finished() -> None:
            asked = self.left()
            places = {id(request) for request in asked}
            while not places.isdisjoint(map(id, self.left())):
                await asyncio.sleep(LOOK)

        self._is_last = True
        waiting = asyncio.run_coroutine_threadsafe(finished(), self.loop)
        try:
            waiting.result(FAREWELL)
        except TimeoutError:
            tell_of(self.left(), f"the store did not take it within {FAREWELL:g} s", PROGRAM)

    def bring_late(self) -> None:
        """Bring from elsewhere what is left, after the event loop was closed."""
        left = self.left()
        self._out, self._waiting = {}, []
        Intake.busy.discard(self)
        for task in list(self._going):
            drop(task)
        if left:
            self._bring_late(left)

    def _begin(self) -> None:
        Intake.busy.add(self)
        task = self.loop.create_task(self._bring_all(), name=OURS)
        self._going.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task in self._going:
            # Cancelled before it began: by whoever ends the event loop.
            self._going.discard(task)
            self._hurry()
        if self._waiting and len(self._going) < AT_ONCE:
            self._begin()

    def _hurry(self) -> None:
        if self._until is None:
            self._until = self.loop.time() + FAREWELL

    async def _bring_all(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            while self._waiting:
                batch = self._batch()
                self._out[id(batch)] = batch
                try:
                    await self._bring_in_time(batch)
                except asyncio.CancelledError:
                    # The event loop ends, and waits for this. What the store may have got already
                    # it is given again, and keeps once.
                    task.uncancel()
                    self._hurry()
                finally:
                    self._out.pop(id(batch), None)
                    self._waiting[:0] = batch
        finally:
            # Here, with nothing between this and the last look at who waits: whoever comes
            # next must find that nobody is under way.
            self._going.discard(task)
            if not self._going:
                self._until = None
                Intake.busy.discard(self)

    def _batch(self) -> list[Request]:
        # Shared out between the calls that can be made now, if there is enough to share.
        most = max(SHARE, -(-len(self._waiting) // max(AT_ONCE - len(self._out), 1)))
        size = payloads = number = 0
        for jobs, _, _ in self._waiting[:most]:
            size += len(jobs)
            for job in jobs:
                payloads += len(job.spec.payload)
            if number and (size > LARGEST or payloads > LARGEST_BYTES):
                break
            number += 1
        return self._take(number)

    def _take(self, number: int) -> list[Request]:
        taken = self._waiting[:number]
        del self._waiting[:number]
        self._taken += len(taken)
        return taken

    async def _bring_in_time(self, batch: list[Request]) -> None:
        if self._until is None:
            await self._bring(batch)
            return
        try:
            async with asyncio.timeout_at(self._until):
                await self._bring(batch)
        except TimeoutError:
            batch += self._take(len(self._waiting))
            self._give_up(batch)

    async def _bring(self, batch: list[Request]) -> None:
        line = self._taken + len(self._waiting)
        try:
            receipts = await self._insert(batch)
        except StoreUnavailable as error:
            # Who came before this call has waited for as long as it has.
            batch += self._take(line - self._taken)
            await self._bring_apart(batch, error, APART)
        except Exception as error:
            await self._bring_apart(batch, error)
        else:
            self._answer(batch, receipts)
            batch.clear()

    async def _insert(self, batch: Sequence[Request]) -> Sequence[Receipt]:
        store = await self._store()
        return await store.insert([job for jobs, _, _ in batch for job in jobs])

    async def _bring_apart(
        self, batch: list[Request], error: Exception, timeout: float | None = None
    ) -> None:
        """One caller's fault, or the outage of a part of the store, is not the others'."""
        if len(batch) > 1:
            tasks = [asyncio.create_task(self._bring_one(batch, each)) for each in batch]
            try:
                await asyncio.wait(tasks, timeout=timeout)
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        for request in batch:
            self._refuse(request, error)
        batch.clear()

    async def _bring_one(self, batch: list[Request], request: Request) -> None:
        try:
            receipts = await self._insert([request])
        except Exception as error:
            self._refuse(request, error)
        else:
            self._answer([request], receipts)
        batch[:] = [each for each in batch if each is not request]

    def _answer(self, batch: Sequence[Request], receipts: Sequence[Receipt]) -> None:
        at = 0
        for jobs, made, answer in batch:
            end = at + len(jobs)
            if not answer.done():
                _answer(answer, made, jobs, receipts[at:end])
            at = end

    def _refuse(self, request: Request, error: Exception) -> None:
        jobs, _, answer = request
        self._reject(jobs, error)
        if self._is_last:
            tell_of([request], str(error), PROGRAM)
        elif answer.done() and self._until is not None:
            tell_of([request], str(error))
        if not answer.done():
            answer.set_exception(error)

    def _give_up(self, batch: list[Request]) -> None:
        error = StoreUnavailable("The event loop ended before the job was stored.")
        for jobs, _, answer in batch:
            self._reject(jobs, error)
            if not answer.done():
                answer.set_exception(error)
                answer.exception()  # it is told below, for all
        tell_of(batch, f"the store did not take it within {FAREWELL:g} s")
        batch.clear()


def tell_of(requests: Sequence[Request], reason: str, ended: str = "the event loop closed") -> None:
    """Say in the log that jobs were lost: whoever asked for them does not wait for an answer."""
    number = sum(len(jobs) for jobs, _, _ in requests)
    tasks = ", ".join(sorted({job.spec.task for jobs, _, _ in requests for job in jobs}))
    log.warning(
        "%s not stored (%s): %s first; await aenqueue(): %s",
        "1 job was" if number == 1 else f"{number:,} jobs were",
        tasks,
        ended,
        reason,
    )


def bring_late() -> None:
    """Before the interpreter exits: see to what event loops have under way.

    Those that nobody runs any more, and those that go on in daemon threads until the very end.
    """
    for intake in list(Intake.busy):
        if not intake.loop.is_running():
            hang_up(intake.loop)
            intake.bring_late()
        elif not in_loop():
            intake.finish()


def _answer(
    answer: asyncio.Future[T], made: Made[T], jobs: Sequence[NewJob], receipts: Sequence[Receipt]
) -> None:
    try:
        answer.set_result(made(jobs, receipts))
    except Exception as error:
        answer.set_exception(error)
