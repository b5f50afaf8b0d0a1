"""Which database a connection of the user's is to, held against that of the store.

A store that was never opened knows what its URL says. One that was, in this process, knows what
the server calls itself: a pooler may give a database another name, and servers may have one of the
same. A copy of all files of a server passes for the original.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from ...errors import InvalidOption
from ..sql.operation import Rows
from .url import Settings


class Identity(NamedTuple):
    """A database as its server tells."""

    database: str
    system: str
    """of the cluster of databases; its replicas have the same"""


_known: Final[dict[str, Identity]] = {}
"""By the address in a URL."""


def learn(settings: Settings, identity: Identity) -> None:
    """Remember what a server said of itself."""
    _known[settings.dsn] = identity


def in_database(settings: Settings, arrived: Callable[[Rows], int]) -> Callable[[Rows], int]:
    """`arrived`, for connections to the database of the store and no other."""

    def arrive(rows: Rows) -> int:
        now = arrived(rows)
        found = Identity(*rows[0][3:5])
        known = _known.get(settings.dsn)
        if known is not None and found != known:
            same = found.database == known.database
            raise InvalidOption(
                f"The connection is to {'another server than' if same else 'the database'} "
                f"{'that of the store' if same else found.database}: give a connection to the "
                f"store's own database, {known.database} at {settings.where}."
            )
        named = None if settings.pooler else _named(settings.dsn)
        if known is None and named is not None and found.database != named:
            raise InvalidOption(
                f"The connection is to the database {found.database} and the store is in {named}: "
                "give a connection to the store's own database."
            )
        return now

    return arrive


def _named(dsn: str) -> str | None:
    """The database that a URL names, or that its user has by default; None if it says neither."""
    parts = urlsplit(dsn)
    user = parts.username or parse_qs(parts.query).get("user", [""])[0] or os.environ.get("PGUSER")
    return unquote(parts.path[1:]) or os.environ.get("PGDATABASE") or unquote(user or "") or None
