"""Jobs on their way to the store, from many coroutines of one event loop, brought there together.

As a database commits in groups: what is asked for while calls are under way becomes the next
call. Nobody waits for company: a lone caller's job goes out in the same turn of the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, TypeVar

from .core.model import NewJob, Receipt
from .stores.contract import Store

T = TypeVar("T")

LARGEST: Final = 500
AT_ONCE: Final = 2
"""Calls under way: while the store carries out one, the next one is made ready."""

SHARE: Final = 16
"""Fewer than so many callers are not worth a call of their own."""


Made = Callable[[Sequence[NewJob], Sequence[Receipt]], T]
"""Turns jobs and their receipts into the answer that a caller gets."""

Reject = Callable[[Sequence[NewJob], BaseException], None]
"""Is told of jobs that were not stored, or of which nobody knows."""

Request = tuple[Sequence[NewJob], Made[Any], asyncio.Future[Any]]
"""One caller's jobs, what is made of the receipts, and where it goes."""


class Intake:
    """Collects requests; each caller gets the answer to its own."""

    def __init__(self, store: Callable[[], Awaitable[Store]], reject: Reject) -> None:
        self._store = store
        self._reject = reject
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Request] = []
        self._under_way = self._calls = 0
        self._going: set[asyncio.Task[None]] = set()

    def put(self, jobs: Sequence[NewJob], made: Made[T]) -> asyncio.Future[T]:
        """Have jobs stored, whether or not anyone awaits the answer."""
        answer: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append((jobs, made, answer))
        if self._under_way < AT_ONCE:
            self._under_way += 1
            task = self._loop.create_task(self._bring_all())
            self._going.add(task)
            task.add_done_callback(self._going.discard)
        return answer

    async def settled(self) -> None:
        """Wait until everything is stored or refused."""
        while self._going:
            await asyncio.wait(self._going)

    async def _bring_all(self) -> None:
        try:
            while self._waiting:
                batch = self._batch()
                self._calls += 1
                try:
                    await self._bring(batch)
                finally:
                    self._calls -= 1
        finally:
            # Here, with nothing between this and the last look at who waits: whoever comes
            # next must find that nobody is under way.
            self._under_way -= 1

    def _batch(self) -> list[Request]:
        # Shared out between the calls that can be made now, if there is enough to share.
        most = max(SHARE, -(-len(self._waiting) // max(AT_ONCE - self._calls, 1)))
        size = number = 0
        for jobs, _, _ in self._waiting[:most]:
            size += len(jobs)
            if number and size > LARGEST:
                break
            number += 1
        batch = self._waiting[:number]
        del self._waiting[:number]
        return batch

    async def _bring(self, batch: Sequence[Request]) -> None:
        try:
            store = await self._store()
            receipts = await store.insert([job for jobs, _, _ in batch for job in jobs])
        except Exception as error:
            if len(batch) > 1:
                # One caller's fault, or the outage of a part of the store, is not the others'.
                await asyncio.gather(*(self._bring([request]) for request in batch))
            else:
                self._reject(batch[0][0], error)
                if not batch[0][2].done():
                    batch[0][2].set_exception(error)
            return
        except BaseException as error:
            for jobs, _, answer in batch:
                self._reject(jobs, error)
                answer.cancel()
            raise
        at = 0
        for jobs, made, answer in batch:
            end = at + len(jobs)
            if not answer.done():
                _answer(answer, made, jobs, receipts[at:end])
            at = end


def _answer(
    answer: asyncio.Future[T], made: Made[T], jobs: Sequence[NewJob], receipts: Sequence[Receipt]
) -> None:
    try:
        answer.set_result(made(jobs, receipts))
    except Exception as error:
        answer.set_exception(error)
