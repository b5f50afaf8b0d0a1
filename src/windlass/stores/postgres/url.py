"""What a PostgreSQL URL says: which database, and how Windlass is to use it.

No error shows the URL or a piece of its front part: a password may be in it.
"""

from __future__ import annotations

import os
import re
import ssl
from typing import Final
from urllib.parse import urlencode, urlsplit

import msgspec

from ...errors import InvalidOption
from ..options import Options, port
from ..tls import Names, load

DRIVERS: Final = (
    "host",
    "port",
    "user",
    "password",
    "passfile",
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "target_session_attrs",
)
"""Settings that PostgreSQL's own tools know too; the driver reads them."""

SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")

_OPTIONS: Final = (
    "schema",
    "migrate",
    "pool",
    "listen",
    "pooler",
    "patience",
    "timeout",
    "connect_timeout",
    *DRIVERS,
)

CONNECT_TIMEOUT: Final = 5.0
"""Seconds to connect by default, and no more than to answer."""

OF: Final = "a PostgreSQL URL"
FILES: Final = Names("sslrootcert", "sslcert", "sslkey")
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,40}")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a URL came to. Times are in seconds; None is for the store to find out."""

    dsn: str
    where: str
    """host and port, for people; without user and password"""
    schema: str | None = None
    migrate: bool = True
    pool: int = 5
    listen: bool | None = None
    pooler: bool | None = None
    patience: float = 5.0
    timeout: float = 10.0
    """for an answer"""
    connect_timeout: float = 5.0
    """for a connection: names, TLS and log-in together"""

    def __repr__(self) -> str:
        return f"<Settings {self.where}>"


def parse(url: str) -> Settings:
    """The settings of a URL; `InvalidOption` for what it cannot say."""
    try:
        urlsplit(url)
    except ValueError as error:
        raise InvalidOption(f"The PostgreSQL URL cannot be read: {error}.") from None
    _, _, rest = url.partition("://")
    front, _, query = rest.partition("?")
    authority, _, database = front.partition("/")
    if "@" in database + query and "@" not in authority:
        raise InvalidOption(
            "A / or ? in the user name or password, and an @ after them, must be "
            "percent-encoded in a PostgreSQL URL: %2F, %3F, %40."
        )
    options = Options(query, _OPTIONS, OF)
    driver = {name: options[name] for name in DRIVERS if name in options}
    if driver.get("sslmode", "prefer") not in SSL_MODES:
        raise InvalidOption(f"sslmode in a PostgreSQL URL is one of {', '.join(SSL_MODES)}.")
    for name in FILES:
        if name in driver and not os.path.isfile(driver[name]):
            raise InvalidOption(f"{name} in the PostgreSQL URL names no file: {driver[name]}.")
    # The driver would find out with each connection.
    load(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), options, FILES)
    hosts = authority.rpartition("@")[2] or driver.get("host", "localhost")
    _check_ports(hosts)
    timeout = options.seconds("timeout", 10.0, least=0.05)
    return Settings(
        dsn=f"postgresql://{front}" + (f"?{urlencode(driver)}" if driver else ""),
        where=hosts,
        schema=_schema(options),
        migrate=options.switch("migrate", default=True),
        pool=options.connections("pool", 5),
        listen=options.perhaps("listen"),
        pooler=options.perhaps("pooler"),
        patience=options.seconds("patience", 5.0),
        timeout=timeout,
        connect_timeout=options.seconds(
            "connect_timeout", min(CONNECT_TIMEOUT, timeout), least=0.05
        ),
    )


def _check_ports(hosts: str) -> None:
    for host in hosts.split(","):
        _, separator, number = host.rpartition("]")[2].rpartition(":")
        if separator:
            port(number, OF)


def _schema(options: Options) -> str | None:
    name = options.get("schema")
    if name is not None and not _NAME.fullmatch(name):
        raise InvalidOption(
            "schema in a PostgreSQL URL has up to 41 small letters, digits and underscores, and "
            "does not begin with a digit."
        )
    return name
