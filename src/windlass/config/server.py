"""The settings of a server."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final

import msgspec

from ..core.limit import Limit
from ..errors import ConfigError, InvalidOption
from .checks import LAST_PORT, check_above_zero, check_choices, check_finite, check_not_negative
from .logs import Level, LogFormat

NO_PORT: Final = -1
LONGEST_SESSION: Final = 7 * 24 * 3_600.0


class ServerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How one server process serves. Times are in seconds, sizes in bytes."""

    host: str = "127.0.0.1"
    """name or address to listen on; 0.0.0.0 and :: are all of them"""
    http_port: int = 8080
    """port of the HTTP API; 0 picks a free one"""
    grpc_port: int = 9090
    """port of the gRPC API; 0 picks a free one, -1 serves none"""
    insecure: bool = False
    """listen beyond this machine although there are no keys"""
    tls_cert: str = ""
    """file with the certificate chain, PEM; none serves without TLS"""
    tls_key: str = ""
    """file with the key of the certificate, PEM"""
    tls_client_ca: str = ""
    """file with the CAs of clients, PEM; with it, each needs a certificate of its own"""
    max_body: int = 8 * 1024 * 1024
    """bytes that the body of a request may have"""
    max_batch: int = 1_000
    """jobs that one request may have"""
    max_headers: int = 32 * 1024
    """bytes that the head of a request may have"""
    header_timeout: float = 10.0
    """how long a client may take to send the head of a request"""
    body_timeout: float = 30.0
    """how long a client may take to send the body of a request"""
    request_timeout: float = 60.0
    """how long a request may take, without its wait"""
    keep_alive: float = 30.0
    """how long a connection may be idle before it is closed"""
    max_wait: float = 60.0
    """the longest wait of a long-poll"""
    max_connections: int = 10_000
    """connections that are open at the same time"""
    trusted_proxies: tuple[str, ...] = ()
    """addresses or networks of proxies whose X-Forwarded-For, -Proto and -Host are believed"""
    rate: str = ""
    """requests of one key, as in 100/s; none is any number"""
    key_refresh: float = 2.0
    """how long a new or revoked key may take to count"""
    shutdown_timeout: float = 30.0
    """how long requests may take to finish after a stop signal"""
    upkeep: bool = True
    """rescue, tick and prune here too; workers do it as well"""
    redact: tuple[str, ...] = ()
    """names of arguments that are shown as ***"""
    access_log: bool = True
    """log a line for each request"""
    dashboard: bool = True
    """serve the dashboard at /"""
    session: float = 12 * 3_600.0
    """how long a login to the dashboard lasts"""
    root_path: str = ""
    """path below which a proxy serves this, as in /windlass, and which it takes off"""
    frame_ancestors: tuple[str, ...] = ()
    """who may show the dashboard in a frame: self, or origins as in https://wiki.example.org"""
    audit_log: str = ""
    """file that operator actions are written to as JSON lines; none is the log"""
    log_level: Level = "info"
    """the least that is logged, to stderr, unless the app sets up logging itself"""
    log_format: LogFormat = "auto"
    """how lines are written: auto is pretty on a terminal and plain elsewhere"""
    tracing: bool = False
    """make spans with OpenTelemetry; the app sets up where they go"""

    def __post_init__(self) -> None:
        self._check_place()
        self._check_tls()
        self._check_pages()
        self._check_proxies()
        times = ("header_timeout", "body_timeout", "request_timeout")
        lasting = ("keep_alive", "key_refresh", "session")
        waits = ("max_wait", "shutdown_timeout")
        sizes = ("max_body", "max_batch", "max_headers", "max_connections")
        check_above_zero(self, *sizes, *times, *lasting)
        check_not_negative(self, *waits)
        check_finite(self, *times, *lasting, *waits)
        if self.session > LONGEST_SESSION:
            raise ConfigError(
                f"session is at most {LONGEST_SESSION:,.0f} seconds, which is a week: a login that "
                "lasts for ever is a key."
            )
        check_choices(self, log_level=Level, log_format=LogFormat)
        if isinstance(self.redact, str) or not all(self.redact):
            raise ConfigError("redact must be a list of names of arguments.")
        try:
            _ = self.limit
        except InvalidOption as error:
            raise ConfigError(str(error)) from None

    @property
    def limit(self) -> Limit | None:
        """`rate` as a limit, or None without one; all that it allows may come at once."""
        if not self.rate:
            return None
        return Limit(rate=self.rate, burst=Limit(rate=self.rate).lane("").starts)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it. Of names, only localhost is sure to be so."""
        address = _address(self.host)
        return self.host.lower() == "localhost" if address is None else address.is_loopback

    @property
    def has_tls(self) -> bool:
        return bool(self.tls_cert)

    def _check_place(self) -> None:
        named = bool(self.host) and not set(self.host) & set(":/[] \t\r\n")
        if not named and _address(self.host) is None:
            raise ConfigError(
                f"host must be a name or an address without a port, as in 127.0.0.1 or ::1; "
                f"got {self.host!r}."
            )
        for name, least in (("http_port", 0), ("grpc_port", NO_PORT)):
            if not least <= getattr(self, name) <= LAST_PORT:
                raise ConfigError(f"{name} must be a number from {least} to {LAST_PORT}.")
        if self.http_port == self.grpc_port > 0:
            raise ConfigError("http_port and grpc_port must differ: each API has its own port.")

    def _check_pages(self) -> None:
        if self.root_path and not re.fullmatch(r"(/[\w.~-]+)+", self.root_path, re.ASCII):
            raise ConfigError(
                f"root_path must be a path without a slash at its end, as in /windlass; got "
                f"{self.root_path!r}."
            )
        for each in self.frame_ancestors:
            if each != "self" and not re.fullmatch(r"https?://[\w.*:\[\]-]+", each, re.ASCII):
                raise ConfigError(
                    f"frame_ancestors must be self or origins, as in https://wiki.example.org; "
                    f"got {each!r}."
                )

    def _check_proxies(self) -> None:
        for each in self.trusted_proxies:
            try:
                ip_network(each, strict=False)
            except ValueError:
                raise ConfigError(
                    f"trusted_proxies must be addresses or networks, as in 10.0.0.7 or "
                    f"10.0.0.0/8; got {each!r}."
                ) from None

    def _check_tls(self) -> None:
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ConfigError("tls_cert and tls_key belong together: give both or none.")
        if self.tls_client_ca and not self.tls_cert:
            raise ConfigError("tls_client_ca needs tls_cert and tls_key: give these too.")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None
