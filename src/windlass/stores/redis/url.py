"""What a Redis URL says: which servers, who asks, and how long to wait for them.

No error shows the URL or a piece of its front part: a password may be in it.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote

import msgspec

from ...errors import InvalidOption, UnknownScheme
from ..options import CONNECT_TIMEOUT, Options, natural, port
from ..tls import FILES, Names, context
from .login import Credentials, credentials_of

Topology = Literal["single", "sentinel", "cluster"]

OF: Final = "a Redis URL"
MOST_BLOCKING: Final = 64
"""Connections to one server that a blocking store has at the most: as many threads ask at once."""

MOST_PARTITIONS: Final = 16

_PORTS: Final[Mapping[Topology, int]] = {"single": 6379, "sentinel": 26379, "cluster": 6379}

_SUFFIXES: Final[Mapping[str, Topology]] = {
    "": "single",
    "+sentinel": "sentinel",
    "+cluster": "cluster",
}

UNIX: Final = ("redis+unix", "valkey+unix")

SCHEMES: Final[Mapping[str, tuple[Topology, bool]]] = {
    f"{engine}{suffix}": (topology, secure)
    for engine, secure in (("redis", False), ("rediss", True), ("valkey", False), ("valkeys", True))
    for suffix, topology in _SUFFIXES.items()
} | dict.fromkeys(UNIX, ("single", False))
"""Every scheme, with its topology and whether it asks for TLS."""

VERIFYING: Final = ("verify", "check_hostname")
SENTINEL_FILES: Final = Names("sentinel_ca", "sentinel_cert", "sentinel_key")
OF_SENTINELS: Final = (
    "sentinel_username",
    "sentinel_password",
    "sentinel_tls",
    *SENTINEL_FILES,
    *(f"sentinel_{name}" for name in VERIFYING),
)

_OPTIONS: Final = (
    "namespace",
    "patience",
    "timeout",
    "connect_timeout",
    "connections",
    "client_name",
    "credentials",
    "addresses",
    "db",
    "partitions",
    "replicas",
    *OF_SENTINELS,
    *FILES,
    *VERIFYING,
)


class Address(NamedTuple):
    """Where a server listens: a host and a port, or the path of a socket."""

    host: str
    port: int

    @property
    def path(self) -> str:
        return self.host if self.host.startswith("/") else ""

    def __str__(self) -> str:
        if self.path:
            return self.path
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a URL came to. Times are in seconds."""

    topology: Topology
    addresses: tuple[Address, ...]
    username: str | None = None
    password: str | None = None
    db: int = 0
    tls: ssl.SSLContext | None = None
    master: str = ""
    sentinel_username: str | None = None
    sentinel_password: str | None = None
    namespace: str = "windlass"
    patience: float = 5.0
    timeout: float = 5.0
    connect_timeout: float = CONNECT_TIMEOUT
    connections: int = MOST_BLOCKING
    client_name: str = "windlass"
    credentials: Credentials | None = None
    sentinel_tls: ssl.SSLContext | None = None
    reachable: Mapping[Address, Address] = {}
    """of servers that are to be reached elsewhere than they say"""
    partitions: Mapping[str, int] = {}
    replicas: int = 0

    def __repr__(self) -> str:
        servers = ",".join(str(address) for address in self.addresses)
        return f"<Settings {self.topology} {servers}>"


def parse(url: str) -> Settings:
    """The settings of a URL; `InvalidOption` for what it cannot say."""
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES:
        raise UnknownScheme(f"A Redis URL starts with one of {', '.join(SCHEMES)}, then ://.")
    topology, secure = SCHEMES[scheme]
    front, _, query = rest.partition("?")
    authority, _, path = front.partition("/")
    if "@" in path + query and "@" not in authority:
        raise InvalidOption(
            "A / or ? in the user name or password, and an @ after them, must be "
            "percent-encoded in a Redis URL: %2F, %3F, %40."
        )
    login, _, hosts = authority.rpartition("@")
    username, password = _login(login)
    options = Options(query, _OPTIONS, OF)
    if scheme in UNIX:
        addresses: tuple[Address, ...] = (_socket(hosts, path),)
        master, db = _path(topology, options.get("db", ""))
    elif "db" in options:
        raise InvalidOption("db in a Redis URL is for a socket; else write redis://host/DB.")
    else:
        addresses = _addresses(topology, hosts)
        master, db = _path(topology, path)
    for name in OF_SENTINELS:
        if topology != "sentinel" and name in options:
            raise InvalidOption(f"{name} needs redis+sentinel://.")
    tls = _tls(options, secure)
    for name in ("credentials", "addresses", "client_name"):
        if name in options and not options[name]:
            raise InvalidOption(f"{name} in a Redis URL is empty: leave it out or fill it in.")
    if "sentinel_username" in options and not options.get("sentinel_password"):
        raise InvalidOption("sentinel_username in a Redis URL needs sentinel_password beside it.")
    return Settings(
        topology=topology,
        addresses=addresses,
        username=username,
        password=password,
        db=db,
        tls=tls,
        sentinel_tls=_sentinel_tls(options, tls) if topology == "sentinel" else None,
        master=master,
        sentinel_username=options.get("sentinel_username") or None,
        sentinel_password=options.get("sentinel_password") or None,
        namespace=_namespace(options.get("namespace", "windlass")),
        patience=options.seconds("patience", 5.0),
        timeout=options.seconds("timeout", 5.0, least=0.05),
        connect_timeout=options.connecting(),
        connections=options.connections("connections", MOST_BLOCKING),
        client_name=_client_name(options.get("client_name", "windlass")),
        credentials=_credentials(options),
        reachable=_reachable(options.get("addresses", ""), topology),
        partitions=_partitions(options.get("partitions", "")),
        replicas=_replicas(options.get("replicas", "0")),
    )


def _login(login: str) -> tuple[str | None, str | None]:
    username, separator, password = login.partition(":")
    if separator and not password:
        raise InvalidOption("The password in a Redis URL is empty: leave out :@ or fill it in.")
    return unquote(username) or None, unquote(password) or None


def _addresses(topology: Topology, hosts: str) -> tuple[Address, ...]:
    named = hosts.split(",") if hosts else ["localhost"]
    if topology == "single" and len(named) > 1:
        raise InvalidOption(
            "redis:// names one server; for several use redis+sentinel:// or redis+cluster://."
        )
    return tuple(_address(host, _PORTS[topology]) for host in named)


def _address(text: str, usual: int) -> Address:
    if text.startswith("["):
        host, closed, rest = text[1:].partition("]")
        if not host or not closed or (rest and not rest.startswith(":")):
            raise InvalidOption("An IPv6 address in a Redis URL is like [::1] or [::1]:6379.")
        return Address(host, port(rest[1:], OF) if rest else usual)
    host, separator, number = text.partition(":")
    if ":" in number:
        raise InvalidOption("An IPv6 address in a Redis URL stands in brackets: [::1]:6379.")
    if not text:
        raise InvalidOption("A host is missing between two commas of a Redis URL.")
    return Address(unquote(host) or "localhost", port(number, OF) if separator else usual)


def _path(topology: Topology, path: str) -> tuple[str, int]:
    """The name of Sentinel's master and the number of the database."""
    parts = path.removesuffix("/").split("/") if path.removesuffix("/") else []
    master = ""
    if topology == "sentinel":
        if not parts or not parts[0]:
            raise InvalidOption(
                "A Sentinel URL needs the name of its master: redis+sentinel://host:26379/mymaster."
            )
        master = unquote(parts.pop(0))
    if topology == "cluster" and parts:
        raise InvalidOption("A Redis Cluster has only database 0: leave /… out of its URL.")
    if not parts:
        return master, 0
    number = natural(parts[0])
    if len(parts) > 1 or number is None:
        raise InvalidOption("The database in a Redis URL is a number, as in redis://host:6379/0.")
    return master, number


def _namespace(text: str) -> str:
    if not text or not text.isprintable() or set(text) & set("{} *?[]"):
        raise InvalidOption(
            "The namespace in a Redis URL is a name without blanks and without { } [ ] * ?."
        )
    return text


def _replicas(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 3):
        raise InvalidOption("replicas in a Redis URL is a number from 0 to 99.")
    return int(text)


def _partitions(text: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for part in text.split(",") if text else []:
        queue, _, count = part.rpartition(":")
        if not queue or not (count.isascii() and count.isdigit()):
            raise InvalidOption("partitions in a Redis URL is like partitions=hot:4,mail:2.")
        if len(count) > 2 or not 1 <= int(count) <= MOST_PARTITIONS:
            raise InvalidOption(
                f"A queue has 1 to {MOST_PARTITIONS} partitions; {queue} asks for {count[:9]}."
            )
        found[queue] = int(count)
    return found


def _socket(hosts: str, path: str) -> Address:
    if hosts or not path:
        raise InvalidOption(
            "A socket in a Redis URL is a whole path: redis+unix:///run/redis.sock."
        )
    return Address(unquote(f"/{path}"), 0)


def _credentials(options: Options) -> Credentials | None:
    path = options.get("credentials")
    return None if path is None else credentials_of(path, OF)


def _client_name(text: str) -> str:
    # As CLIENT SETNAME takes it.
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise InvalidOption("client_name in a Redis URL is plain text without blanks.")
    return text


def _reachable(text: str, topology: Topology) -> Mapping[Address, Address]:
    """Where servers are to be reached, by what they say: announced=reachable, by commas."""
    if text and topology == "single":
        raise InvalidOption("addresses in a Redis URL is for Sentinel and Cluster.")
    found: dict[Address, Address] = {}
    for pair in text.split(",") if text else ():
        announced, separator, reachable = pair.partition("=")
        if not (separator and announced and reachable):
            raise InvalidOption(
                "addresses in a Redis URL is like addresses=10.0.0.1:6379=host:7001,…"
            )
        found[_address(announced, _PORTS["single"])] = _address(reachable, _PORTS["single"])
    return found


def _sentinel_tls(options: Options, tls: ssl.SSLContext | None) -> ssl.SSLContext | None:
    """TLS for the Sentinels: as the masters', unless the URL says otherwise."""
    own = any(name in options for name in OF_SENTINELS[3:])
    if not options.switch("sentinel_tls", tls is not None or own):
        if own:
            raise InvalidOption("The URL names files for TLS to the Sentinels and switches it off.")
        return None
    return context(options, SENTINEL_FILES, "sentinel_") if own or tls is None else tls


def _tls(options: Options, secure: bool) -> ssl.SSLContext | None:
    if secure:
        return context(options)
    for name in (*FILES, *VERIFYING):
        if name in options:
            raise InvalidOption(f"{name} needs TLS: write rediss:// instead of redis://.")
    return None
