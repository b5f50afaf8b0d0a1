"""What can come back instead of an answer, and what it means for the caller.

A connection hands faults over as values, not as exceptions: most callers look at a reply
anyway, and a fault that nobody waits for any more then makes no noise.
"""

from __future__ import annotations

import os
import re
from typing import Final

from ...errors import StoreError, StoreUnavailable
from .url import Address

PASSING: Final = frozenset(
    {
        "LOST",
        "LOADING",
        "MASTERDOWN",
        "READONLY",
        "CLUSTERDOWN",
        "TRYAGAIN",
        "BUSY",
        "NOREPLICAS",
        "MISCONF",
        "FULL",
    }
)
"""Faults that pass by themselves: none of these commands was carried out, a lost one perhaps."""

# Redis 6.2 wraps what a command inside a script answered, as a script does that hands it on.
_INSIDE: Final = re.compile(r"user_script: ?\d+: -?([A-Z]+) ")

# What a command inside a script may not do comes without a code of its own.
_FORBIDDEN: Final = re.compile(r"ACL failure in script|The user executing the script can't")


class Lost(Exception):
    """No reply will come; `sent` tells whether the command may have been carried out."""

    def __init__(self, where: object, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.where = where
        self.reason = reason
        self.sent = sent


class Mistyped(StoreError):
    """A key is not of the type that it should be; who knows the keys of the call names it."""


def reason(error: BaseException) -> str:
    """Why something failed, in the system's words and without its error numbers."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)  # asyncio puts other words there
    said = error.strerror if isinstance(error, OSError) else ""
    return said or str(error) or type(error).__name__


def code(fault: Exception) -> str:
    """The first word of an error reply, which is what Redis means to be told apart."""
    if isinstance(fault, Lost):
        return "LOST"
    text = str(fault)
    word = text.partition(" ")[0]
    if word != "ERR":
        return word
    if text.startswith("ERR max number of clients"):
        return "FULL"
    inside = _INSIDE.search(text)
    if inside and inside[1] != "ERR":
        return inside[1]
    return "NOPERM" if _FORBIDDEN.search(text) else word


def target(fault: Exception, asked: Address) -> Address:
    """The node that a MOVED or ASK names; one without a host means the host that was asked."""
    host, _, port = str(fault).split(" ")[2].rpartition(":")
    return Address(asked.host if host in ("", "?") else host, int(port))


def refusal(fault: Exception, where: object) -> StoreError:
    """What to tell the caller of a fault that does not pass by itself."""
    kind, text = code(fault), str(fault)
    if kind == "OOM":
        return StoreError(
            "Redis is out of memory (maxmemory); nothing was stored: free some or raise the limit."
        )
    if kind == "NOAUTH":
        return StoreError(
            f"Redis at {where} asks for a password: put it into the URL, "
            "as in redis://user:password@host."
        )
    if kind == "WRONGPASS":
        return StoreError(
            f"Redis at {where} refused the user name or the password: correct the URL; "
            "special characters in them must be percent-encoded."
        )
    if kind == "NOPERM":
        return StoreError(
            f"Redis at {where} does not allow this user enough: {text}; grant it with ACL SETUSER."
        )
    if kind == "WRONGTYPE":
        return Mistyped(f"Redis at {where} refused: {text}")
    return StoreError(f"Redis at {where} refused: {text}")


def unavailable(fault: Exception, where: object, patience: float) -> StoreUnavailable:
    """What to tell the caller when a passing fault outlasted all patience."""
    return StoreUnavailable(
        f"Redis at {where} did not answer as it should for {patience:g} s: {fault}; "
        "see that it runs and can be reached from here, then try again."
    )
