"""What to look for in history, and where a listing of it goes on."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from enum import StrEnum

import msgspec

from ..core.model import Failure
from ..core.states import FINISHED, State
from ..errors import InvalidOption


class Sort(StrEnum):
    """What a listing goes by. The largest come first, unless asked otherwise."""

    FINISHED = "finished"
    """when the job, or its last attempt, ended"""
    CREATED = "created"
    DURATION = "duration"
    """how long the last attempt took"""
    ATTEMPTS = "attempts"


class HistoryQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which jobs of the past to list. Times are milliseconds; `until` is not part of the range."""

    states: tuple[State, ...] = ()
    """none means every finished one; others are those whose last attempt ended, no more"""
    task: str | None = None
    queue: str | None = None
    since: int | None = None
    until: int | None = None
    labels: Mapping[str, str] = {}
    error: str | None = None
    """a part of the error's type or text, in small or capital letters"""
    min_duration: int | None = None
    max_duration: int | None = None
    sort: Sort = Sort.FINISHED
    ascending: bool = False
    limit: int = 100
    cursor: str | None = None

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise InvalidOption("limit is a number of jobs above 0.")
        if self.error == "":
            raise InvalidOption("error is a part of an error's text; leave it out for any.")

    @property
    def wanted(self) -> frozenset[State]:
        return frozenset(self.states) or FINISHED


class Attempt(msgspec.Struct, frozen=True):
    """One run of a job, as history has it."""

    job: str
    number: int
    """runs that counted by then: one that was snoozed or released has that of the one before"""
    fence: int
    state: State
    """what it made of the job"""
    started_at: int | None
    ended_at: int
    worker: str | None = None
    error: Failure | None = None

    @property
    def duration(self) -> int:
        """In milliseconds."""
        return max(self.ended_at - (self.started_at or self.ended_at), 0)


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The last job that a listing looked at, and the order that it was in."""

    sort: Sort
    ascending: bool
    key: int
    id: str

    def encode(self) -> str:
        return base64.urlsafe_b64encode(msgspec.msgpack.encode(self)).decode().rstrip("=")


def decode_cursor(query: HistoryQuery) -> Cursor | None:
    """Where the query goes on; a cursor of another order is `InvalidOption`."""
    if query.cursor is None:
        return None
    try:
        text = query.cursor + "=" * (-len(query.cursor) % 4)
        data = base64.b64decode(text, altchars=b"-_", validate=True)
        cursor = msgspec.msgpack.decode(data, type=Cursor)
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        raise InvalidOption(
            "This cursor is not one that history gave; start without a cursor."
        ) from None
    if (cursor.sort, cursor.ascending) != (query.sort, query.ascending):
        raise InvalidOption("This cursor is from a listing in another order; start without it.")
    return cursor
