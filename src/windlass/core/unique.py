"""Unique keys: how long a job holds its key, and what becomes of one that finds it held. Pure.

A live job holds its key until it is finished. By `Spec.unique_for` it may hold it only until its
first claim, which takes the key off the job; or for so long from the insert, whatever becomes of
it, unless it is cancelled or deleted. Such a window is the store's affair, and the key not on the
job.

A new job whose key is held may be refused. One that replaces the holder is reported as a duplicate,
and the holder is from now on as if it had been inserted now in the place of the new one, at the
end of the line, but for its id, its queue and those who depend on it; if it waits for parents, it
goes on waiting for them. One that follows is blocked by the holder, runs however that ends, and
takes the key.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import Enum, auto
from hashlib import blake2b
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

from ..errors import InvalidOption, shown
from .duration import positive_ms
from .model import Conflict
from .states import FINISHED, State

MAX_UNIQUE_LENGTH: Final = 255
RAISE: Final = "raise"

WITHIN: Final = "\x1f"
"""Between a queue and a key that counts within that queue alone."""

Unique: TypeAlias = str | Literal[True] | Callable[..., str]
"""A key; True, for one that stands for the task and its arguments; or what makes one of these."""

OnConflict: TypeAlias = Conflict | Literal["raise"]
"""What becomes of a job whose key is held, as users say it; to raise is the caller's affair, and
for a store it is the same as to reject."""

UniqueFor: TypeAlias = Literal["finished", "started"] | float | timedelta
"""How long a job holds its key, as users say it."""

UNTIL_FINISHED: Final = 0
UNTIL_STARTED: Final = -1
"""How long a job holds its key, as `Spec.unique_for` has it; above 0 it is so many milliseconds
from the insert, whatever has become of the job, unless it was cancelled or deleted."""


class Clash(Enum):
    """What becomes of a new job whose key is held."""

    REFUSED = auto()
    """the holder stands for it"""
    REPLACES = auto()
    """the holder, which stays the job that it is, is to do what the new one was to do"""
    FOLLOWS = auto()
    """it waits until the holder has ended, and holds the key"""


class Holder(Protocol):
    """What is asked of a job that holds a key."""

    @property
    def state(self) -> str: ...


def clash(conflict: Conflict, holder: Holder | None) -> Clash:
    """What becomes of a new job; a holder that is gone or finished holds by its window only."""
    if conflict == "reject" or holder is None or holder.state in FINISHED:
        return Clash.REFUSED
    if holder.state == State.ACTIVE:
        return Clash.FOLLOWS if conflict == "last" else Clash.REFUSED
    return Clash.REPLACES


def scoped_unique(queue: str, key: str) -> str:
    """The key of a job whose producer is bound to queues: one of this queue alone.

    Nobody else can name it, for what is between the two parts is in no key that is given.
    """
    begin = f"{queue}{WITHIN}"
    if key.startswith(begin):
        return key
    if len(begin) + len(key) > MAX_UNIQUE_LENGTH:
        key = blake2b(key.encode(), digest_size=20).hexdigest()
    return begin + key


def shown_unique(key: str | None) -> str | None:
    """A key as its producer has named it."""
    return key if key is None else key.rpartition(WITHIN)[2]


def checked_unique(value: Unique | None) -> Unique | None:
    if value is None or value is True or callable(value):
        return value
    return checked_key(value)


def checked_key(value: Any) -> str:
    """A unique key, or `InvalidOption` with the reason why it cannot be one."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_UNIQUE_LENGTH:
        raise InvalidOption(f"unique is a text of 1 to {MAX_UNIQUE_LENGTH} characters.")
    if not value.isprintable():
        raise InvalidOption("unique has printable characters only.")
    return value


def checked_unique_for(value: UniqueFor) -> int:
    match value:
        case "finished":
            return UNTIL_FINISHED
        case "started":
            return UNTIL_STARTED
        case str():
            raise InvalidOption(
                f"unique_for is finished, started, or a number of seconds; got {shown(value)}."
            )
    return positive_ms(value, "unique_for")


def checked_conflict(value: str) -> OnConflict:
    if value != RAISE and value not in get_args(Conflict):
        raise InvalidOption(f"on_conflict is reject, replace, last or raise; got {shown(value)}.")
    return value  # type: ignore[return-value]
