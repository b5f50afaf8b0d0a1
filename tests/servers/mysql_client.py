"""What tests ask a MySQL or MariaDB for themselves, from whichever thread."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote, urlsplit

import pymysql


def connect(url: str, **options: Any) -> pymysql.Connection[Any]:
    """A connection to the server of `url`, to none of its databases."""
    parts = urlsplit(url)
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port or 0,
        user=parts.username,
        password=unquote(parts.password or ""),
        autocommit=True,
        # It would read all the certificates of this machine before it connects.
        ssl_disabled=True,
        **options,
    )


def query(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements on a connection of their own; the rows of the last one."""
    with connect(url) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return list(cursor.fetchall())


def fresh_database(url: str, name: str) -> str:
    """The URL of a database with nothing in it, on the server of `url`."""
    query(url, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    return f"{url.rpartition('/')[0]}/{name}"
