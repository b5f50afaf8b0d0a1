"""What the URL of a server says: where it is, with which key, and how long to wait for it.

No error shows the URL or a piece of its front part: a key may be in it.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, unquote

import msgspec

from ...errors import InvalidOption
from ..options import Options
from ..tls import Names, context

SCHEMES: Final[Mapping[str, tuple[bool, int]]] = {
    "http": (False, 80),
    "https": (True, 443),
    "grpc": (False, 9090),
    "grpcs": (True, 9090),
}
"""Each with whether it asks for TLS, and its port if none is given."""

KEY_VARIABLE: Final = "WINDLASS_API_KEY"
_PLACE: Final = re.compile(
    r"(?:\[(?P<v6>[0-9a-fA-F:.]+)\]|(?P<name>[\w.-]+))(?::(?P<port>\d{1,5}))?"
)
FILES: Final = Names(key="cert_key")
OPTIONS: Final = ("patience", "timeout", *FILES)


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a URL came to. Times are in seconds."""

    scheme: str
    host: str
    port: int
    prefix: str = ""
    """what comes before the paths of the API, without a slash at its end"""
    key: str | None = None
    patience: float = 5.0
    timeout: float = 10.0
    tls: ssl.SSLContext | None = None
    files: Mapping[str, str] = {}
    """those of TLS by the names of their settings"""

    @property
    def address(self) -> str:
        """Host and port, for people as well; without the key."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __repr__(self) -> str:
        return f"<Settings {self.scheme}://{self.address}{self.prefix}>"


def parse(url: str) -> Settings:
    """The settings of a URL; `InvalidOption` for what it cannot say."""
    scheme, _, rest = url.partition("://")
    secure, usual = SCHEMES[scheme]
    if "#" in url:
        raise InvalidOption("The URL of a server has no # in it; write %23 in a key or a path.")
    front, _, query = rest.partition("?")
    authority, _, path = front.partition("/")
    login, _, place = authority.rpartition("@")
    host, port = _place(place)
    if scheme.startswith("grpc") and path:
        raise InvalidOption("A gRPC URL has no path: grpc://host:9090.")
    options = Options(query, OPTIONS, "a server's URL")
    return Settings(
        scheme=scheme,
        host=host,
        port=usual if port is None else port,
        prefix=f"/{path.rstrip('/')}".rstrip("/"),
        key=checked_key(_key(login) or os.environ.get(KEY_VARIABLE, "").strip() or None),
        patience=options.seconds("patience", 5.0),
        timeout=options.seconds("timeout", 10.0, least=0.05),
        tls=_tls(options, secure),
        files={name: options[name] for name in FILES if name in options},
    )


def with_key(url: str, key: str) -> str:
    """A server's URL with the key in it."""
    scheme, _, rest = url.partition("://")
    if scheme not in SCHEMES:
        raise InvalidOption(
            f"key is for a server, as in https://host; {scheme or 'this'}:// has none."
        )
    authority, slash, path = rest.partition("/")
    if "@" in authority:
        raise InvalidOption("Give the key by key=… or in the URL, not both.")
    checked_key(key)
    return f"{scheme}://:{quote(key, safe='')}@{authority}{slash}{path}"


def checked_key(key: str | None) -> str | None:
    """A key that can be sent in a header; whether it counts, the server says."""
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise InvalidOption(
            "The API key has characters that no key has: a key is like wl_…, in one line."
        )
    return key


def _key(login: str) -> str:
    username, separator, key = login.partition(":")
    if username or (separator and not key):
        raise InvalidOption("A server's URL has the key as its password: https://:KEY@host.")
    return unquote(key)


def _place(text: str) -> tuple[str, int | None]:
    found = _PLACE.fullmatch(text)
    if found is None or not 0 < int(found["port"] or 1) < 65536:
        raise InvalidOption(
            "A server's URL names a host, and a port from 1 to 65535 if it has another than "
            "usual: https://host, http://host:8080 or http://[::1]:8080; special characters in a "
            "key must be percent-encoded."
        )
    return found["v6"] or found["name"], int(found["port"]) if found["port"] else None


def _tls(options: Options, secure: bool) -> ssl.SSLContext | None:
    """There is no way to trust everybody: whoever is in between would get the key."""
    if secure:
        return context(options, FILES)
    for name in FILES:
        if name in options:
            raise InvalidOption(f"{name} needs TLS: write https:// or grpcs://.")
    return None
