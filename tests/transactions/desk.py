"""A user's program at work: one connection, and a transaction on it."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from tests.transactions.engines import INSERT
from windlass import JobHandle, Task, Windlass
from windlass.task import Call

T = TypeVar("T")
R = TypeVar("R")


class Desk(ABC):
    """What a test does with a connection, whichever driver it is of."""

    connection: Any
    """what the user hands to `using`"""

    @abstractmethod
    def begin(self) -> None: ...

    @abstractmethod
    def execute(self, sql: str) -> None: ...

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def rollback(self) -> None: ...

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def autocommit(self) -> None:
        """From now on without a transaction, unless one is begun."""

    @abstractmethod
    def enqueue(self, task: Task[..., Any, R], *args: Any) -> JobHandle[R]: ...

    @abstractmethod
    def enqueue_many(self, app: Windlass, calls: Sequence[Call[R]]) -> Sequence[JobHandle[R]]: ...

    def note(self, text: str) -> None:
        self.execute(INSERT.format(text))


class BlockingDesk(Desk):
    def enqueue(self, task: Task[..., Any, R], *args: Any) -> JobHandle[R]:
        return task.using(connection=self.connection).enqueue(*args)

    def enqueue_many(self, app: Windlass, calls: Sequence[Call[R]]) -> Sequence[JobHandle[R]]:
        return app.enqueue_many(calls, connection=self.connection)


class AsyncDesk(Desk):
    """An async program, one step of which is run at a time."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(step)

    def close(self) -> None:
        self.run(self.disconnect())
        self._runner.close()

    @abstractmethod
    async def disconnect(self) -> None: ...

    def enqueue(self, task: Task[..., Any, R], *args: Any) -> JobHandle[R]:
        async def step() -> JobHandle[R]:
            return await task.using(connection=self.connection).aenqueue(*args)

        return self.run(step())

    def enqueue_many(self, app: Windlass, calls: Sequence[Call[R]]) -> Sequence[JobHandle[R]]:
        async def step() -> Sequence[JobHandle[R]]:
            return await app.aenqueue_many(calls, connection=self.connection)

        return self.run(step())
