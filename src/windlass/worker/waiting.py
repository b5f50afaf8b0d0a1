"""Claimed jobs on their way to a slot: what starts when, and what is given back instead.

Two kinds of handlers have slots of their own, so that neither waits for the other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from ..core.model import Job
from .alone import DELAY_MS, Alone
from .gathering import Gathering
from .hand import Claim, Hand
from .kinds import Kinds
from .pool import MOST_AHEAD, STALL, Pool
from .unstarted import dropped, popped

Start = Callable[[Job | Gathering, Pool], None]
Release = Callable[[Job, int], None]


class Waiting:
    """Starts what has a slot by `start`, and gives jobs back by `release`, with a delay in ms.

    `take_back` has calls that no thread has begun end, and tells how many those are.
    """

    def __init__(
        self,
        kinds: Kinds,
        concurrency: int,
        threads: int,
        start: Start,
        release: Release,
        take_back: Callable[[], int],
        hand: Hand,
    ) -> None:
        self.kinds = kinds
        self._hand = hand
        most_ahead = MOST_AHEAD * max(concurrency, threads)
        self.awaiting = Pool(concurrency, most_ahead)
        self.blocking = Pool(threads, most_ahead, lines_up=True)
        self._pools = (self.awaiting, self.blocking)
        self.alone = Alone(lambda job: release(job, DELAY_MS))
        self._start = start
        self._release = release
        self._take_back = take_back
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def slots(self) -> int:
        """How many attempts can run at the same time, with the tasks that there are."""
        awaiting = self.awaiting.size if self.kinds.some_await or not self.threads else 0
        return awaiting + self.threads

    @property
    def threads(self) -> int:
        """How many of these can be blocking ones."""
        return self.blocking.size if self.kinds.some_block else 0

    @property
    def in_threads(self) -> int:
        """How many of these are running; those in line for a thread have no slot."""
        return min(self.blocking.running, self.blocking.size)

    def line_up(self, parts: Sequence[Job | Gathering], *, blocks: bool) -> None:
        """Take claimed jobs of one kind."""
        (self.blocking if blocks else self.awaiting).backlog.extend(parts)

    def start(self, alone: Sequence[Job] = ()) -> None:
        """Start as many as may run; `alone` are to run when nothing else does."""
        if alone or self.alone.is_on:
            self._isolate(alone)
            return
        for pool in self._pools:
            if pool.backlog:
                pool.adapt()
                while pool.backlog and pool.running < pool.most:
                    self.start_next(pool)
                pool.crowd = pool.running
        self._watch()

    def start_next(self, pool: Pool) -> None:
        """Start the first one that waits."""
        try:
            part = pool.backlog.popleft()
        except IndexError:
            return  # another thread has taken it away in this very moment
        if not pool.running:
            pool.wake()
        pool.running += 1
        self._start(part, pool)

    def drop(self, claim: Claim) -> Job | None:
        """Let go of a job that waits; None if there is no such one."""
        for waiting in (self.awaiting.backlog, self.blocking.backlog, self.alone.waiting):
            job = dropped(waiting, claim)
            if job is not None:
                return job
        return None

    def take(self) -> list[Job]:
        """Take everything away that waits for a slot; from any thread."""
        jobs = popped(self.awaiting.backlog) + popped(self.blocking.backlog)
        return jobs + popped(self.alone.waiting)

    def release(self) -> None:
        """Give back everything that was not started, or waits in line for a thread."""
        for job in self.take():
            self._release(job, 0)
        self._take_back()

    def _start_alone(self) -> None:
        """Start the one that is to run alone; nothing else is in hand now."""
        job = self.alone.take()
        if job is not None:
            pool = self.blocking if self.kinds.blocks(job) else self.awaiting
            pool.running += 1
            self._start(job, pool)

    def _isolate(self, jobs: Sequence[Job]) -> None:
        """Give all but the first of these back, and have that one run when nothing else is in hand.

        What has ended or was given back, and is not written yet, would be lost with it.
        """
        rest = popped(self.awaiting.backlog) + popped(self.blocking.backlog)
        if jobs and not self.alone.is_on:
            self.alone.wait(jobs[0])
            jobs = jobs[1:]
        for job in (*rest, *jobs):
            self._release(job, 0)
        self._take_back()
        self._hand.when_last(self._start_alone)

    def _watch(self, seconds: float = STALL) -> None:
        """Look, in some time, whether what waits for a slot or a thread should go elsewhere."""
        waits = self.awaiting.backlog or self.blocking.backlog or self.blocking.running
        if waits and self._timer is None:
            self._timer = self._loop.call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        soonest = STALL
        for pool in self._pools:
            left = pool.seconds_to_stall()
            if left > 0:
                soonest = min(soonest, left)
            else:
                self._give_back(pool)
        self._watch(soonest)

    def _give_back(self, pool: Pool) -> None:
        """Give back what was claimed ahead of jobs that turned out to be slow."""
        jobs = popped(pool.backlog)
        for job in jobs:
            self._release(job, 0)
        in_line = self._take_back() if pool is self.blocking else 0
        if jobs or in_line:
            # Where even slots were of no use, there is no sense in claiming for them.
            pool.slow_down(shut=pool.running - in_line < pool.size)
