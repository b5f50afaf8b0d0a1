"""What a PostgreSQL URL says: which database, and how Windlass is to use it.

No error shows the URL or a piece of its front part: a password may be in it.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec

from ...errors import InvalidOption, seconds

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

_OPTIONS: Final = ("schema", "migrate", "pool", "listen", "pooler", "patience", "timeout", *DRIVERS)

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
    options = _options(query)
    driver = {name: options[name] for name in DRIVERS if name in options}
    if driver.get("sslmode", "prefer") not in SSL_MODES:
        raise InvalidOption(f"sslmode in a PostgreSQL URL is one of {', '.join(SSL_MODES)}.")
    for name in ("sslrootcert", "sslcert", "sslkey"):
        if name in driver and not os.path.isfile(driver[name]):
            raise InvalidOption(f"{name} in the PostgreSQL URL names no file: {driver[name]}.")
    _check_files(driver)
    hosts = authority.rpartition("@")[2] or driver.get("host", "localhost")
    _check_ports(hosts)
    return Settings(
        dsn=f"postgresql://{front}" + (f"?{urlencode(driver)}" if driver else ""),
        where=hosts,
        schema=_schema(options),
        migrate=_switch(options, "migrate", True) is True,
        pool=_size(options),
        listen=_switch(options, "listen", None),
        pooler=_switch(options, "pooler", None),
        patience=_number(options, "patience", 5.0, 0),
        timeout=_number(options, "timeout", 10.0, 0.05),
    )


def _options(query: str) -> Mapping[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    for name in options.keys() - set(_OPTIONS):
        near = get_close_matches(name, _OPTIONS, 1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(_OPTIONS)}."
        raise InvalidOption(f"Unknown setting {name} in the store's URL; {hint}")
    return options


def _check_ports(hosts: str) -> None:
    for host in hosts.split(","):
        _, separator, port = host.rpartition("]")[2].rpartition(":")
        if separator and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise InvalidOption("A port in a PostgreSQL URL is a number from 1 to 65535.")


def _check_files(driver: Mapping[str, str]) -> None:
    """Whether the certificates can be used; the driver would find out with each connection."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if "sslrootcert" in driver:
            made.load_verify_locations(driver["sslrootcert"])
        if "sslcert" in driver:
            # A key with a passphrase must fail here, not ask for it on the terminal.
            made.load_cert_chain(driver["sslcert"], driver.get("sslkey"), password=lambda: b"")
    except OSError as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise InvalidOption(
            f"sslrootcert, sslcert or sslkey of the PostgreSQL URL cannot be used ({reason}): name "
            "PEM files that this process may read and that belong together."
        ) from None


def _schema(options: Mapping[str, str]) -> str | None:
    name = options.get("schema")
    if name is not None and not _NAME.fullmatch(name):
        raise InvalidOption(
            "schema in a PostgreSQL URL has up to 41 small letters, digits and underscores, and "
            "does not begin with a digit."
        )
    return name


def _switch(options: Mapping[str, str], name: str, default: bool | None) -> bool | None:
    value = options.get(name)
    if value is None or (value == "auto" and default is None):
        return default
    if value not in ("on", "off"):
        either = "on or off" if default is not None else "on, off or auto"
        raise InvalidOption(f"{name} is {either} in a PostgreSQL URL.")
    return value == "on"


def _size(options: Mapping[str, str]) -> int:
    text = options.get("pool", "5")
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= 1000):
        raise InvalidOption("pool in a PostgreSQL URL is a number of connections from 1 to 1000.")
    return int(text)


def _number(options: Mapping[str, str], name: str, default: float, least: float) -> float:
    try:
        given = float(options.get(name, default))
    except ValueError:
        raise InvalidOption(f"{name} in the store's URL must be a number of seconds.") from None
    number = seconds(given, name)
    if number < least:
        raise InvalidOption(f"{name} in the store's URL must be at least {least:g} seconds.")
    return number
