"""Queries as texts that can be sent: several at once, with their arguments in them.

The protocol of MySQL takes several statements in one packet, and a round trip costs more than
most statements do. So what an operation asks for is put together here and sent in one go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from ..sql.operation import Rows

Literal = Callable[[Any], str]
"""Writes a value as SQL; the driver's, for it knows how the server reads texts."""

LISTS: Final = frozenset({"ids", "keys", "names", "refs"})
"""Arguments that stand for several values, as in `id IN :ids`; operations give them as JSON."""

ROWS_AT_ONCE: Final = 250
ROOM: Final = 1024 * 1024

_TOKEN: Final = re.compile(r"'(?:[^']|'')*'|(?<!\w):([a-z_][a-z0-9_]*)|\?(\d*)|%")
_decode_list: Final = msgspec.json.Decoder(list[Any]).decode


class Piece(NamedTuple):
    """A part of a statement with `%s` in it, and the arguments that these stand for."""

    text: str
    names: tuple[str, ...]
    """of named arguments"""
    positions: tuple[int, ...]
    """of those by position, counted from 0"""

    def named(self, params: Mapping[str, str]) -> str:
        return self.text % tuple([params[name] for name in self.names])

    def placed(self, row: Sequence[str]) -> str:
        return self.text % tuple([row[position] for position in self.positions])


class Part(NamedTuple):
    """One statement of a query; with `each`, that is repeated for each row of arguments."""

    head: Piece
    each: Piece | None = None
    tail: str = ""


Script = tuple[Part, ...]
"""A query: nearly always one statement."""


# A process may open many stores, and all have the same queries.
@lru_cache(maxsize=1024)
def compiled(sql: str) -> Script:
    return tuple(_part(text.strip()) for text in sql.split(";\n"))


def _part(text: str) -> Part:
    head, *marked = text.split("/*each*/")
    if not marked:
        return Part(_piece(head))
    each, tail = marked
    return Part(_piece(head), _piece(each), _piece(tail).text % ())


def _piece(text: str) -> Piece:
    names: list[str] = []
    positions: list[int] = []

    def placeholder(token: re.Match[str]) -> str:
        name, number = token.groups()
        if name is not None:
            names.append(name)
            return "%s"
        if token.group().startswith("?"):
            positions.append(int(number) - 1 if number else len(positions))
            return "%s"
        return token.group().replace("%", "%%")

    return Piece(_TOKEN.sub(placeholder, text), tuple(names), tuple(positions))


def statements(script: Script, params: Mapping[str, Any], literal: Literal) -> list[str]:
    """The statements of a query with named arguments."""
    written = {name: _written(name, value, literal) for name, value in params.items()}
    return [part.head.named(written) for part in script]


def _written(name: str, value: Any, literal: Literal) -> str:
    if name not in LISTS:
        return literal(value)
    values = several(value)
    # Nothing is equal to NULL, and an empty list is no SQL.
    return f"({','.join(map(literal, values)) or 'NULL'})"


def is_void(params: Mapping[str, Any]) -> bool:
    """Whether a list among the arguments is empty, so that nothing can be found or changed.

    Better not to ask: looking for NULL, a server may wait for each row that has none.
    """
    return any(name in LISTS and not several(value) for name, value in params.items())


def several(value: str | Sequence[Any]) -> Sequence[Any]:
    """The values of an argument that is one of `LISTS`."""
    return _decode_list(value) if isinstance(value, str) else value


def bulk(script: Script, rows: Rows, literal: Literal, room: int = ROOM) -> Iterator[str]:
    """The statements of a query for many rows of arguments, in the order of the rows.

    None has more than `room` characters, unless it is for one row alone.
    """
    if not any(part.each for part in script):
        for row in rows:
            written = [literal(value) for value in row]
            for part in script:
                yield part.head.placed(written)
        return
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        for head, each, tail in script:
            for repeated in _grouped(_repeated(each, some, literal), room) if each else ("",):
                yield head.text % () + repeated + tail


def _grouped(texts: Sequence[str], room: int) -> Iterator[str]:
    group: list[str] = []
    size = 0
    for text in texts:
        size += len(text)
        if group and size > room:
            yield ", ".join(group)
            group, size = [], len(text)
        group.append(text)
    yield ", ".join(group)


def _repeated(each: Piece, rows: Rows, literal: Literal) -> Sequence[str]:
    """A piece for each row. What all rows have alike is written once: that is most of a job."""
    columns = [*zip(*rows, strict=True)]
    alike = {at: literal(column[0]) for at, column in enumerate(columns) if _is_alike(column)}
    marks = [alike[at].replace("%", "%%") if at in alike else "%s" for at in each.positions]
    template = each.text % tuple(marks)
    differing = [map(literal, columns[at]) for at in each.positions if at not in alike]
    if not differing:
        return [template % ()] * len(rows)
    return [template % values for values in zip(*differing, strict=True)]


def _is_alike(column: Sequence[Any]) -> bool:
    first = column[0]
    # By type too: True is 1 to Python and not to SQL.
    return column.count(first) == len(column) and {*map(type, column)} == {type(first)}
