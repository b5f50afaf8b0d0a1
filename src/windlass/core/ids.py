"""Job ids: UUIDv7 by default, so that ids sort by age; or whatever the client gives."""

from __future__ import annotations

import os
import time
from hashlib import blake2b
from random import Random
from typing import Final

from ..errors import InvalidOption

MAX_ID_LENGTH = 128

NOWHERE: Final = frozenset({".", ".."})
"""Parts of a path that browsers and servers take away, whichever way they are written."""

# One of our own: a program that seeds `random` must not get the same ids each time it runs.
_random = Random()
_bits = _random.getrandbits
os.register_at_fork(after_in_child=_random.seed)


def seed(value: int | None = None) -> None:
    """Make the ids that follow depend on the clock and this alone; None undoes it."""
    _random.seed(value)


_stamp = (0, "")
"""A millisecond and how its ids begin: many are made within one."""


def new_id() -> str:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, 74 random bits.

    Random, not secret: `random` is many times quicker than the system's generator and is
    seeded from it.
    """
    global _stamp
    ms = time.time_ns() // 1_000_000
    last, begin = _stamp
    if ms != last:
        begin = f"{ms >> 16:08x}-{ms & 0xFFFF:04x}-7"
        _stamp = (ms, begin)
    # Quicker than an f-string with three format specifiers.
    return begin + "%03x-%04x-%012x" % (_bits(12), _bits(14) | 0x8000, _bits(48))  # noqa: UP031


def checked_id(value: str) -> str:
    """A client-given id, or `InvalidOption` with the reason why it cannot be one."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID_LENGTH:
        raise InvalidOption(f"A job id is a text of 1 to {MAX_ID_LENGTH} characters.")
    if not value.isprintable() or value != value.strip():
        raise InvalidOption("A job id has printable characters only and no blanks at its ends.")
    if value in NOWHERE:
        raise InvalidOption(f"A job id cannot be {value}: no address can have it.")
    return value


def idempotent_id(caller: str, key: str) -> str:
    """The id of the job that a caller stores under a key of its own."""
    return "key-" + blake2b(f"{caller}\0{key}".encode(), digest_size=20).hexdigest()
