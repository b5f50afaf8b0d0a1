"""What the log says of single jobs: that they begin, end or fail.

All of it is on one logger, `windlass.jobs`. Each failure is one record with its exception. The
starts and ends of jobs are told as long as they are few: above a rate they would cost more than
the jobs themselves, and nobody could read them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from ..core.clock import to_datetime
from ..core.model import NEVER, Failure, Job, Transition
from ..core.outcome import outside
from ..core.states import State
from ..errors import InvalidArguments
from .fields import JOBS, job_fields

log = logging.getLogger(JOBS)
general = logging.getLogger("windlass")

WINDOW: Final = 1.0
"""Over so many seconds jobs are counted, to know how many there are in a second."""

SUMMARY: Final = 10.0
"""How often it is told how many jobs had no lines, after the first time."""

MISFIT: Final = InvalidArguments.__name__

_UNITS: Final = ((172_800, 86_400, "d"), (7_200, 3_600, "h"), (120, 60, "min"))


class JobLog:
    """Tells the starts and ends of the attempts of one worker, up to `most` jobs in a second.

    Whoever runs jobs asks for `open` before a start and for `told` before an end: above the rate
    that is all it costs. Told are the ends of jobs whose start was. `completed` counts all jobs
    that were.
    """

    def __init__(self, most: int, completed: Callable[[], int]) -> None:
        self.open = most > 0
        """whether jobs are told of one by one"""
        self.told: set[tuple[str, int]] = set()
        """the claims of running jobs whose start was told"""
        self._most = most
        self._completed = completed
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._window = float("-inf")
        self._begun = 0
        self._looked = self._summed = 0
        """how many were completed at the last look, and at the last summary"""
        self._summed_at = 0.0

    def started(self, job: Job) -> None:
        """Tell of the start of an attempt, or leave such lines out from now on."""
        now = self._loop.time()
        if now - self._window >= WINDOW:
            self._window, self._begun = now, 0
        self._begun += 1
        if self._begun > self._most:
            self._leave_out(now)
        elif log.isEnabledFor(logging.INFO):
            self.told.add((job.id, job.fence))
            again = f", attempt {job.attempt} of {_attempts(job)}" if job.attempt > 1 else ""
            log.info("%s (%s) started%s", job.task, job.id, again, extra=job_fields(job))

    def ended(self, job: Job, move: Transition | None, seconds: float) -> None:
        """Tell of the end of an attempt whose start was told; one that failed has had its line."""
        claim = (job.id, job.fence)
        if claim not in self.told:
            return
        self.told.discard(claim)
        if move is None or move.state not in (State.RETRY, State.DEAD):
            text = "%s (%s) %s"
            log.info(text, job.task, job.id, _end(move, spoken(seconds)), extra=job_fields(job))

    def close(self) -> None:
        """Say what is still to be said."""
        if self._timer is not None:
            self._timer.cancel()
            self._summarise(self._completed(), self._loop.time())

    def _leave_out(self, now: float) -> None:
        self.open = False
        self._looked = self._summed = self._completed()
        self._summed_at = now
        self._timer = self._loop.call_later(WINDOW, self._look, 0.0)

    def _look(self, after: float) -> None:
        """See how many there were; `after` so many seconds without a summary there is one."""
        done, now = self._completed(), self._loop.time()
        self.open = done - self._looked <= self._most
        self._looked, self._timer = done, None
        if self.open or now - self._summed_at >= after:
            self._summarise(done, now)
            after = SUMMARY
        if not self.open:
            self._timer = self._loop.call_later(WINDOW, self._look, after)

    def _summarise(self, done: int, now: float) -> None:
        number, seconds = done - self._summed, now - self._summed_at
        self._summed, self._summed_at = done, now
        if number > 0:
            log.info(
                "%s jobs completed in the last %s; lines of single jobs are left out above %d "
                "jobs in a second",
                f"{number:,}",
                "second" if round(seconds) <= 1 else f"{seconds:.0f} seconds",
                self._most,
            )


def failed(
    job: Job,
    move: Transition,
    failure: Failure,
    error: BaseException | None = None,
    logger: logging.Logger = log,
) -> None:
    """Log a failed attempt: one record, with the exception if it was raised here.

    What formatters show is the traceback that the job keeps: it begins at the handler, also in a
    child process.
    """
    level = logging.ERROR if move.state is State.DEAD else logging.WARNING
    if not logger.isEnabledFor(level):
        return
    raised = None if error is None else (type(error), error, outside(error))
    text = "%s (%s) failed, attempt %d of %d: %s. %s"
    what = str(failure).rstrip(".")
    args = (job.task, job.id, job.attempt, _attempts(job), what, _next(job, move))
    record = logger.makeRecord(
        logger.name, level, __file__, 0, text, args, raised, extra=job_fields(job)
    )
    if raised is not None:
        record.exc_text = (failure.traceback or str(failure)).rstrip("\n")
    logger.handle(record)


def unknown(job: Job, move: Transition) -> None:
    """Log that a job's task is not one of the worker's."""
    if move.state is State.DEAD:
        general.error(
            "No worker knows task '%s'. Job %s is dead. Start a worker that has the task, then "
            "run: windlass dead replay %s",
            job.task,
            job.id,
            job.id,
            extra=job_fields(job),
        )
        return
    general.info(
        "Task '%s' is not known here. Job %s goes back to the queue for %s; another worker may "
        "know it.",
        job.task,
        job.id,
        spoken(move.delay / 1000),
        extra=job_fields(job),
    )


def spoken(seconds: float) -> str:
    """A duration for people: `0.01 s`, `2.1 s`, `35 s`, `5 min`."""
    for least, size, unit in _UNITS:
        if seconds >= least:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.{2 if seconds < 1 else 1 if seconds < 10 else 0}f} s"


def _attempts(job: Job) -> int:
    """How many attempts it may have; attempts that were lost or ordered can go beyond."""
    return max(job.spec.max_retries + 1, job.attempt)


def _next(job: Job, move: Transition) -> str:
    if move.state is State.DEAD:
        if move.error is not None and move.error.kind == MISFIT:
            return (
                "It is dead now. Was it enqueued by older code, or by another app on this store "
                "with a task of this name?"
            )
        again = job.attempt <= job.spec.max_retries
        return "It is dead now: this error is not tried again." if again else "It is dead now."
    return f"Next try in {spoken(move.delay / 1000)}." if move.delay else "Next try at once."


def _end(move: Transition | None, took: str) -> str:
    """What became of an attempt that did not fail."""
    if move is None:
        return f"stopped after {took}: it was cancelled, or another worker has it"
    match move.state:
        case State.COMPLETED:
            return f"completed in {took}"
        case State.PENDING:
            return f"stopped after {took} and goes back to the queue"
        case State.SCHEDULED if move.awaits:
            return f"waits for signal '{move.awaits}' after {took}"
        case State.SCHEDULED:
            return f"snoozed after {took}, runs again {_later(move)}"
    return f"ended after {took}: {move.state}"


def _later(move: Transition) -> str:
    if move.due is None or move.due >= NEVER:
        return f"in {spoken(move.delay / 1000)}"
    return f"at {to_datetime(move.due):%Y-%m-%d %H:%M:%S} UTC"
