"""What HTTPS is served with."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final

from ...config import ServerSettings
from ...errors import ConfigError

CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2; those of TLS 1.3 are all good."""


HEADER: Final = 5
"""Bytes before a record, the last two of which are how long it is."""
LONGEST_HELLO: Final = 4 * 1024
"""Of a greeting that is longer, the rest is waited for with TLS under way."""


async def has_hello(made: socket.socket) -> None:
    """Wait until a client has greeted, or has left; what it sent stays with the system.

    Until then a connection costs next to nothing: with TLS it costs some 70 KiB.
    """
    wanted = HEADER
    while True:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wanted)
        await _readable(made)
        head = made.recv(HEADER, socket.MSG_PEEK)
        if len(head) < HEADER or wanted > HEADER:
            break
        wanted = min(HEADER + int.from_bytes(head[3:], "big"), LONGEST_HELLO)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)


async def _readable(made: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    there = loop.create_future()
    loop.add_reader(made, _resolve, there)
    try:
        await there
    finally:
        loop.remove_reader(made)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def tls_of(settings: ServerSettings) -> ssl.SSLContext | None:
    """The certificates of the settings; None serves without TLS."""
    if not settings.has_tls:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(CIPHERS)
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key)
        if settings.tls_client_ca:
            context.load_verify_locations(settings.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ValueError) as error:
        # Of a file that is no certificate OpenSSL has nothing to say that people understand.
        said = error.strerror if isinstance(error, FileNotFoundError) else str(error)
        files = [settings.tls_cert, settings.tls_key, settings.tls_client_ca]
        named = ", ".join(file for file in files if file)
        raise ConfigError(f"TLS cannot be served with {named}: {said}.") from None
    return context
