"""The turn of a job that is to run alone in its process.

Whoever was lost with two workers may be what ends them: the third time nobody else is to be lost
with it. The jobs that run have some time to end; until then nothing is started.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Final

from ..core.model import Job
from .gathering import Gathering
from .hand import Claim

log = logging.getLogger("windlass")

PATIENCE: Final = 30.0
"""How many seconds the others have to end; then the job is given back."""

DELAY_MS: Final = 120_000
"""It waits longer than the others have waited for it."""


class Alone:
    """At most one such job: it waits, or it runs. `give_up` is called if it waited too long."""

    def __init__(self, give_up: Callable[[Job], None]) -> None:
        self.waiting: deque[Job | Gathering] = deque()
        """never more than one; another thread may take it away"""
        self.was_on = False
        """quick to look at; it may be on no more, but was since an attempt ended"""
        self._running: Claim | None = None
        self._give_up = give_up
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_on(self) -> bool:
        """Whether nothing else is to be started now."""
        return bool(self.waiting) or self._running is not None

    def wait(self, job: Job) -> None:
        """Have a job wait for its turn."""
        text = "job %s of %s: %d of its attempts were lost with their worker, so it runs alone now"
        log.warning(text, job.id, job.task, job.lost)
        self._stop_timer()
        self.waiting.append(job)
        self.was_on = True
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._wait_no_longer)

    def take(self) -> Job | None:
        """The job that waits, to be started now."""
        try:
            job = self.waiting.popleft()
        except IndexError:
            return None  # another thread has taken it away
        self._stop_timer()
        assert isinstance(job, Job)
        self._running = (job.id, job.fence)
        return job

    def end(self, claim: Claim) -> None:
        """An attempt has ended."""
        if self._running == claim:
            self._running = None
        self.was_on = self.is_on

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait_no_longer(self) -> None:
        job = self.take()
        if job is not None:
            self._running = None
            text = "job %s of %s is to run alone, and after %g s others still run: it is given back"
            log.warning(text, job.id, job.task, PATIENCE)
            self._give_up(job)
