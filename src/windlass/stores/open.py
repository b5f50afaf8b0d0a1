"""From a URL to a store; engines are imported only when a URL asks for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from urllib.parse import quote

from ..core.clock import Clock
from ..errors import MissingExtra, UnknownScheme
from .contract import Store

SQLITE = "sqlite:///"


def open_store(url: str, *, clock: Clock | None = None, blocking: bool = False) -> Store:
    """The store that a URL names, not opened yet.

    `blocking` asks for a store that code without an event loop can drive; an engine that
    has no such form ignores it, and `Store.blocking` tells.
    """
    return _OPENERS[scheme_of(url)](url, clock, blocking)


def scheme_of(url: str) -> str:
    """The scheme of a URL, or `UnknownScheme`. Imports no engine, so it can be asked early."""
    scheme, separator, _ = url.partition("://")
    if not separator:
        raise UnknownScheme(f"A store's URL is like sqlite:///file.db; {url!r} has no scheme.")
    if scheme not in _OPENERS:
        raise _unknown(scheme)
    return scheme


def anchored(url: str, folder: str) -> str:
    """The URL of the same file wherever this process goes; its path may be relative to a folder."""
    path, separator, options = url.removeprefix(SQLITE).partition("?")
    if not folder or not url.startswith(SQLITE) or path[:1] in ("", "/") or path == ":memory:":
        return url
    return f"{SQLITE}{quote(folder)}/{path}{separator}{options}"


def path_of(url: str) -> str | None:
    """The path of a SQLite file, as its store has it."""
    if not url.startswith(SQLITE):
        return None
    from .sqlite.url import parse

    return parse(url).path


def present_folder() -> str:
    """The folder that this process is in; empty if it was deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def _unknown(scheme: str) -> UnknownScheme:
    near = get_close_matches(scheme.lower(), _OPENERS, 1)
    hint = f"did you mean {near[0]}://?" if near else f"known are {', '.join(_OPENERS)}."
    return UnknownScheme(f"No store serves {scheme}://: {hint}")


def _memory(url: str, clock: Clock | None, blocking: bool) -> Store:
    from .memory import MemoryStore

    return MemoryStore(clock)


def _sqlite(url: str, clock: Clock | None, blocking: bool) -> Store:
    from .sqlite.store import SqliteStore
    from .sqlite.url import parse

    return SqliteStore(parse(url), clock, blocking=blocking)


def _redis(url: str, clock: Clock | None, blocking: bool) -> Store:
    _need("redis", url, "hiredis")
    from .redis.store import RedisStore
    from .redis.transport import open_transport
    from .redis.url import parse

    settings = parse(url)
    return RedisStore(settings, open_transport(settings, blocking), clock)


def _postgres(url: str, clock: Clock | None, blocking: bool) -> Store:
    _need("postgres", url, "asyncpg")
    from .postgres.store import PostgresStore
    from .postgres.url import parse

    return PostgresStore(parse(url), clock)


def _mysql(url: str, clock: Clock | None, blocking: bool) -> Store:
    _need("mysql", url, "asyncmy")
    from .mysql.store import MysqlStore
    from .mysql.url import parse

    return MysqlStore(parse(url), clock)


def _remote(url: str, clock: Clock | None, blocking: bool) -> Store:
    _need("remote", url, "aiohttp")
    from .remote.store import RemoteStore
    from .remote.url import parse

    return RemoteStore(parse(url))


def _grpc(url: str, clock: Clock | None, blocking: bool) -> Store:
    _need("server", url, "grpc", "grpc_health")
    from .remote.grpc import GrpcStore
    from .remote.url import parse

    return GrpcStore(parse(url))


def _need(extra: str, url: str, *drivers: str) -> None:
    if any(find_spec(driver) is None for driver in drivers):
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[{extra}]'.")


REDIS_SCHEMES = (
    *(
        f"{engine}{topology}"
        for engine in ("redis", "rediss", "valkey", "valkeys")
        for topology in ("", "+sentinel", "+cluster")
    ),
    "redis+unix",
    "valkey+unix",
)

_OPENERS: Mapping[str, Callable[[str, Clock | None, bool], Store]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    **dict.fromkeys(REDIS_SCHEMES, _redis),
    "mysql": _mysql,
    "mariadb": _mysql,
    "postgres": _postgres,
    "postgresql": _postgres,
    "http": _remote,
    "https": _remote,
    "grpc": _grpc,
    "grpcs": _grpc,
}
