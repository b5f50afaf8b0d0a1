"""What HTTPS is served with."""

from __future__ import annotations

import ssl
from typing import Final

from ...config import ServerSettings
from ...errors import ConfigError

CIPHERS: Final = "ECDHE+AESGCM:ECDHE+CHACHA20"
"""Of TLS 1.2; those of TLS 1.3 are all good."""


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
