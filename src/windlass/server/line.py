"""A line of those who wait for the same thing: one asks for all, and the first gets what comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Waiter(Generic[Q, A]):
    """One who stands in line with a question."""

    __slots__ = ("answer", "is_asking", "is_late", "question")

    def __init__(self, question: Q) -> None:
        self.question = question
        self.answer: asyncio.Future[Sequence[A]] = asyncio.get_running_loop().create_future()
        self.is_asking = False
        """it is being asked for: it gets what comes of that, however late"""
        self.is_late = False
        """its time was over meanwhile"""


class Line(Generic[Q, A]):
    """Asks for the first who waits, again after each sleep, until nobody waits.

    An answer of nothing means that there is nothing for anybody, and None that this one is to
    wait no longer. What was got for one who has left is given back.
    """

    def __init__(
        self,
        ask: Callable[[Q], Awaitable[Sequence[A] | None]],
        sleep: Callable[[], Awaitable[None]],
        give_back: Callable[[Sequence[A]], None],
        over: Callable[[], Any],
    ) -> None:
        self._ask = ask
        self._sleep = sleep
        self._give_back = give_back
        self._over = over
        self._waiting: dict[Waiter[Q, A], None] = {}
        self._sleeping: asyncio.Future[None] | None = None
        self._released = False
        self.task = asyncio.ensure_future(self._run())

    async def stand(self, waiter: Waiter[Q, A], seconds: float) -> Sequence[A]:
        """Wait for one's turn; for nothing, if it does not come within so many seconds."""
        self._waiting[waiter] = None
        timer = asyncio.get_running_loop().call_later(seconds, self._end, waiter)
        try:
            return await waiter.answer
        except asyncio.CancelledError:
            # The answer may have come in the same moment.
            if waiter.answer.done() and not waiter.answer.cancelled():
                self._give_back(waiter.answer.result())
            raise
        finally:
            timer.cancel()
            self._waiting.pop(waiter, None)
            if not self._waiting:
                self._wake()

    def release(self) -> None:
        """Let nobody wait any longer."""
        self._released = True
        for waiter in [*self._waiting]:
            self._end(waiter)
        self._wake()

    def _end(self, waiter: Waiter[Q, A]) -> None:
        if waiter.is_asking:
            waiter.is_late = True
        elif not waiter.answer.done():
            waiter.answer.set_result(())

    def _wake(self) -> None:
        if self._sleeping is not None:
            self._sleeping.cancel()

    async def _run(self) -> None:
        try:
            while self._waiting:
                if not await self._serve(next(iter(self._waiting))):
                    await self._rest()
        except Exception as error:
            for waiter in self._waiting:
                if not waiter.answer.done():
                    waiter.answer.set_exception(error)
        finally:
            # In the same step in which nobody waited any more: who comes next begins a new line.
            self._over()

    async def _serve(self, waiter: Waiter[Q, A]) -> bool:
        """Ask for one; whether that was the end of its wait."""
        if waiter.answer.done():
            self._waiting.pop(waiter, None)
            return True
        waiter.is_asking = True
        found = await self._ask(waiter.question)
        waiter.is_asking = False
        if waiter.answer.done():
            self._give_back(found or ())
        elif found or found is None or waiter.is_late or self._released:
            waiter.answer.set_result(found or ())
        else:
            return False
        self._waiting.pop(waiter, None)
        return True

    async def _rest(self) -> None:
        self._sleeping = asyncio.ensure_future(self._sleep())
        try:
            await asyncio.wait({self._sleeping})
            if not self._sleeping.cancelled():
                self._sleeping.result()
        finally:
            self._sleeping.cancel()
            self._sleeping = None
