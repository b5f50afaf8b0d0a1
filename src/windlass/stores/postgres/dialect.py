"""How operations run on connections to PostgreSQL that are not the store's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...core.clock import Clock
from ..sql.dialect import Dialect, Step, by_clock
from ..sql.operation import Bulk, Statement
from .connection import columns
from .identity import in_database
from .url import Settings


def dialect_of(queries: Mapping[str, str], settings: Settings, clock: Clock | None) -> Dialect:
    """The dialect for connections to the database of these settings, and to no other."""

    def steps(asked: Statement | Bulk) -> Iterator[Step]:
        query = queries[asked.query]
        if isinstance(asked, Statement):
            yield query, asked.params
        elif "unnest(" in query:
            yield query, columns(asked.rows)
        else:
            for row in asked.rows:
                yield query, row

    return Dialect("PostgreSQL", queries["arrive"], in_database(settings, by_clock(clock)), steps)
