"""A word about keys that go over a network as they are."""

from __future__ import annotations

import logging
from ipaddress import ip_address

from .url import Settings

log = logging.getLogger("windlass")

_told: set[str] = set()


def warn_of_plain(settings: Settings) -> None:
    """Warn, once for each server, that others can read the key on its way to another machine."""
    address = settings.address
    if settings.key is None or settings.tls is not None or _is_here(settings.host):
        return
    if address not in _told:
        _told.add(address)
        log.warning(
            "the API key for %s goes there without TLS, for everybody in between to read: use "
            "https:// or grpcs://",
            address,
        )


def _is_here(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
