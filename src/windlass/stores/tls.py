"""TLS as a URL asks for it: whom to trust, and with what to prove who we are."""

from __future__ import annotations

import ssl
from typing import Final, NamedTuple

from ..errors import InvalidOption
from .options import Options


class Names(NamedTuple):
    """The settings of a URL that name PEM files."""

    ca: str = "ca"
    cert: str = "cert"
    key: str = "key"


FILES: Final = Names()


def context(options: Options, files: Names = FILES) -> ssl.SSLContext:
    """A context for those who speak TLS; `verify=no` trusts everybody, where that is a setting."""
    verify = options.get("verify", "yes")
    if verify not in ("yes", "no"):
        raise InvalidOption(f"verify is yes or no in {options.of}.")
    if files.key in options and files.cert not in options:
        raise InvalidOption(
            f"{files.key} in {options.of} needs {files.cert}, the certificate that it belongs to."
        )
    made = ssl.create_default_context()
    if verify == "no":
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    load(made, options, files)
    return made


def load(made: ssl.SSLContext, options: Options, files: Names) -> None:
    """Read the files that a URL names; `InvalidOption` if they cannot be used."""
    try:
        if files.ca in options:
            made.load_verify_locations(options[files.ca])
        if files.cert in options:
            # A key with a passphrase must fail here, not ask for it on the terminal.
            made.load_cert_chain(options[files.cert], options.get(files.key), password=lambda: b"")
    except OSError as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        named = " and ".join(f"{name}={options[name]}" for name in files if name in options)
        raise InvalidOption(
            f"{named} in {options.of} cannot be used ({reason}): name PEM files that this process "
            "may read and that belong together."
        ) from None
