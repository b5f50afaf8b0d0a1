"""The states of a job and every legal move between them, as data.

Open this file first. A job moves one notch at a time, each notch is one atomic
step of a store, and a move that is not in `TRANSITIONS` does not exist: the
stores' SQL and Lua, the worker and the diagram in the docs are all checked
against this table.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Final


class State(StrEnum):
    """Where a job stands. The values are what every store keeps."""

    BLOCKED = "blocked"
    """waits for the jobs that it depends on, or for a slot of its lane"""
    SCHEDULED = "scheduled"
    """waits for its time"""
    PENDING = "pending"
    """waits for a worker"""
    ACTIVE = "active"
    """claimed by a worker that holds its lease"""
    RETRY = "retry"
    """failed; waits for its next attempt"""
    COMPLETED = "completed"
    """done, with its result"""
    DEAD = "dead"
    """out of retries, or fatal; stays until someone replays or deletes it"""
    CANCELLED = "cancelled"
    """called off before it was completed"""


class Move(StrEnum):
    """Why a job changes its state: the verb on each edge of the diagram."""

    UNBLOCK = "unblock"
    PROMOTE = "promote"
    CLAIM = "claim"
    COMPLETE = "complete"
    FAIL = "fail"
    EXHAUST = "exhaust"
    SNOOZE = "snooze"
    RELEASE = "release"
    CANCEL = "cancel"
    REPLAY = "replay"
    RESCHEDULE = "reschedule"
    REPLACE = "replace"
    HOLD = "hold"


FIRST: Final = frozenset({State.BLOCKED, State.SCHEDULED, State.PENDING, State.CANCELLED})
"""The states that a job can be inserted in; cancelled, if what it depends on has failed."""

TRANSITIONS: Final = MappingProxyType(
    {
        (State.BLOCKED, State.PENDING): Move.UNBLOCK,
        (State.BLOCKED, State.SCHEDULED): Move.UNBLOCK,
        (State.BLOCKED, State.CANCELLED): Move.CANCEL,
        (State.SCHEDULED, State.PENDING): Move.PROMOTE,
        (State.SCHEDULED, State.CANCELLED): Move.CANCEL,
        (State.SCHEDULED, State.BLOCKED): Move.HOLD,
        (State.PENDING, State.ACTIVE): Move.CLAIM,
        (State.PENDING, State.SCHEDULED): Move.RESCHEDULE,
        (State.PENDING, State.CANCELLED): Move.CANCEL,
        (State.PENDING, State.BLOCKED): Move.HOLD,
        (State.ACTIVE, State.COMPLETED): Move.COMPLETE,
        (State.ACTIVE, State.RETRY): Move.FAIL,
        (State.ACTIVE, State.DEAD): Move.EXHAUST,
        (State.ACTIVE, State.SCHEDULED): Move.SNOOZE,
        (State.ACTIVE, State.PENDING): Move.RELEASE,
        (State.ACTIVE, State.CANCELLED): Move.CANCEL,
        (State.ACTIVE, State.BLOCKED): Move.HOLD,
        (State.RETRY, State.PENDING): Move.PROMOTE,
        (State.RETRY, State.SCHEDULED): Move.REPLACE,
        (State.RETRY, State.CANCELLED): Move.CANCEL,
        (State.RETRY, State.BLOCKED): Move.HOLD,
        (State.DEAD, State.PENDING): Move.REPLAY,
        (State.DEAD, State.BLOCKED): Move.REPLAY,
        (State.CANCELLED, State.PENDING): Move.REPLAY,
        (State.CANCELLED, State.BLOCKED): Move.REPLAY,
    }
)

FINISHED: Final = frozenset({State.COMPLETED, State.DEAD, State.CANCELLED})
WAITING: Final = frozenset({State.BLOCKED, State.SCHEDULED, State.PENDING, State.RETRY})
LIVE: Final = WAITING | {State.ACTIVE}
"""Not finished: a live job holds its unique key."""

AFTER_ACTIVE: Final = frozenset(
    after
    for (before, after), move in TRANSITIONS.items()
    if before is State.ACTIVE and move is not Move.HOLD
)
"""What a worker can turn a job into by `finish`."""

DELETABLE: Final = WAITING | FINISHED

RESCHEDULABLE: Final = frozenset({State.PENDING, State.SCHEDULED, State.RETRY})
"""Waits for a worker or for its time, and can be given another one."""

REPLAYABLE: Final = frozenset(
    before for (before, _), move in TRANSITIONS.items() if move is Move.REPLAY
)


def is_legal(before: State, after: State) -> bool:
    """Whether one atomic step may take a job from `before` to `after`."""
    return (before, after) in TRANSITIONS
