"""How operations run on connections to MySQL that are not the store's own.

There it is one statement at a time, with a mark for every value: not every connection takes
several statements at once, and not every driver takes lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from ...core.clock import Clock
from ...errors import InvalidOption
from ..sql.dialect import Dialect, Step, by_clock
from ..sql.operation import Bulk, Rows, Statement
from .script import LISTS, ROWS_AT_ONCE, Part, Piece, Script, compiled, several

CURRENT: Final = ("/*current*/", "LOCK IN SHARE MODE")
"""A mark in queries that must see what others have committed. Our own sessions do; here each
transaction may look at the state of its beginning, as by default it does, but for locking reads."""


def dialect_of(queries: Mapping[str, str], database: str, clock: Clock | None) -> Dialect:
    """The dialect for connections to this database, and to no other."""
    scripts = {name: compiled(text.replace(*CURRENT)) for name, text in queries.items()}

    def steps(asked: Statement | Bulk) -> Iterator[Step]:
        script = scripts[asked.query]
        if isinstance(asked, Bulk):
            return _bulk(script, asked.rows)
        return iter([_named(part.head, asked.params) for part in script])

    return Dialect("MySQL", queries["arrive"], _in_database(database, by_clock(clock)), steps)


def _in_database(database: str, arrived: Callable[[Rows], int]) -> Callable[[Rows], int]:
    def in_database(rows: Rows) -> int:
        now = arrived(rows)
        *_, isolation, found, by_case = rows[0]
        if found != database and (by_case or found.casefold() != database.casefold()):
            raise InvalidOption(
                f"The connection is to the database {found} and the store is in {database}: give "
                "a connection to the store's own database."
            )
        if isolation == "SERIALIZABLE":
            raise InvalidOption(
                "The connection is at SERIALIZABLE, where whatever is looked at stays locked until "
                "the commit, and nobody else could enqueue: use REPEATABLE READ or READ COMMITTED."
            )
        return now

    return in_database


def _named(piece: Piece, params: Mapping[str, Any]) -> Step:
    marks: list[str] = []
    args: list[Any] = []
    for name in piece.names:
        if name in LISTS:
            # Nothing is equal to NULL, and an empty list is no SQL.
            values = several(params[name]) or [None]
            marks.append(f"({', '.join('?' * len(values))})")
            args += values
        else:
            marks.append("?")
            args.append(params[name])
    return piece.text % tuple(marks), args


def _bulk(script: Script, rows: Rows) -> Iterator[Step]:
    if not any(part.each for part in script):
        for row in rows:
            for part in script:
                yield _marked(part.head), [row[at] for at in part.head.positions]
        return
    for start in range(0, len(rows), ROWS_AT_ONCE):
        for part in script:
            yield _repeated(part, rows[start : start + ROWS_AT_ONCE])


def _repeated(part: Part, rows: Rows) -> Step:
    head = part.head.text % ()
    if part.each is None:
        return head, ()
    each = part.each
    args = [row[at] for row in rows for at in each.positions]
    return head + ", ".join([_marked(each)] * len(rows)) + part.tail, args


def _marked(piece: Piece) -> str:
    return piece.text % (("?",) * len(piece.positions))
