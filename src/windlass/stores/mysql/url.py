"""What a MySQL URL says: which server and database, who asks, and how long to wait.

No error shows the URL or a piece of its front part: a password may be in it.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final
from urllib.parse import parse_qsl, unquote

import msgspec

from ...errors import InvalidOption, seconds
from .tls import TLS_OPTIONS, context

PORT: Final = 3306
MOST_CONNECTIONS: Final = 1000

_OPTIONS: Final = (
    "migrate",
    "namespace",
    "pool",
    "patience",
    "timeout",
    "socket",
    *TLS_OPTIONS,
)
_NAMESPACE: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a URL came to. Times are in seconds."""

    host: str
    port: int
    user: str
    password: str = ""
    database: str
    socket: str | None = None
    tls: ssl.SSLContext | None = None
    namespace: str = "windlass"
    pool: int = 10
    migrate: bool = True
    patience: float = 5.0
    timeout: float = 30.0

    def __repr__(self) -> str:
        return f"<Settings {self.where}/{self.database}>"

    @property
    def where(self) -> str:
        """The server, for messages."""
        if self.socket is not None:
            return f"MySQL at {self.socket}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"MySQL at {host}:{self.port}"

    def named(self, text: str) -> str:
        """SQL with the names of this namespace's tables."""
        return text.replace("windlass_", f"{self.namespace}_")


def parse(url: str) -> Settings:
    """The settings of a URL; `InvalidOption` for what it cannot say."""
    _, _, rest = url.partition("://")
    front, _, query = rest.partition("?")
    authority, _, path = front.partition("/")
    if "@" in path + query and "@" not in authority:
        raise InvalidOption(
            "A / or ? in the user name or password, and an @ after them, must be "
            "percent-encoded in a MySQL URL: %2F, %3F, %40."
        )
    login, _, address = authority.rpartition("@")
    user, _, password = login.partition(":")
    if not user:
        raise InvalidOption("A MySQL URL needs a user: mysql://user:password@host/database.")
    database = unquote(path.removesuffix("/"))
    if not database or "/" in database:
        raise InvalidOption("A MySQL URL names one database: mysql://user:password@host/database.")
    options = _options(query)
    host, port = _address(address)
    return Settings(
        host=host,
        port=port,
        user=unquote(user),
        password=unquote(password),
        database=database,
        socket=options.get("socket"),
        tls=context(options),
        namespace=_namespace(options.get("namespace", "windlass")),
        pool=_pool(options.get("pool", "10")),
        migrate=_switch(options, "migrate"),
        patience=_number(options, "patience", 5.0),
        timeout=_number(options, "timeout", 30.0, least=1.0),
    )


def _address(text: str) -> tuple[str, int]:
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not host or not closed or (rest and not rest.startswith(":")):
            raise InvalidOption("An IPv6 address in a MySQL URL is like [::1] or [::1]:3306.")
        return host, _port(rest[1:]) if rest else PORT
    host, separator, number = text.partition(":")
    if ":" in number:
        raise InvalidOption("An IPv6 address in a MySQL URL stands in brackets: [::1]:3306.")
    return unquote(host) or "localhost", _port(number) if separator else PORT


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65536):
        raise InvalidOption("A port in a MySQL URL is a number from 1 to 65535.")
    return int(text)


def _options(query: str) -> Mapping[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options.keys() - set(_OPTIONS):
        near = get_close_matches(name, _OPTIONS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(_OPTIONS)}."
        raise InvalidOption(f"Unknown setting {name} in the store's URL; {hint}")
    return options


def _namespace(text: str) -> str:
    if not _NAMESPACE.fullmatch(text):
        raise InvalidOption(
            "The namespace in a MySQL URL begins the names of tables: 1 to 32 of a-z, 0-9 and _, "
            "a letter first."
        )
    return text


def _pool(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 5):
        raise InvalidOption("pool in a MySQL URL is a number of connections.")
    if not 1 <= int(text) <= MOST_CONNECTIONS:
        raise InvalidOption(f"pool in a MySQL URL is from 1 to {MOST_CONNECTIONS}.")
    return int(text)


def _switch(options: Mapping[str, str], name: str) -> bool:
    value = options.get(name, "on")
    if value not in ("on", "off"):
        raise InvalidOption(f"{name} is on or off in a MySQL URL.")
    return value == "on"


def _number(options: Mapping[str, str], name: str, default: float, least: float = 0.0) -> float:
    try:
        given = float(options.get(name, default))
    except ValueError:
        raise InvalidOption(f"{name} in the store's URL must be a number of seconds.") from None
    number = seconds(given, name)
    if number < least:
        raise InvalidOption(f"{name} in the store's URL must be at least {least:g} seconds.")
    return number
