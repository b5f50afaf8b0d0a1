"""Names and keys as users give them: what every store can hold and people can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ..errors import InvalidOption, shown
from .ids import NOWHERE

MAX_NAME_LENGTH: Final = 128
MAX_KEY_LENGTH: Final = 100

DIVIDERS: Final = frozenset(" ,;")
"""A name with one of these is a slip most of the time: a list, or a sentence."""

Key: TypeAlias = str | Callable[..., str]
"""A text, or a function that makes one of the arguments of a job."""


def checked_name(value: str, what: str) -> str:
    """A queue's or a task's name, or `InvalidOption` with the reason why it cannot be one."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_NAME_LENGTH:
        raise InvalidOption(f"The {what} is a text of 1 to {MAX_NAME_LENGTH} characters.")
    if not value.isprintable() or value != value.strip():
        raise InvalidOption(
            f"The {what} has printable characters only and no blanks at its ends; "
            f"got {shown(value)}."
        )
    return value


def checked_queue(value: str) -> str:
    """The name of a queue for new jobs; what divides a list of names cannot be in one."""
    checked_name(value, "name of a queue")
    if value in NOWHERE:
        raise InvalidOption(f"A queue cannot be called {value}: no address can have it.")
    if not DIVIDERS.isdisjoint(value):
        raise InvalidOption(
            f"The name of a queue is one word without commas and semicolons; got {value!r}."
        )
    return value


def checked_text(value: Any, what: str) -> str:
    """A key, or `InvalidOption` with the reason why it cannot be one."""
    if not isinstance(value, str) or not 0 < len(value) <= MAX_KEY_LENGTH:
        raise InvalidOption(
            f"{what} is a text of 1 to {MAX_KEY_LENGTH} characters; got {shown(value)}."
        )
    if not value.isprintable() or value != value.strip():
        raise InvalidOption(
            f"{what} has printable characters only and no blanks at its ends; got {shown(value)}."
        )
    return value


def checked_key(value: Any, what: str) -> Any:
    """A key, what makes one, or none."""
    return value if value is None or callable(value) else checked_text(value, what)
