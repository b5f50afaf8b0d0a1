"""Where a request comes from: browsers carry those of other pages, too.

A server without keys trusts its own machine. It answers only what is addressed to this machine by
name (a page elsewhere can have its own name point here), and nothing that a page of another origin
asks for. Where a cookie tells who calls, which a browser sends along whoever asks, a change needs a
sign that it is our own page that asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from ...config import ServerSettings
from ...errors import Forbidden

SAFE: Final = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""


def refuse_foreign(settings: ServerSettings, headers: Mapping[bytes, bytes]) -> None:
    """Raise `Forbidden` for what may be the doing of a page of another origin."""
    if is_foreign(headers):
        raise Forbidden("A server without API keys takes no requests from pages of other origins.")
    if settings.is_local and not _is_here(headers.get(b"host", b"").decode("latin-1")):
        raise Forbidden(
            "A server without API keys is addressed as localhost; this request named another host."
        )


def refuse_forged(headers: Mapping[bytes, bytes]) -> None:
    """Raise `Forbidden` for a change that does not come from a page of ours."""
    if not _is_own(headers):
        raise Forbidden(
            "Who is logged in by a cookie makes changes from the dashboard's own pages only; "
            "programs give an API key."
        )


def is_foreign(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a page of another origin is behind a request, as far as a browser says so."""
    if headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"):
        return True
    origin = headers.get(b"origin")
    return origin is not None and _place(origin) not in _hosts(headers)


def _is_own(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser says that the request is by a page of this origin.

    Over plain HTTP between machines they say only which origin it is.
    """
    site = headers.get(b"sec-fetch-site")
    if site is not None:
        return site == b"same-origin"
    origin = headers.get(b"origin")
    return origin is not None and _place(origin) in _hosts(headers)


def _hosts(headers: Mapping[bytes, bytes]) -> set[str]:
    """What the client calls this host. No page can have a browser lie about it."""
    host = headers.get(b"host")
    return {host.decode("latin-1").lower()} if host else set()


def _place(origin: bytes) -> str | None:
    """The host and the port of an origin; None of one that has none, or cannot be read."""
    try:
        return urlsplit(origin.decode("latin-1")).netloc.lower() or None
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
