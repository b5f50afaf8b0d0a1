"""What a MySQL URL says: which server and database, who asks, and how long to wait.

No error shows the URL or a piece of its front part: a password may be in it.
"""

from __future__ import annotations

import re
import ssl
from typing import Final
from urllib.parse import unquote

import msgspec

from ...errors import InvalidOption
from ..options import Options, port
from ..tls import FILES, context

PORT: Final = 3306
OF: Final = "a MySQL URL"

_OPTIONS: Final = (
    "migrate",
    "namespace",
    "pool",
    "patience",
    "timeout",
    "connect_timeout",
    "socket",
    "tls",
    *FILES,
    "verify",
)
CONNECT_TIMEOUT: Final = 5.0
"""Seconds to connect by default, and no more than to answer."""

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
    """for an answer"""
    connect_timeout: float = 5.0
    """for a connection: names, TLS and log-in together"""

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
    options = Options(query, _OPTIONS, OF)
    timeout = options.seconds("timeout", 30.0, least=1.0)
    host, number = _address(address)
    return Settings(
        host=host,
        port=number,
        user=unquote(user),
        password=unquote(password),
        database=database,
        socket=options.get("socket"),
        tls=_tls(options),
        namespace=_namespace(options.get("namespace", "windlass")),
        pool=options.connections("pool", 10),
        migrate=options.switch("migrate", default=True),
        patience=options.seconds("patience", 5.0),
        timeout=timeout,
        connect_timeout=options.seconds(
            "connect_timeout", min(CONNECT_TIMEOUT, timeout), least=0.05
        ),
    )


def _address(text: str) -> tuple[str, int]:
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not host or not closed or (rest and not rest.startswith(":")):
            raise InvalidOption("An IPv6 address in a MySQL URL is like [::1] or [::1]:3306.")
        return host, port(rest[1:], OF) if rest else PORT
    host, separator, number = text.partition(":")
    if ":" in number:
        raise InvalidOption("An IPv6 address in a MySQL URL stands in brackets: [::1]:3306.")
    return unquote(host) or "localhost", port(number, OF) if separator else PORT


def _namespace(text: str) -> str:
    if not _NAMESPACE.fullmatch(text):
        raise InvalidOption(
            "The namespace in a MySQL URL begins the names of tables: 1 to 32 of a-z, 0-9 and _, "
            "a letter first."
        )
    return text


def _tls(options: Options) -> ssl.SSLContext | None:
    if options.switch("tls", default=False):
        return context(options)
    for name in (*FILES, "verify"):
        if name in options:
            raise InvalidOption(f"{name} in {OF} needs tls=on.")
    return None
