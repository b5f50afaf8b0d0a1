"""What the driver raises, and what it means: try again, or tell the caller in one sentence."""

from __future__ import annotations

import asyncio
import os
import ssl
from typing import Final

import asyncpg
from asyncpg import exceptions as pg

from ...errors import InvalidOption, SchemaMismatch, StoreError, StoreUnavailable, WindlassError

CONFLICTS: Final = (pg.DeadlockDetectedError, pg.SerializationError, pg.UniqueViolationError)
"""Two transactions were in each other's way: nothing was done, and a new try sees what is new."""

LOST: Final = (
    OSError,
    asyncio.IncompleteReadError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the driver's own state, after the server ended the connection
    pg.PostgresConnectionError,
    pg.AdminShutdownError,
    pg.CrashShutdownError,
    pg.IdleSessionTimeoutError,
    pg.IdleInTransactionSessionTimeoutError,
    pg.ReadOnlySQLTransactionError,  # a primary that became a replica: another one is to be found
)
"""The connection is of no more use; what was sent last may have been carried out."""

BUSY: Final = (
    pg.CannotConnectNowError,
    pg.InsufficientResourcesError,
    pg.QueryCanceledError,
    pg.LockNotAvailableError,
    pg.PostgresSystemError,
)
"""The server could not, and may be able to later. Nothing was done."""


def is_final(error: BaseException) -> bool:
    """Whether no waiting helps, though it is raised like the loss of a connection."""
    return isinstance(
        error, pg.ClientConfigurationError | ssl.SSLCertVerificationError
    ) or _without_tls(error)


def _without_tls(error: BaseException) -> bool:
    # The driver has no class for it.
    return isinstance(error, ConnectionError) and "rejected SSL upgrade" in str(error)


class InDoubt(Exception):
    """The connection went while a transaction was being committed: only the server knows."""

    def __init__(self, number: str, answer: object) -> None:
        super().__init__(f"transaction {number}")
        self.number = number
        self.answer = answer


def reason(error: BaseException) -> str:
    """Why something failed, in the server's or the system's words."""
    if isinstance(error, pg.PostgresError):
        return str(error.args[0]).rstrip(".")
    if isinstance(error, ssl.SSLCertVerificationError):
        return error.verify_message.rstrip(".")
    # The number of an error of TLS is none of the system's.
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)
    if isinstance(error, TimeoutError):
        return "no answer in time"
    # What stands on further lines is advice for users of the driver.
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")


def unavailable(error: BaseException, where: str, patience: float) -> StoreUnavailable:
    """What to tell the caller when a passing fault outlasted all patience."""
    if isinstance(error, pg.LockNotAvailableError):
        return StoreUnavailable(
            f"Another transaction on {where} has not ended for too long and holds what this call "
            f"needs, such as a unique key, an id or a lane ({reason(error)}): end it, and try "
            "again.",
            busy=True,
        )
    return StoreUnavailable(
        f"PostgreSQL at {where} did not answer as it should for {patience:g} s: "
        f"{reason(error)}; see that it runs and can be reached from here, then try again."
    )


def refusal(error: BaseException, where: str) -> WindlassError:
    """What to tell the caller of a fault that does not pass by itself."""
    text = reason(error)
    match error:
        case pg.InvalidPasswordError() | pg.InvalidAuthorizationSpecificationError():
            return StoreError(
                f"PostgreSQL at {where} refused the user name or the password ({text}): correct "
                "the URL; special characters in them must be percent-encoded."
            )
        case pg.InvalidCatalogNameError():
            return StoreError(f"PostgreSQL at {where}: {text}; create it or correct the URL.")
        case pg.InsufficientPrivilegeError():
            return StoreError(
                f"PostgreSQL at {where} does not allow this user enough: {text}; grant it, or "
                "let another user run `windlass migrate`."
            )
        case pg.UndefinedTableError() | pg.UndefinedColumnError() | pg.InvalidSchemaNameError():
            return SchemaMismatch(
                f"The tables of Windlass are missing or of another version ({text}): "
                "run `windlass migrate`."
            )
        case pg.UndefinedObjectError() if "configuration parameter" in text:
            # Asked for with the connection: there is no telling a version afterwards.
            return StoreError(
                f"PostgreSQL at {where} is too old ({text}): windlass needs 13 or newer."
            )
        case pg.DataError() | UnicodeEncodeError():
            return InvalidOption(f"PostgreSQL cannot store this: {text}.")
        case pg.ClientConfigurationError():
            return InvalidOption(f"The PostgreSQL URL cannot be used: {text}.")
        case ssl.SSLCertVerificationError():
            return StoreError(
                f"The certificate of PostgreSQL at {where} is not trusted ({text}): name its "
                "authority with sslrootcert=FILE, and the host as the certificate does."
            )
        case ConnectionError() if _without_tls(error):
            return StoreError(
                f"PostgreSQL at {where} does not speak TLS: turn it on there, or leave sslmode "
                "out of the URL."
            )
    return StoreError(f"PostgreSQL at {where} refused: {text}.")
