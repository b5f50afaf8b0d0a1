"""What is noted of one attempt: its lines, and what it came to."""

from __future__ import annotations

import time
from typing import Final

from ..core.attempts import AttemptRecord, LogLine
from ..core.clock import system_clock
from ..core.lines import Lines
from ..core.model import Job, Transition
from ..core.states import State

FIRST_WRITE: Final = 1.0
SLOWEST_WRITE: Final = 10.0
"""Seconds between two writes of a page that gets lines; the older it is, the longer."""

FAILED: Final = (State.RETRY, State.DEAD)


class Page:
    """One attempt in the logbook."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.lines = Lines()
        self.is_lost = False
        """what it came to was not taken: another has the job, or it was cancelled"""
        self._move: Transition | None = None
        self._ended_at: int | None = None
        self._began = time.monotonic()
        self._next_write = self._began + FIRST_WRITE
        self._is_new = False

    def add(self, line: LogLine) -> None:
        self.lines.add(line)
        self._is_new = True

    def end(self, move: Transition | None) -> None:
        self._move = move
        self._ended_at = max(system_clock(), self.job.started_at or 0)

    def is_due(self, now: float) -> bool:
        """Whether its lines are to be written while the attempt runs."""
        return self._is_new and now >= self._next_write

    def written(self, now: float) -> None:
        self._is_new = False
        self._next_write = now + min(max((now - self._began) / 10, FIRST_WRITE), SLOWEST_WRITE)

    def keep(self, longest: int) -> int:
        """How long it is kept, in milliseconds: one of a job that is done no longer than the job.

        0 would be refused, and what was written while it ran is to go.
        """
        done = self._move is not None and self._move.state is State.COMPLETED
        return max(min(longest, self.job.spec.keep), 1) if done else longest

    def record(self, worker: str) -> AttemptRecord:
        job, move = self.job, self._move
        return AttemptRecord(
            job.id,
            job.queue,
            job.fence,
            job.attempt,
            job.worker or worker,
            job.started_at or 0,
            self._ended_at,
            None if move is None or self.is_lost else move.state,
            move.error if move is not None and move.state in FAILED else None,
            self.lines.all(),
            self.lines.dropped,
        )
