"""Several shards asked at once, without waiting for those that are down.

A shard that does not answer in time is *silent*: the question goes on in the background, and
meanwhile nobody waits for the shard. The answer, too late to be of use, makes it one of the
others again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import Any, Final, TypeVar

from ...errors import StoreError, StoreUnavailable
from .errands import Errands, ended

log = logging.getLogger("windlass")

LIMIT: Final = 0.5
"""Seconds for the answer of a shard that answered the last time."""

T = TypeVar("T")

Question = Callable[[int], Coroutine[Any, Any, T]]
"""Asks the shard of a number."""


class Lookout:
    """Knows which shards are silent. With one shard, and in a blocking store, none ever is."""

    def __init__(self, shards: int, errands: Errands, *, blocking: bool) -> None:
        self._shards = shards
        self._errands = errands
        self._waits = shards == 1 or blocking
        self._silent: dict[int, asyncio.Task[Any]] = {}

    def is_silent(self, number: int) -> bool:
        task = self._silent.get(number)
        if task is None:
            return False
        if not task.done() or _failure(task) is not None:
            return True
        del self._silent[number]
        if not self._silent:
            log.info("every part of the store answers again")
        return False

    async def ask(
        self,
        numbers: Collection[int],
        question: Question[T],
        limit: float = LIMIT,
        *,
        insist: bool = True,
    ) -> dict[int, T]:
        """What those shards answer that are there; raises only if none of them is.

        If none is, they get all the time that their own patience gives them; without `insist`
        no more than `limit`, if they were silent before.
        """
        if self._waits:
            return await _in_turn(numbers, question)
        while numbers:
            awake = [number for number in numbers if not self.is_silent(number)]
            tasks = {number: self._errands.start(question(number)) for number in awake}
            for number in numbers:
                if number not in tasks and self._silent[number].done():
                    self._silent[number] = self._errands.start(question(number))
            await _listen(tasks.values(), limit)
            answers = self._answers(tasks)
            if answers:
                return answers
            await self._one_of(numbers, None if insist or awake else limit)
        return {}

    def _answers(self, tasks: Mapping[int, asyncio.Task[T]]) -> dict[int, T]:
        """The answers there are; the others are silent from now on."""
        late = {n: task for n, task in tasks.items() if not task.done() or _failure(task)}
        self._silent |= late
        answers = {n: task.result() for n, task in tasks.items() if n not in late}
        if answers and late:
            failures = [str(_failure(task)) for task in late.values() if task.done()]
            log.warning(
                "%d of the store's %d parts do not answer, and the queues there wait: %s",
                len(self._silent),
                self._shards,
                failures[-1] if failures else "no reply so far",
            )
        return answers

    async def _one_of(self, numbers: Collection[int], limit: float | None) -> None:
        """Return when one of these, all silent, has answered; raise if none does."""
        asked = [self._silent[number] for number in numbers]
        while all(self.is_silent(number) for number in numbers):
            going = [task for task in asked if not task.done()]
            failures = [failure for task in asked if task.done() and (failure := _failure(task))]
            if len(failures) == len(asked):
                raise failures[-1]
            if not going:
                return  # it answered one, and was silent to another since
            done, _ = await asyncio.wait(going, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise StoreUnavailable(
                    "Redis does not answer, where these jobs are; see that all of its masters "
                    "run and can be reached from here, then try again."
                )


async def _listen(tasks: Collection[asyncio.Task[Any]], limit: float) -> None:
    try:
        await ended(tasks, limit)
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise


async def _in_turn(numbers: Collection[int], question: Question[T]) -> dict[int, T]:
    answers: dict[int, T] = {}
    failure: StoreError | None = None
    for number in numbers:
        try:
            answers[number] = await question(number)
        except StoreError as error:
            failure = error
    if failure is not None and not answers:
        raise failure
    return answers


def _failure(task: asyncio.Task[Any]) -> StoreError | None:
    """Why there was no answer. Any other error is one: the shard was there."""
    if task.cancelled():
        return StoreUnavailable("The store was closed; open it and try again.")
    error = task.exception()
    return error if isinstance(error, StoreError) else None
