"""A lane: jobs of one queue that share limits, and of which each waits for its turn."""

from __future__ import annotations

import msgspec


class Lane(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The name of a lane and its limits, as they come with a job. Times are milliseconds.

    A lane is of one queue: lanes of one name in two queues know nothing of each other. The
    limits are those of the job that was inserted last.
    """

    name: str
    slots: int = 0
    """at most so many jobs are pending or active at a time; 0 for any number"""
    strict: bool = False
    """one after the other in the order of their coming: a slot is kept until the job has ended"""
    starts: int = 0
    """at most so many jobs are started ..."""
    per: int = 0
    """... in so long; 0 starts for any number"""
    burst: int = 0
    """so many tokens can be saved up; 0 for a sliding window instead of tokens"""
    size: int = 0
    """above 0, jobs are handed out together: at most so many, ..."""
    grace: int = 0
    """... when so long none has come ..."""
    longest: int = 0
    """... or the first of them has waited so long"""

    @property
    def in_order(self) -> bool:
        """Whether priorities do not count here."""
        return self.strict or self.size > 0

    @property
    def counts_starts(self) -> bool:
        """Whether a claim changes what the lane allows."""
        return self.starts > 0 or self.size > 0


class LaneStats(msgspec.Struct, frozen=True):
    """A lane of a queue and how many jobs it has now."""

    queue: str
    lane: Lane
    holders: int = 0
    """that have a slot: pending, active, or, if it is strict, begun and not finished"""
    waiting: int = 0
    """that wait for one"""


class LanePage(msgspec.Struct, frozen=True):
    """One page of a listing of lanes; `cursor` is None on the last one."""

    lanes: tuple[LaneStats, ...]
    cursor: str | None = None
