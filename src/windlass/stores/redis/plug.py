"""The way to a server on plain sockets: all its addresses in turn, within one limit of time."""

from __future__ import annotations

import socket
import ssl
from time import monotonic
from typing import Any, Final

from .connection import untrusted
from .dial import in_turn
from .fault import Lost, reason
from .io import tune
from .limits import at_most
from .login import Login
from .url import Address

FIRST_TURN: Final = 1.0
"""Seconds for each address at first: the kernel repeats a lost first packet ever more seldom, so
after a network cut a new attempt gets through before an old one does. Then twice as many."""


def plug(address: Address, login: Login) -> socket.socket:
    """A socket that is connected, with TLS if it is asked for. The name is looked up by the system,
    which has a limit of its own."""
    until = monotonic() + at_most(login.connect_timeout)
    try:
        plain = _connected(address, until)
        try:
            tune(plain)
            plain.settimeout(_left(until))
            tls = login.tls
            return tls.wrap_socket(plain, server_hostname=address.host) if tls else plain
        except BaseException:
            plain.close()
            raise
    except ssl.SSLCertVerificationError as error:
        raise untrusted(error, address) from None
    except OSError as error:
        raise Lost(address, reason(error), sent=False) from None


def _connected(address: Address, until: float) -> socket.socket:
    if address.path:
        return _attempt(socket.AF_UNIX, address.path, _left(until))
    found = in_turn(socket.getaddrinfo(*address, type=socket.SOCK_STREAM))
    turn = FIRST_TURN
    while True:
        for n, (family, _, _, _, where) in enumerate(found, 1):
            try:
                return _attempt(family, where, min(turn, _left(until)))
            except TimeoutError:
                if monotonic() >= until:
                    raise
            except OSError:
                if n == len(found):
                    raise
        turn *= 2


def _attempt(family: int, where: Any, seconds: float) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        made.connect(where)
    except BaseException:
        made.close()
        raise
    return made


def _left(until: float) -> float:
    """Never nothing, which would mean not to wait for the system at all."""
    return max(until - monotonic(), 0.01)
