"""Queries in the placeholders of a driver.

The files have `:name` for named arguments and `?` for those by position, as SQLite takes them.
Other drivers count (`$1`) or repeat (`%s`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

# What is quoted, and the :: of a cast, are matched first so that they are left alone.
_TOKEN = re.compile(r"'(?:[^']|'')*'|::|(?<!\w):([a-z_][a-z0-9_]*)|\?(\d*)|%")


class Query(NamedTuple):
    """A query as a driver takes it, and the names of its arguments in the order it takes them."""

    text: str
    names: tuple[str, ...]
    places: tuple[int, ...] = ()
    """of arguments by position, which ones it takes, if not each of them once: from `?1`"""

    def arguments(self, params: Mapping[str, Any]) -> Sequence[Any]:
        return [params[name] for name in self.names]

    def by_place(self, params: Sequence[Any]) -> Sequence[Any]:
        """Arguments by position, as the driver takes them."""
        return [params[place] for place in self.places] if self.places else params


# A process may open many stores, and all have the same queries.
@lru_cache(maxsize=1024)
def numbered(sql: str) -> Query:
    """With `$1`, `$2` …; a name that comes twice has one number."""
    names: list[str] = []
    count = 0

    def placeholder(token: re.Match[str]) -> str:
        nonlocal count
        name = token.group(1)
        if name is not None:
            if name not in names:
                names.append(name)
            return f"${names.index(name) + 1}"
        if token.group() == "?":
            count += 1
            return f"${count}"
        return token.group()

    return Query(_TOKEN.sub(placeholder, sql), tuple(names))


def formatted(sql: str) -> Query:
    """With `%s` for each; a name or a number that comes twice is given twice."""
    return _repeated(sql, "%s", "%%")


def questioned(sql: str) -> Query:
    """With `?` for each; a name that comes twice is given twice."""
    return _repeated(sql, "?", "%")


def _repeated(sql: str, mark: str, percent: str) -> Query:
    names: list[str] = []
    places: list[int] = []

    def placeholder(token: re.Match[str]) -> str:
        name, number = token.groups()
        if name is not None:
            names.append(name)
        if number and mark == "%s":
            places.append(int(number) - 1)
            return mark
        if name is not None or token.group() == "?":
            return mark
        return token.group().replace("%", percent)

    return Query(_TOKEN.sub(placeholder, sql), tuple(names), tuple(places))
