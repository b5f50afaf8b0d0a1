"""From a URL to a store; engines are imported only when a URL asks for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from ..core.clock import Clock
from ..errors import InvalidOption, MissingExtra, UnknownScheme, seconds
from .contract import Store

if TYPE_CHECKING:
    from .sqlite.connection import Options


def open_store(url: str, *, clock: Clock | None = None, blocking: bool = False) -> Store:
    """The store that a URL names, not opened yet.

    `blocking` asks for a store that code without an event loop can drive; an engine that
    has no such form ignores it, and `Store.blocking` tells.
    """
    scheme, separator, _ = url.partition("://")
    if not separator:
        raise UnknownScheme(f"A store's URL is like sqlite:///file.db; {url!r} has no scheme.")
    opener = _OPENERS.get(scheme)
    if opener is None:
        raise _unknown(scheme)
    return opener(url, clock, blocking)


def _unknown(scheme: str) -> UnknownScheme | MissingExtra:
    if scheme in _PLANNED:
        extra, driver = _PLANNED[scheme]
        if find_spec(driver) is None:
            return MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[{extra}]'.")
        return UnknownScheme(f"This version of Windlass has no store for {scheme}:// yet.")
    near = get_close_matches(scheme, _OPENERS, 1)
    hint = f"did you mean {near[0]}://?" if near else f"known are {', '.join(_OPENERS)}."
    return UnknownScheme(f"No store serves {scheme}://: {hint}")


def _memory(url: str, clock: Clock | None, blocking: bool) -> Store:
    from .memory import MemoryStore

    return MemoryStore(clock)


def _sqlite(url: str, clock: Clock | None, blocking: bool) -> Store:
    from .sqlite.store import SqliteStore

    return SqliteStore(sqlite_options(url), clock, blocking=blocking)


def sqlite_options(url: str) -> Options:
    """Which file a URL names, and how it is to be used."""
    from .sqlite.connection import Options

    # By hand: to a URL parser a # in a file's name is the end of it.
    quoted, _, query = url.removeprefix("sqlite://").partition("?")
    path = unquote(quoted.removeprefix("/"))
    if quoted[:1] != "/" or not path or path == ":memory:" or "\0" in path:
        raise InvalidOption(
            f"A SQLite URL is sqlite:///file.db or sqlite:////path/to/file.db, not {url}; "
            "for a store in memory use memory://."
        )
    settings = _settings(query, {"synchronous", "busy_timeout", "migrate", "create"})
    synchronous = settings.get("synchronous", "normal")
    if synchronous not in ("normal", "full"):
        raise InvalidOption("synchronous is normal or full in a SQLite URL.")
    busy_timeout = _number(settings, "busy_timeout", 30.0)
    migrate, create = _switch(settings, "migrate"), _switch(settings, "create")
    return Options(path, synchronous, busy_timeout, migrate, create)


def _redis(url: str, clock: Clock | None, blocking: bool) -> Store:
    if find_spec("hiredis") is None:
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[redis]'.")
    from .redis.store import RedisStore
    from .redis.transport import open_transport
    from .redis.url import parse

    settings = parse(url)
    return RedisStore(settings, open_transport(settings, blocking), clock)


def _postgres(url: str, clock: Clock | None, blocking: bool) -> Store:
    if find_spec("asyncpg") is None:
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[postgres]'.")
    from .postgres.store import PostgresStore
    from .postgres.url import parse

    return PostgresStore(parse(url), clock)


def _mysql(url: str, clock: Clock | None, blocking: bool) -> Store:
    if find_spec("asyncmy") is None:
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[mysql]'.")
    from .mysql.store import MysqlStore
    from .mysql.url import parse

    return MysqlStore(parse(url), clock)


def _remote(url: str, clock: Clock | None, blocking: bool) -> Store:
    if find_spec("aiohttp") is None:
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[remote]'.")
    from .remote.store import RemoteStore
    from .remote.url import parse

    return RemoteStore(parse(url))


def _grpc(url: str, clock: Clock | None, blocking: bool) -> Store:
    if find_spec("grpc") is None or find_spec("grpc_health") is None:
        scheme, _, _ = url.partition("://")
        raise MissingExtra(f"{scheme}:// needs an extra: pip install 'windlass[server]'.")
    from .remote.grpc import GrpcStore
    from .remote.url import parse

    return GrpcStore(parse(url))


def _settings(query: str, known: set[str]) -> Mapping[str, str]:
    settings = dict(parse_qsl(query, keep_blank_values=True))
    for name in settings.keys() - known:
        raise InvalidOption(
            f"Unknown setting {name} in the store's URL; known are {', '.join(sorted(known))}."
        )
    return settings


def _switch(settings: Mapping[str, str], name: str) -> bool:
    value = settings.get(name, "on")
    if value not in ("on", "off"):
        raise InvalidOption(f"{name} is on or off in a SQLite URL.")
    return value == "on"


def _number(settings: Mapping[str, str], name: str, default: float) -> float:
    try:
        given = float(settings.get(name, default))
    except ValueError:
        raise InvalidOption(f"{name} in the store's URL must be a number of seconds.") from None
    return seconds(given, name)


REDIS_SCHEMES = tuple(
    f"{engine}{topology}"
    for engine in ("redis", "rediss", "valkey", "valkeys")
    for topology in ("", "+sentinel", "+cluster")
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

_PLANNED: Mapping[str, tuple[str, str]] = {}
"""Schemes to come, each with its extra and the driver that the extra brings."""
