"""What an adapter of a driver must do, and what all of them do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, ClassVar, Final

from ...errors import InvalidOption
from ..sql.dialect import NO_TABLES, Dialect, Step
from ..sql.operation import Bulk, Plan, Rows, Statement, T, arun, run
from ..sql.placeholders import Query, formatted, numbered, questioned

STYLES: Final[Mapping[str, Callable[[str], Query]]] = {
    "?": lru_cache(256)(questioned),
    "%s": lru_cache(256)(formatted),
    "$1": lru_cache(256)(numbered),
}
"""How drivers write placeholders. Cached, for a query's text is the same at every call."""


class Guest(ABC):
    """A connection of the user's, looked at from our side."""

    style: str
    """one of `STYLES`"""

    @property
    @abstractmethod
    def engine(self) -> str:
        """What it is connected to, in the words of `Dialect.engine`."""

    def written(self, step: Step) -> tuple[str, Sequence[Any]]:
        """A statement as the driver takes it."""
        sql, given = step
        query = STYLES[self.style](sql)
        if isinstance(given, Mapping):
            return query.text, query.arguments(given)
        return query.text, query.by_place(given)


class BlockingGuest(Guest):
    """A connection that blocks."""

    instant: ClassVar[bool] = False
    """nothing is waited for but the disk, so that async code can use it too"""

    @abstractmethod
    def is_in_transaction(self) -> bool:
        """Whether what is written now waits for a commit: one is open, or the next write opens it.

        False is autocommit.
        """

    @abstractmethod
    def fetch(self, sql: str, args: Sequence[Any]) -> Rows:
        """The rows of a query, as tuples whatever the user's connection makes of them."""

    @abstractmethod
    def change(self, sql: str, args: Sequence[Any]) -> int:
        """Execute a statement; how many rows it changed."""

    def perform(self, dialect: Dialect, plan: Plan[T]) -> T:
        """Run an operation in the transaction that is open here."""
        refuse_other_engine(self, dialect)
        if not self.is_in_transaction():
            raise autocommit()
        now = dialect.arrived(self.fetch(*self.written((dialect.arrive, ()))))

        def execute(asked: Statement | Bulk) -> Any:
            steps = map(self.written, dialect.steps(asked))
            if isinstance(asked, Bulk):
                return sum([self.change(*step) for step in steps])
            return [self.fetch(*step) for step in steps][-1]

        with no_tables_told(dialect):
            return run(plan(now), execute)


class AsyncGuest(Guest):
    """A connection of an async driver; its methods are those of `BlockingGuest`."""

    @abstractmethod
    async def is_in_transaction(self) -> bool: ...

    @abstractmethod
    async def fetch(self, sql: str, args: Sequence[Any]) -> Rows: ...

    @abstractmethod
    async def change(self, sql: str, args: Sequence[Any]) -> int: ...

    async def perform(self, dialect: Dialect, plan: Plan[T]) -> T:
        refuse_other_engine(self, dialect)
        if not await self.is_in_transaction():
            raise autocommit()
        now = dialect.arrived(await self.fetch(*self.written((dialect.arrive, ()))))

        async def execute(asked: Statement | Bulk) -> Any:
            steps = map(self.written, dialect.steps(asked))
            if isinstance(asked, Bulk):
                return sum([await self.change(*step) for step in steps])
            return [await self.fetch(*step) for step in steps][-1]

        with no_tables_told(dialect):
            return await arun(plan(now), execute)


def refuse_other_engine(guest: Guest, dialect: Dialect) -> None:
    if guest.engine != dialect.engine:
        raise InvalidOption(
            f"The connection is to {guest.engine} and the store is on {dialect.engine}: give a "
            "connection to the store's own database."
        )


def autocommit() -> InvalidOption:
    return InvalidOption(
        "The connection is in autocommit mode with no transaction open: begin one before you "
        "enqueue on it, or enqueue without a connection."
    )


@contextmanager
def no_tables_told(dialect: Dialect) -> Iterator[None]:
    """Say in our words that tables are missing; all else that a driver raises is the user's."""
    try:
        yield
    except Exception as error:
        if dialect.no_table is not None and dialect.no_table in str(error):
            raise InvalidOption(NO_TABLES) from error
        raise
