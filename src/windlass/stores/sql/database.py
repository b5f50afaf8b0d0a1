"""What a store, and history, need of an SQL engine: operations, each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from .operation import Plan, T
from .queries import JOB_COLUMNS, load_queries


class Schema(NamedTuple):
    """Whose tables these are: where their queries and migrations are, and who remembers them."""

    packages: tuple[str, ...]
    """have a folder `queries`; the last one is the dialect's own and has `migrations` too"""
    migrations_table: str = "windlass_migrations"
    variants: Callable[[Mapping[str, str]], Mapping[str, str]] = lambda queries: queries
    """makes several queries of one that has marks in it"""
    columns: Mapping[str, str] = JOB_COLUMNS
    """what stands for lists of columns"""

    def queries(self) -> Mapping[str, str]:
        """All queries by name."""
        return self.variants(load_queries(*self.packages, columns=self.columns))


class Database(Protocol):
    """One database of one engine, behind a URL."""

    @property
    def blocking(self) -> bool:
        """Whether no method suspends, so that it can be driven without an event loop."""

    async def open(self) -> None:
        """Connect, and migrate unless that was switched off."""

    async def close(self) -> None:
        """Let go of every connection. Closing twice is allowed."""

    async def migrate(self) -> Sequence[str]:
        """Apply what is missing of the schema and name it."""

    async def write(self, plan: Plan[T]) -> T:
        """Run an operation in a transaction that has committed when this returns."""

    async def read(self, plan: Plan[T]) -> T:
        """Run an operation that only reads, on one consistent view."""
