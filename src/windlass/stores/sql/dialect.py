"""What running a store's operations takes on a connection that the store did not open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...core.clock import Clock
from ...errors import InvalidOption
from .operation import Bulk, Rows, Statement

Step = tuple[str, Mapping[str, Any] | Sequence[Any]]
"""One statement, with `:name` or `?` as in the files, and its arguments by name or position."""

NO_TABLES: Final = (
    "The database of this connection has no Windlass tables: connect to that of the store, and "
    "run `windlass migrate` if the store is new."
)


class Dialect(NamedTuple):
    """One engine's way to say what the operations ask for."""

    engine: str
    """as people call it: SQLite, PostgreSQL, MySQL"""
    arrive: str
    """the query that looks around before anything is written"""
    arrived: Callable[[Rows], int]
    """from its rows, the moment at which an operation begins; `InvalidOption` if they say that
    this is not the store's database"""
    steps: Callable[[Statement | Bulk], Iterator[Step]]
    """the statements for what an operation asks; of a query, the rows of the last one count"""
    no_table: str | None = None
    """what an error says of a table that is not there, where `arrived` cannot find that out"""


def by_clock(clock: Clock | None) -> Callable[[Rows], int]:
    """`arrived` for engines that tell the time, and whether the tables are there, in one row."""

    def arrived(rows: Rows) -> int:
        now, has_tables, *_ = rows[0]
        if not has_tables:
            raise InvalidOption(NO_TABLES)
        return int(now) if clock is None else clock()

    return arrived
