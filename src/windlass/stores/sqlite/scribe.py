"""A thread with its own connection, on which operations run in groups.

Whatever piled up while the last transaction was running goes into the next one: the
busier the store, the more jobs share a commit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final, NamedTuple

from ...errors import StoreUnavailable
from ..sql.operation import Plan, T
from .connection import Connection, FileLocked

LARGEST_GROUP: Final = 200


class _Call(NamedTuple):
    plan: Plan[Any]
    future: asyncio.Future[Any]


_Answer = tuple[asyncio.Future[Any], Any, BaseException | None]


class Scribe:
    """Runs plans on a thread and answers on the event loop that asked."""

    def __init__(self, connect: Callable[[], Connection], begin: str, name: str) -> None:
        self._connection = connect()
        self._begin = begin
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._closed = False
        # Nothing may be put behind the end: nobody would ever answer it.
        self._putting = threading.Lock()
        self._thread.start()

    def submit(self, plan: Plan[T]) -> asyncio.Future[T]:
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._putting:
            if self._closed:
                raise StoreUnavailable("The store is closed; open it before use.")
            self._calls.put(_Call(plan, future))
        return future

    def close(self) -> None:
        """Finish what was submitted, then end the thread."""
        with self._putting:
            if not self._closed:
                self._closed = True
                self._calls.put(None)
        self._thread.join()

    def _serve(self) -> None:
        going = True
        while going:
            group, going = self._gather()
            if group:
                _deliver(self._execute(group))
        self._connection.close()

    def _gather(self) -> tuple[list[_Call], bool]:
        first = self._calls.get()
        group: list[_Call] = []
        while first is not None:
            group.append(first)
            if len(group) == LARGEST_GROUP or self._calls.empty():
                return group, True
            first = self._calls.get()
        return group, False

    def _execute(self, group: list[_Call]) -> list[_Answer]:
        try:
            answers = self._connection.transact([call.plan for call in group], self._begin)
            return [(c.future, answer, None) for c, answer in zip(group, answers, strict=True)]
        except FileLocked as error:
            # All have waited: to try each alone would have them wait for one after the other.
            return [(call.future, None, error) for call in group]
        except Exception as error:
            if len(group) == 1:
                return [(group[0].future, None, error)]
        # One bad operation must not fail the others: each gets a transaction of its own.
        return [answer for call in group for answer in self._execute([call])]


def _deliver(answers: list[_Answer]) -> None:
    """Hand all answers of a loop over in one wake-up of it."""
    by_loop: dict[asyncio.AbstractEventLoop, list[_Answer]] = {}
    for answer in answers:
        by_loop.setdefault(answer[0].get_loop(), []).append(answer)
    for loop, mine in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve, mine)


def _resolve(answers: list[_Answer]) -> None:
    for future, answer, error in answers:
        if future.done():  # the caller was cancelled; the write stands
            continue
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(answer)
