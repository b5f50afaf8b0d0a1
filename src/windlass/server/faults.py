"""What a caller is told of an error: one table for HTTP and gRPC.

The caller's faults are 4xx and have the error's own sentence. Of what went wrong inside, the store
and its address for one, a caller learns nothing; the log has it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .. import errors


class Fault(NamedTuple):
    """An error as it is answered. `code` is gRPC's number of the status."""

    status: int
    code: int
    name: str
    sentence: str
    after: float | None = None
    """when to try again, in seconds"""

    @property
    def is_ours(self) -> bool:
        return self.status >= 500


class Malformed(errors.UsageError):
    """The request cannot be read."""


class TooLarge(errors.UsageError):
    """The request has more than a server takes at a time."""


class HeadTooLarge(errors.UsageError):
    """The head of the request has more than a server takes."""


class TooSlow(errors.UsageError):
    """The request took too long to arrive."""


class WrongType(errors.UsageError):
    """The request is in a format that is not read here."""


class NotThere(errors.UsageError):
    """There is nothing at this address."""


class NotSo(errors.UsageError):
    """What is at this address cannot be used in this way."""


class Late(errors.WindlassError):
    """The request took too long to be carried out."""


class Draining(errors.WindlassError):
    """The server is about to stop; another one may answer."""


class TooMany(errors.WindlassError):
    """The server has as many connections as it takes; another one may answer."""


class ServerError(errors.WindlassError):
    """The server failed; its log says why."""


INVALID, NOT_FOUND, EXISTS, DENIED, EXHAUSTED = 3, 5, 6, 7, 8
PRECONDITION, ABORTED, UNIMPLEMENTED, INTERNAL = 9, 10, 12, 13
DEADLINE, UNAVAILABLE, UNAUTHENTICATED = 4, 14, 16

TABLE: Final[tuple[tuple[type[Exception], int, int], ...]] = (
    (Malformed, 400, INVALID),
    (TooLarge, 413, EXHAUSTED),
    (HeadTooLarge, 431, EXHAUSTED),
    (TooSlow, 408, DEADLINE),
    (WrongType, 415, INVALID),
    (NotThere, 404, NOT_FOUND),
    (NotSo, 405, UNIMPLEMENTED),
    (Late, 504, DEADLINE),
    (Draining, 503, UNAVAILABLE),
    (TooMany, 503, UNAVAILABLE),
    (ServerError, 500, INTERNAL),
    (errors.Unauthenticated, 401, UNAUTHENTICATED),
    (errors.Forbidden, 403, DENIED),
    (errors.Throttled, 429, EXHAUSTED),
    (errors.UnknownJob, 404, NOT_FOUND),
    (errors.UnknownSchedule, 404, NOT_FOUND),
    (errors.ConfigError, 404, PRECONDITION),
    (errors.WrongState, 409, PRECONDITION),
    (errors.MoveRefused, 409, PRECONDITION),
    (errors.LeaseLost, 409, ABORTED),
    (errors.PayloadTooLarge, 413, INVALID),
    (errors.UnknownTask, 422, INVALID),
    (errors.UsageError, 422, INVALID),
    (errors.CorruptRecord, 422, PRECONDITION),
    (errors.StoreUnavailable, 503, UNAVAILABLE),
)
"""The first that fits counts."""

UNEXPECTED: Final = Fault(
    500, INTERNAL, "ServerError", "The server failed to carry this out; its log says why."
)
OUT_OF_REACH: Final = "The store does not answer; try again in a moment."


def fault_of(error: BaseException) -> Fault:
    """How to answer an error."""
    for kind, status, code in TABLE:
        if isinstance(error, kind):
            # That of a class of a user's own would say nothing to a client.
            name = next(each.__name__ for each in type(error).__mro__ if each in KINDS)
            said = OUT_OF_REACH if kind is errors.StoreUnavailable else str(error)
            return Fault(status, code, name, said, getattr(error, "after", None))
    return UNEXPECTED


def status_of(kind: type[Exception]) -> int:
    """The HTTP status of a class of errors."""
    return next(status for each, status, _ in TABLE if issubclass(kind, each))


_OURS: Final = [each for each in vars(errors).values() if isinstance(each, type)]

KINDS: Final = tuple(
    kind
    for kind in dict.fromkeys([row[0] for row in TABLE] + _OURS)
    if issubclass(kind, tuple(row[0] for row in TABLE))
)
"""The errors that an answer can be about."""
