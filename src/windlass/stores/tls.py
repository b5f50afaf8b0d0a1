"""TLS as a URL asks for it: whom to trust, and with what to prove who we are."""

from __future__ import annotations

import os
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


def context(options: Options, files: Names = FILES, prefix: str = "") -> ssl.SSLContext:
    """A context for those who speak TLS, where these are settings: `verify=no` trusts everybody,
    `check_hostname=no` whoever has a certificate of the right authority, for any name."""
    verify, check = (
        _answer(options, f"{prefix}verify"),
        _answer(options, f"{prefix}check_hostname"),
    )
    if files.key in options and files.cert not in options:
        raise InvalidOption(
            f"{files.key} in {options.of} needs {files.cert}, the certificate that it belongs to."
        )
    made = ssl.create_default_context()
    if not (verify and check):
        made.check_hostname = False
    if not verify:
        made.verify_mode = ssl.CERT_NONE
    load(made, options, files)
    return made


def _answer(options: Options, name: str) -> bool:
    answer = options.get(name, "yes")
    if answer not in ("yes", "no"):
        raise InvalidOption(f"{name} is yes or no in {options.of}.")
    return answer == "yes"


def load(made: ssl.SSLContext, options: Options, files: Names) -> None:
    """Read the files that a URL names; `InvalidOption` if they cannot be used."""
    try:
        if files.ca in options:
            ca = options[files.ca]
            if os.path.isdir(ca):
                # By the hashes of their names, as `openssl rehash` makes it.
                made.load_verify_locations(capath=ca)
            else:
                made.load_verify_locations(ca)
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
