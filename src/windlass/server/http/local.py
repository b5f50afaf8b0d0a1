"""A server without keys trusts its own machine; a browser there carries others' requests, too.

So it answers only what is addressed to this machine by name (a page elsewhere can have its own
name point here), and nothing that a page of another origin asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from ...config import ServerSettings
from ...errors import Forbidden


def refuse_foreign(settings: ServerSettings, headers: Mapping[bytes, bytes]) -> None:
    """Raise `Forbidden` for what may be the doing of a page of another origin."""
    if headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
        raise Forbidden("A server without API keys takes no requests from pages of other origins.")
    host = headers.get(b"host", b"").decode("latin-1")
    origin = headers.get(b"origin")
    if origin is not None and _place(origin.decode("latin-1")) != host.lower():
        raise Forbidden("A server without API keys takes no requests from pages of other origins.")
    if settings.is_local and not _is_here(host):
        raise Forbidden(
            "A server without API keys is addressed as localhost; this request named another host."
        )


def _place(origin: str) -> str | None:
    """The host and the port of an origin; None of one that has none, or cannot be read."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _is_here(host: str) -> bool:
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name.lower() in ("localhost", ""):
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
