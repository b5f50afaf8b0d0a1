"""What comes back instead of an answer, and what it means for the caller.

A server tells an error by the name of its class, so that it is raised here as it was there. What
else may answer at such an address, a balancer or another program, has only a status.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from ... import errors
from ...errors import StoreError, StoreUnavailable, Throttled, UsageError, Veto, WindlassError

KINDS: Final[Mapping[str, type[WindlassError]]] = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type)
    and issubclass(kind, WindlassError)
    and not issubclass(kind, errors.Directive)
}
"""The errors that a server can tell of, by name."""

PASSING: Final = frozenset({429, 502, 503, 504})
"""Too many requests, or a server that is about to stop, to start, or too busy."""


class Fault(NamedTuple):
    """An error to raise, unless it passes before patience ends."""

    error: WindlassError
    passing: bool
    after: float = 0.0
    """seconds before which it does not pass"""


class Problem(msgspec.Struct, frozen=True):
    """As much of a problem document as is needed here."""

    detail: str
    error: str = ""
    retry_after: float | None = None


_decode: Final = msgspec.json.Decoder(Problem).decode


def told(status: int, body: bytes, where: str) -> Fault:
    """What a server said instead of an answer."""
    try:
        problem = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Fault(_unexplained(status, where), status in PASSING)
    after = problem.retry_after or 0.0
    return Fault(_raised(status, problem), status in PASSING, after)


def _raised(status: int, problem: Problem) -> WindlassError:
    """The error as it was raised there; one that is unknown here, by whose fault it was."""
    kind = KINDS.get(problem.error, UsageError)
    if status >= 500 and not issubclass(kind, StoreError):
        kind = StoreUnavailable
    if issubclass(kind, Throttled):
        return kind(problem.detail, after=problem.retry_after or 1.0)
    if issubclass(kind, Veto):
        return kind(problem.detail.removeprefix(str(Veto("\0")).partition("\0")[0]))
    return kind(problem.detail)


def _unexplained(status: int, where: str) -> WindlassError:
    if status in PASSING or status >= 500:
        return StoreUnavailable(
            f"The server at {where} answered with status {status}; see its log, then try again."
        )
    return StoreError(
        f"What answers at {where} is no Windlass server, or its API has another path (status "
        f"{status}): check the URL."
    )


def lost(error: Exception, where: str) -> Fault:
    """What a request came to that got no answer."""
    cause: BaseException = getattr(error, "certificate_error", error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        said = f"{cause.verify_message or cause}".rstrip(".")
        return Fault(
            StoreError(
                f"The certificate of the server at {where} cannot be trusted: {said}; name its "
                "authority by ?ca=FILE, and the host as the certificate does."
            ),
            passing=False,
        )
    return Fault(
        StoreUnavailable(
            f"The server at {where} did not answer as it should: {_reason(error)}; see that it "
            "runs and can be reached from here, then try again."
        ),
        passing=True,
    )


def unreadable(where: str, reason: object) -> StoreError:
    """What to tell of an answer that this release cannot read."""
    said = str(reason).rstrip(".")
    return StoreError(
        f"The server at {where} answered what this release cannot read: {said}; upgrade Windlass "
        "here."
    )


def _reason(error: Exception) -> str:
    """Why something failed, in the system's words and without its error numbers."""
    inner = getattr(error, "os_error", error)
    if isinstance(inner, TimeoutError) and not isinstance(inner, ConnectionError):
        return "it took too long"
    if isinstance(inner, ConnectionError) and inner.errno:
        return os.strerror(inner.errno)  # asyncio puts other words there
    said = inner.strerror if isinstance(inner, OSError) else ""
    return (said or str(inner) or type(inner).__name__).rstrip(".")
