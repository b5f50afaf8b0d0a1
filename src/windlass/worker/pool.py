"""The slots for jobs of one kind, and the jobs that wait for one."""

from __future__ import annotations

import time
from collections import deque
from typing import Final

from ..core.model import Job
from .gathering import Gathering

LOOKAHEAD: Final = 0.02
"""Claim ahead what will have been started after so many seconds."""

MOST_AHEAD: Final = 9
"""And never more than so many times the concurrency: larger batches gain nothing more."""

STALL: Final = 0.5
"""While nothing ends for so many seconds, another worker may as well run what waits here."""

SHUT: Final = 5.0
"""How long a pool that could not start what it had slots for takes no more, if nothing ends."""


def ahead(size: int, seconds_per_job: float | None, most: int) -> int:
    """How many jobs to claim beyond those that can start at once; `most` of them at most."""
    if seconds_per_job is None:
        return 0
    return min(most, int(size * LOOKAHEAD / max(seconds_per_job, 1e-9)))


class Pool:
    """Counts slots; the runner starts and ends what has them.

    A thread that is done with a short call has the next one already, if there is one in its line:
    while jobs are quick, a pool of threads starts attempts beyond its slots, and the line is there.
    """

    def __init__(self, size: int, most_ahead: int, *, lines_up: bool = False) -> None:
        self.size = size
        self._most_ahead = most_ahead
        self._lines_up = lines_up
        self.most = size
        """how many attempts may be under way, with those that are in line for a thread"""
        self.running = 0
        """attempts that are under way; those of a batch count as one"""
        self.crowd = 0
        """how many were, when jobs were claimed last"""
        self.backlog: deque[Job | Gathering] = deque()
        self.seconds: float | None = None
        """how long a slot is taken by an attempt, a moving average; None before the first one"""
        self.moved_at = 0.0
        """when an attempt ended last, or began with no other under way"""
        self._shut_until = 0.0

    @property
    def ahead(self) -> int:
        """How many jobs it is worth to have beyond those that have a slot."""
        return ahead(self.size, self.seconds, self._most_ahead)

    @property
    def is_shut(self) -> bool:
        """Whether it has slots and could start nothing in them lately."""
        return self._shut_until > 0 and time.perf_counter() < self._shut_until

    def seconds_to_stall(self) -> float:
        """After how long what waits should not wait here any more, if nothing ends until then."""
        return self.moved_at + STALL - time.perf_counter()

    def wake(self) -> None:
        """An attempt begins beside no other."""
        self.moved_at = time.perf_counter()

    def adapt(self) -> None:
        """Let as many attempts begin as their pace suggests."""
        if self._lines_up:
            self.most = self.size + min(self.ahead, MOST_AHEAD * self.size)

    def slow_down(self, *, shut: bool) -> None:
        """What was claimed ahead was given back: these jobs are slow."""
        self.seconds = max(self.seconds or 0.0, STALL)
        self.most = self.size
        if shut:
            self._shut_until = time.perf_counter() + SHUT

    def end(self, seconds: float, now: float) -> None:
        """An attempt ends that was under way for so long, in line or not."""
        if self.crowd > self.size:
            # Most of that was the wait in line.
            seconds = seconds * self.size / self.crowd
        before = self.seconds
        self.seconds = seconds if before is None else 0.9 * before + 0.1 * seconds
        self.moved_at = now
        self._shut_until = 0.0
