"""Who asks, and by which address, where a proxy stands between.

A header says whatever its sender likes. So `X-Forwarded-For`, `-Proto` and `-Host` count only on
connections from addresses that were named, and no request keeps them: what they say, if it is
believed, is where the app looks anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any, Final

Header = tuple[bytes, bytes]

PREFIX: Final = b"x-forwarded-"
SCHEMES: Final = (b"http", b"https")


class Networks:
    """Addresses and networks that were named."""

    def __init__(self, names: Sequence[str]) -> None:
        self._networks = [ip_network(name, strict=False) for name in names]

    def __contains__(self, address: str) -> bool:
        if not self._networks:
            return False
        found = read_address(address)
        return found is not None and any(found in network for network in self._networks)


def read_address(text: str) -> IPv4Address | IPv6Address | None:
    """An address, with or without a port; None of what is none."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, IPv6Address) else None
    return mapped or found


def client_of(headers: Sequence[Header], nearest: str, proxies: Networks) -> str:
    """The client behind proxies: the address nearest to us that is none of theirs.

    Further to the left stands what the client itself may have written.
    """
    values = [value for name, value in headers if name == b"x-forwarded-for"]
    chain = b",".join(values).decode("latin-1").split(",")
    for text in reversed(chain):
        found = read_address(text)
        if found is None:
            break
        nearest = str(found)
        if nearest not in proxies:
            break
    return nearest


def without(headers: list[Header]) -> list[Header]:
    """The headers without those that only a proxy may set."""
    return [each for each in headers if not each[0].startswith(PREFIX)]


def apply(scope: Any, headers: list[Header], proxies: Networks) -> list[Header]:
    """Note in the scope what a proxy that is trusted says; the headers that are left."""
    host, _ = scope["client"]
    client = client_of(headers, host, proxies)
    if client != host:
        scope["client"] = (client, 0)
    fields = dict(headers)
    scheme = _last(fields.get(b"x-forwarded-proto", b"")).lower()
    if scheme in SCHEMES:
        scope["scheme"] = scheme.decode()
    left = without(headers)
    named = _last(fields.get(b"x-forwarded-host", b""))
    if named:
        left = [(b"host", named), *(each for each in left if each[0] != b"host")]
    return left


def _last(value: bytes) -> bytes:
    """What the proxy next to us has said, where each adds its own."""
    return value.rpartition(b",")[2].strip()
