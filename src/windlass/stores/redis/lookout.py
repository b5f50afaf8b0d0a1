"""Several shards asked at once, without waiting for those that are down.

A shard that does not answer in time is *silent*: the question goes on in the background, and
meanwhile nobody waits for the shard. The answer, too late to be of use, makes it one of the
others again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from time import monotonic
from typing import Any, Final, TypeVar

from ...errors import StoreError, StoreUnavailable
from .errands import Errands, ended
from .limits import limited
from .together import together

log = logging.getLogger("windlass")

LIMIT: Final = 0.5
"""Seconds for the answer of a shard that answered the last time."""

LEAST: Final = 0.2
"""Seconds for one shard of a blocking store, while others are silent."""

REMEMBERED: Final = 5.0
"""Seconds for which a blocking store takes a shard for silent that was."""

T = TypeVar("T")

Question = Callable[[int], Coroutine[Any, Any, T]]
"""Asks the shard of a number."""


def never(answers: Mapping[int, object]) -> bool:
    """Whether these are enough, for who wants to have all."""
    return False


def has_all(answers: Mapping[int, Iterable[str]], ids: Iterable[str]) -> bool:
    """Whether all of these ids are in the answers."""
    return set(ids) <= set().union(*answers.values())


class Lookout:
    """Knows which shards are silent. With one shard none ever is.

    A blocking store has no background: there a shard is silent for some seconds.
    """

    def __init__(self, shards: int, errands: Errands, *, patience: float, blocking: bool) -> None:
        self._shards = shards
        self._errands = errands
        self._patience = patience
        self._blocking = blocking
        self._silent: dict[int, asyncio.Task[Any]] = {}
        self._silent_until: dict[int, float] = {}

    def is_silent(self, number: int) -> bool:
        if self._blocking:
            return monotonic() < self._silent_until.get(number, 0.0)
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
        enough: Callable[[Mapping[int, T]], bool] = never,
    ) -> dict[int, T]:
        """What those shards answer that are there; raises only if none of them is.

        If none is, they get all the time that their own patience gives them; without `insist`
        no more than `limit`, if they were silent before. Who asks one after the other stops where
        it is `enough`.
        """
        if self._shards == 1:
            return {number: await question(number) for number in numbers}
        if self._blocking:
            return await self._in_turn(numbers, question, limit, enough)
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

    async def first(self, numbers: Collection[int], question: Question[T]) -> T:
        """What the first of these shards answers that is there."""
        for number in numbers:
            if self._blocking and not self.is_silent(number):
                answers = await self._in_turn([number], question, LIMIT, never, insist=False)
            elif self.is_silent(number):
                continue
            else:
                tasks = {number: self._errands.start(question(number))}
                await _listen(tasks.values(), LIMIT)
                answers = self._answers(tasks)
            if answers:
                return answers[number]
        return next(iter((await self.ask(numbers, question)).values()))

    async def all(
        self, question: Question[T], enough: Callable[[Mapping[int, T]], bool]
    ) -> dict[int, T]:
        """What all shards answer; those that are silent are waited for, unless it is `enough`
        without them."""
        answers = await self.ask(range(self._shards), question, enough=enough)
        late = [number for number in range(self._shards) if number not in answers]
        if late and not enough(answers):
            with limited(self._patience):
                found = await together([question(number) for number in late])
            answers |= zip(late, found, strict=True)
        return answers

    async def _in_turn(
        self,
        numbers: Collection[int],
        question: Question[T],
        limit: float,
        enough: Callable[[Mapping[int, T]], bool],
        *,
        insist: bool = True,
    ) -> dict[int, T]:
        answers: dict[int, T] = {}
        left = limit
        for number in numbers:
            if self.is_silent(number):
                continue
            if enough(answers):
                return answers
            began = monotonic()
            try:
                with limited(max(left, LEAST)):
                    answers[number] = await question(number)
                self._silent_until.pop(number, None)
            except StoreError:
                # For all that are silent together: others wait behind each.
                left -= monotonic() - began
                self._silent_until[number] = monotonic() + REMEMBERED
        if answers or not insist or not numbers:
            return answers
        failure: StoreError | None = None
        with limited(self._patience):
            for number in numbers:
                try:
                    answers[number] = await question(number)
                    self._silent_until.pop(number, None)
                except StoreError as error:
                    failure = error
        if failure is not None and not answers:
            raise failure
        return answers

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


def _failure(task: asyncio.Task[Any]) -> StoreError | None:
    """Why there was no answer. Any other error is one: the shard was there."""
    if task.cancelled():
        return StoreUnavailable("The store was closed; open it and try again.")
    error = task.exception()
    return error if isinstance(error, StoreError) else None
