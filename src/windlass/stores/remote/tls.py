"""TLS as a URL asks for it: whom to trust, and with what to prove who we are.

There is no way to trust everybody: whoever is in between would get the key.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final

from ...errors import InvalidOption

TLS_OPTIONS: Final = ("ca", "cert", "cert_key")


def context(options: Mapping[str, str], secure: bool) -> ssl.SSLContext | None:
    """The context for a URL with TLS, None for one without."""
    if not secure:
        for name in TLS_OPTIONS:
            if name in options:
                raise InvalidOption(f"{name} needs TLS: write https:// or grpcs://.")
        return None
    if "cert_key" in options and "cert" not in options:
        raise InvalidOption("cert_key in a server's URL needs cert, the certificate it belongs to.")
    made = ssl.create_default_context()
    try:
        if "ca" in options:
            made.load_verify_locations(options["ca"])
        if "cert" in options:
            # A key with a passphrase must fail here, not ask for it on the terminal.
            made.load_cert_chain(options["cert"], options.get("cert_key"), password=lambda: b"")
    except OSError as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise InvalidOption(
            f"ca, cert or cert_key of the server's URL cannot be used ({reason}): name PEM files "
            "that this process may read and that belong together."
        ) from None
    return made
