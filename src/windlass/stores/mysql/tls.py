"""TLS as a URL asks for it: whom to trust, and with what to prove who we are."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from typing import Final

from ...errors import InvalidOption

TLS_OPTIONS: Final = ("tls", "ca", "cert", "key", "verify")


def context(options: Mapping[str, str]) -> ssl.SSLContext | None:
    """The context for a URL with `tls=on`, None for one without."""
    secure = options.get("tls", "off")
    if secure not in ("on", "off"):
        raise InvalidOption("tls is on or off in a MySQL URL.")
    if secure == "off":
        for name in TLS_OPTIONS[1:]:
            if name in options:
                raise InvalidOption(f"{name} in a MySQL URL needs tls=on.")
        return None
    verify = options.get("verify", "yes")
    if verify not in ("yes", "no"):
        raise InvalidOption("verify is yes or no in a MySQL URL.")
    if "key" in options and "cert" not in options:
        raise InvalidOption("key in a MySQL URL needs cert, the certificate that it belongs to.")
    made = ssl.create_default_context()
    if verify == "no":
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    if "ca" in options:
        _load("ca", options["ca"], lambda: made.load_verify_locations(options["ca"]))
    if "cert" in options:
        pair = options["cert"], options.get("key")
        _load("cert and key", " and ".join(filter(None, pair)), lambda: _identify(made, pair))
    return made


def _identify(made: ssl.SSLContext, pair: tuple[str, str | None]) -> None:
    # A key with a passphrase must fail here, not ask for it on the terminal.
    made.load_cert_chain(*pair, password=lambda: b"")


def _load(what: str, files: str, act: Callable[[], None]) -> None:
    try:
        act()
    except OSError as error:
        reason = error.strerror or "it holds none"
        raise InvalidOption(
            f"{what} of the MySQL URL cannot be read from {files} ({reason}): "
            "name PEM files that this process may read."
        ) from None
