"""Keeps the counts per queue and state that `queues` reports, as sums and not by counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...core.lane import Lane
from ...limits.admission import LaneState
from .operation import Bulk, Operation

Key = tuple[str, str]
"""The queue and the name of a lane."""


class Touch:
    """What a step does to a lane, until it is settled."""

    __slots__ = ("changed", "entered", "idle_at", "limits", "own", "saved", "state")

    def __init__(self, own: Lane) -> None:
        self.own = own
        """the limits of a job of it, should the lane not be there"""
        self.limits: Lane | None = None
        """those that come with a new job"""
        self.changed = False
        """whether there is something to settle"""
        self.entered = False
        """whether a job has come to it"""
        self.state: LaneState | None = None
        """as it was read, or as a claim has changed it"""
        self.saved: tuple[Lane, LaneState] | None = None
        self.idle_at: int | None = None
        """these two as they are in the table"""


class Tally(Counter[tuple[str, str]]):
    """The changes that one operation makes to the counts, and to lanes; written at its end."""

    def __init__(self) -> None:
        super().__init__()
        self.lanes: dict[Key, Touch] = {}

    def move(self, queue: str, before: str, after: str | None, number: int = 1) -> None:
        self[queue, before] -= number
        if after is not None:
            self[queue, after] += number

    def move_all(self, queues: Sequence[str], before: str, after: str | None) -> None:
        for queue, number in Counter(queues).items():
            self.move(queue, before, after, number)

    def lane(self, queue: str, own: Lane) -> Touch:
        """A lane that a job of this step is of."""
        return self.lanes.setdefault((queue, own.name), Touch(own))

    def write(self) -> Operation[None]:
        rows = [(queue, str(state), n) for (queue, state), n in sorted(self.items()) if n]
        if rows:
            yield Bulk("tally", rows)
