"""What MySQL's errors mean to us: try again, wait, or tell the user in one sentence."""

from __future__ import annotations

import ssl
from typing import Final

from asyncmy import errors

from ...errors import PayloadTooLarge, SchemaMismatch, StoreError, StoreUnavailable, WindlassError

CONFLICT: Final = frozenset({1020, 1062, 1205, 1213})
"""Another transaction was in the way: changed or duplicate row, lock wait timeout, deadlock."""

LOST: Final = frozenset(
    {0, 1053, 1152, 1158, 1159, 1160, 1161, 1184, 1317, 1927, 2003, 2006, 2013, 2055, 3169, 4031}
)
"""The connection is gone, or is about to be: the server stops, or someone killed it."""

FULL: Final = frozenset({1040, 1203, 1226})
"""No more connections, for anybody or for this user."""

DENIED: Final = frozenset({1044, 1045, 1142, 1143, 1227, 1698, 3118})
READ_ONLY: Final = frozenset({1290, 1792, 1836})
UNKNOWN_DATABASE: Final = 1049
UNKNOWN_TABLE: Final = 1146
TOO_LARGE: Final = frozenset({1153, 1301})

Lost = (errors.OperationalError, errors.InterfaceError, errors.InternalError, OSError, EOFError)


def code(error: BaseException) -> int:
    """The number of an error; -1 where it has none."""
    if isinstance(error, errors.Error) and error.args and isinstance(error.args[0], int):
        return error.args[0]
    return -1


def is_conflict(error: BaseException) -> bool:
    return code(error) in CONFLICT


def is_lost(error: BaseException) -> bool:
    """Whether the connection is of no more use, though the next one may be."""
    if isinstance(error, OSError | EOFError):
        return True
    # The driver has no number for answers that it could not follow.
    unnumbered = isinstance(error, errors.InternalError | errors.InterfaceError)
    return code(error) in LOST or (unnumbered and code(error) == -1)


def is_passing(error: BaseException) -> bool:
    """Whether the same call may do better in a moment."""
    return is_conflict(error) or is_lost(error) or code(error) in FULL


def in_our_words(error: BaseException, where: str) -> WindlassError:
    """The error for the user: what may pass by itself is told from what will not."""
    number, text = code(error), _text(error)
    if is_conflict(error):
        return StoreUnavailable(
            f"Other transactions on {where} were in the way for too long ({text}); try again, and "
            "look for long transactions if it goes on.",
            busy=True,
        )
    if number in FULL:
        return StoreUnavailable(
            f"{where} has no connection left for us ({text}); raise max_connections, or lower "
            "pool=… in the URLs."
        )
    if number in READ_ONLY:
        return StoreUnavailable(
            f"{where} is read-only ({text}); use the URL of the server that takes writes."
        )
    if is_lost(error):
        return StoreUnavailable(f"{where} does not answer ({text}); see that it runs.")
    if number == UNKNOWN_DATABASE:
        return StoreError(f"{where} has no such database ({text}); create it first.")
    if number in DENIED:
        return StoreError(f"{where} refuses this user ({text}); check the URL and the grants.")
    if number == UNKNOWN_TABLE:
        return SchemaMismatch(
            f"The tables are not there or not up to date ({text}); run `windlass migrate`."
        )
    if number in TOO_LARGE:
        return too_large(text)
    return StoreError(f"{where} could not do what was asked: {text}.")


def distrust(error: BaseException, where: str) -> StoreError | None:
    """What to tell if the two sides did not agree on TLS, which no waiting helps."""
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return StoreError(
            f"The certificate of {where} is not trusted ({cause.verify_message.rstrip('.')}): name "
            "its authority with ca=FILE, or write verify=no to trust anybody."
        )
    # The answer to our greeting was a sentence in the clear.
    if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
        return StoreError(
            f"{where} does not speak TLS: turn it on there, or leave tls=on out of the URL."
        )
    return None


def too_large(detail: str) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"A job is larger than one packet to the server may be ({detail}); raise its "
        "max_allowed_packet, or put the data elsewhere and enqueue a reference to it."
    )


def _text(error: BaseException) -> str:
    """What the server or the system said."""
    said = str(error.args[-1]) if error.args else type(error).__name__
    return said.strip().rstrip(".") or type(error).__name__
