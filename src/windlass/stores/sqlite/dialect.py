"""How operations run on connections to a SQLite file that are not the store's own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from ...core.clock import Clock
from ...errors import InvalidOption
from ..sql.dialect import Dialect, Step
from ..sql.operation import Bulk, Rows, Statement
from .connection import WIDTHS


def dialect_of(queries: Mapping[str, str], path: str, clock: Clock) -> Dialect:
    """The dialect for connections to the file at `path`, and to no other."""

    def arrived(databases: Rows) -> int:
        file = next(file for _, name, file in databases if name == "main")
        if not _is_same(file, path):
            raise InvalidOption(
                f"The connection is to {file or 'a database in memory'} and the store is in "
                f"{path}: give a connection to the store's own file."
            )
        return clock()

    def steps(asked: Statement | Bulk) -> Iterator[Step]:
        query = queries[asked.query]
        if isinstance(asked, Bulk):
            return by_each(query, asked.rows)
        return iter([(query, asked.params)])

    return Dialect("SQLite", queries["arrive"], arrived, steps, "no such table: windlass_")


def by_each(query: str, rows: Rows) -> Iterator[Step]:
    """Many rows to a statement where an `/*each*/` of the query marks what to repeat."""
    head, *marked = query.split("/*each*/")
    if not marked:
        for row in rows:
            yield query, row
        return
    each, tail = marked
    most = WIDTHS[0]
    for start in range(0, len(rows), most):
        some = rows[start : start + most]
        yield head + ", ".join([each] * len(some)) + tail, [value for row in some for value in row]


def _is_same(file: str, other: str) -> bool:
    try:
        return os.path.samefile(file, other)
    except OSError:
        return False
