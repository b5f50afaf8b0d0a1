"""Where a listing goes on: the state it had come to, and the key of the last job it saw.

Keyset, not offset: jobs that come and go between two pages shift nothing.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from ..core.model import JobQuery
from ..core.states import State
from ..errors import InvalidOption

T = TypeVar("T")

Key = tuple[int | str, ...]
KeyTypes = Mapping[State, tuple[type, ...]]

LISTING_ORDER = (
    State.ACTIVE,
    State.PENDING,
    State.RETRY,
    State.SCHEDULED,
    State.BLOCKED,
    State.DEAD,
    State.COMPLETED,
    State.CANCELLED,
)

KEY_TYPES: KeyTypes = {
    State.ACTIVE: (int, str),
    State.PENDING: (str, int, int),
    State.RETRY: (str, int, int),
    State.SCHEDULED: (str, int, int),
    State.BLOCKED: (str,),
    State.DEAD: (int, int),
    State.COMPLETED: (int, int),
    State.CANCELLED: (int, int),
}
"""The key that each state is listed by, ascending: fence and id; queue, -priority and place;
queue, due and place; id. Finished jobs go by finished_at and place, descending. A store that
tells equals apart by something else brings types of its own."""


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The last job seen: its state and its key in that state's order."""

    state: State
    key: Key

    def encode(self) -> str:
        return encode(self)


class LaneCursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The last lane seen."""

    queue: str = ""
    name: str = ""

    def encode(self) -> str:
        return encode(self)


def decode_cursor(text: str, key_types: KeyTypes = KEY_TYPES) -> Cursor:
    """The cursor in a text that `encode` made; anything else is `InvalidOption`."""
    cursor = decode(text, Cursor)
    if cursor is None or tuple(map(type, cursor.key)) != key_types[cursor.state]:
        raise refusal()
    return cursor


def decode_lane_cursor(text: str | None) -> LaneCursor:
    """The same for lanes; before all of them without a text."""
    if text is None:
        return LaneCursor()
    cursor = decode(text, LaneCursor)
    # No name has a zero byte, and not every engine takes one.
    if cursor is None or not cursor.queue or "\0" in cursor.queue + cursor.name:
        raise refusal()
    return cursor


def encode(cursor: msgspec.Struct) -> str:
    """A cursor as a text that can stand in an address."""
    return base64.urlsafe_b64encode(msgspec.msgpack.encode(cursor)).decode().rstrip("=")


def decode(text: str, kind: type[T]) -> T | None:
    """The cursor in such a text; None if it is something else."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return msgspec.msgpack.decode(data, type=kind)
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        return None


def refusal() -> InvalidOption:
    return InvalidOption("This cursor is not one that a listing gave; start without a cursor.")


def plan(query: JobQuery, key_types: KeyTypes = KEY_TYPES) -> Sequence[tuple[State, Key | None]]:
    """The states that are left to list, in order, each with the key to go on after."""
    states = query.states or LISTING_ORDER
    if query.cursor is None:
        return [(state, None) for state in states]
    cursor = decode_cursor(query.cursor, key_types)
    if cursor.state not in states:
        raise InvalidOption("This cursor is from a listing of other states; start without it.")
    left = states[states.index(cursor.state) :]
    return [(state, cursor.key if state is cursor.state else None) for state in left]
