"""From a URL to an archive; engines are imported only when a URL asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import Final

from ..core.clock import Clock, system_clock
from ..errors import MissingExtra, UnknownScheme
from ..stores.sql.database import Database, Schema
from .archive import Archive
from .find import variants

TABLE: Final = "windlass_history_migrations"


def open_archive(url: str, *, clock: Clock | None = None, blocking: bool = False) -> Archive:
    """The archive that a URL names, not opened yet; `blocking` as for a store."""
    scheme, separator, _ = url.partition("://")
    opener = _OPENERS.get(scheme)
    if opener is None or not separator:
        near = get_close_matches(scheme, _OPENERS, 1)
        hint = f"did you mean {near[0]}://?" if near else f"known are {', '.join(_OPENERS)}."
        raise UnknownScheme(f"History is kept in an SQL database, not in {scheme}://: {hint}")
    return Archive(opener(url, clock, blocking))


def schema(dialect: str, *beneath: str) -> Schema:
    """The tables of history, as an engine has them; `beneath` are packages that it relies on."""
    packages = (*beneath, "windlass.history", f"windlass.history.{dialect}")
    return Schema(packages, TABLE, variants)


def _sqlite(url: str, clock: Clock | None, blocking: bool) -> Database:
    from ..stores.sqlite.database import SqliteDatabase
    from ..stores.sqlite.url import parse

    return SqliteDatabase(parse(url), schema("sqlite"), clock or system_clock, blocking=blocking)


def _postgres(url: str, clock: Clock | None, blocking: bool) -> Database:
    _need("asyncpg", "postgres", url)
    from ..stores.postgres.database import PostgresDatabase
    from ..stores.postgres.url import parse

    return PostgresDatabase(parse(url), schema("postgres", "windlass.stores.postgres"), clock)


def _mysql(url: str, clock: Clock | None, blocking: bool) -> Database:
    _need("asyncmy", "mysql", url)
    from ..stores.mysql.database import MysqlDatabase
    from ..stores.mysql.url import parse

    return MysqlDatabase(parse(url), schema("mysql", "windlass.stores.mysql"), clock)


def _need(driver: str, extra: str, url: str) -> None:
    if find_spec(driver) is None:
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[{extra}]'.")


_OPENERS: Mapping[str, Callable[[str, Clock | None, bool], Database]] = {
    "sqlite": _sqlite,
    "postgresql": _postgres,
    "postgres": _postgres,
    "mysql": _mysql,
    "mariadb": _mysql,
}
