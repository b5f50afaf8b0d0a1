"""What a worker does while its event loop does nothing: tell, and give back what it can.

All of it runs in other threads than that of the loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from ..core.model import Transition
from ..core.outcome import Released, decide
from .acker import Acker
from .hand import Hand
from .liveness import Liveness, stack
from .returns import Returns
from .runner import Runner

log = logging.getLogger("windlass")

HANDLERS: Final = "windlass-handler"
SHOWN: Final = 3

GIVING_BACK: Final = 2.0
"""Seconds that a process which is about to end takes to give back its jobs."""


class Standstill:
    """Watches the running event loop, of which these are the parts.

    `liveness` says whether it is blocked; `returns` is what is to be written in its place.
    """

    def __init__(self, lease: float, runner: Runner, hand: Hand, acker: Acker) -> None:
        self.liveness = Liveness(
            lease, self._on_blocked, self._on_back, self._on_look, self._on_slow
        )
        self.returns = Returns(self._forget)
        self._runner = runner
        self._hand = hand
        self._acker = acker
        self._loop = asyncio.get_running_loop()
        self._is_faulty = False
        self._slow: set[str] = set()
        """the tasks of which it was said that they hold up the loop"""

    def give_back(self) -> bool:
        """Write what ended and release what runs, as the loop does not; whether all was written.

        Not the job that blocks the loop: its lease runs out, so that it counts as an attempt.
        """
        ended = self._acker.moves()
        left_out = {(move.id, move.fence) for move in (*ended, *self.returns.waiting)}
        if self.liveness.silence:
            left_out.update(self._runner.of_task(self.liveness.task()))
        jobs = [job for job in self._hand.jobs if (job.id, job.fence) not in left_out]
        self.returns.put([*ended, *(decide(job, Released()) for job in jobs)])
        return self.returns.drained(GIVING_BACK)

    def _on_slow(self, seconds: float) -> None:
        """Say once of each task that it lets nothing else run; not of what is no handler's."""
        for job in self._hand.of(self._runner.of_task(self.liveness.task())):
            if job.task not in self._slow:
                self._slow.add(job.task)
                log.warning(
                    "%s (%s) holds up the event loop, for %.1f s so far: no other async job runs "
                    "meanwhile. Await what takes time, or declare it with def, and it runs in a "
                    "thread. It is here:\n%s",
                    job.task,
                    job.id,
                    seconds,
                    self.liveness.stack(),
                )

    def _on_blocked(self, seconds: float) -> None:
        jobs = [*self._runner.take_backlog(), *self._hand.of(self._runner.withhold())]
        self.returns.put([decide(job, Released()) for job in jobs])
        log.error(
            "the event loop has been blocked for %.1f s by %s: no job of this worker starts or "
            "ends. An async handler must await what takes time; one that blocks is to be declared "
            "with def. The loop is here:\n%s",
            seconds,
            self._culprit(),
            self.liveness.stack(),
        )
        if jobs:
            log.warning("%d job(s) that were claimed and not started are given back", len(jobs))

    def _on_back(self, seconds: float) -> None:
        log.warning("the event loop works again, after %.1f s", seconds)

    def _on_look(self) -> None:
        """Say so when attempts that do not end have left nothing to run others with."""
        fault = self._runner.fault()
        if fault is not None and not self._is_faulty:
            log.error("%s It runs no more such jobs.\n%s", fault, "\n".join(_stacks()))
        elif fault is None and self._is_faulty:
            log.warning("some of the handlers that did not end have ended: such jobs run again")
        self._is_faulty = fault is not None

    def _culprit(self) -> str:
        jobs = self._hand.of(self._runner.of_task(self.liveness.task()))
        return ", ".join(f"job {job.id} of {job.task}" for job in jobs) or "what is shown below"

    def _forget(self, moves: Sequence[Transition]) -> None:
        claims = [(move.id, move.fence) for move in moves]
        with suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._hand.drop, claims)


def _stacks() -> Iterator[str]:
    """What the first threads of handlers are at."""
    busy = [each for each in threading.enumerate() if each.name.startswith(HANDLERS)]
    for thread in busy[:SHOWN]:
        yield f"{thread.name} is here:\n{stack(thread.ident)}"
