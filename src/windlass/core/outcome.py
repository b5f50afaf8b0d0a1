"""What one attempt came to, and the move that follows from it.

Result or exception -> `Outcome` -> `Transition`, with no I/O on the way: the worker
and the rescuer both ask `decide`, so a crash is judged by the same rules as an error.
"""

from __future__ import annotations

import random
import traceback
from types import TracebackType
from typing import Any, Final

import msgspec

from ..errors import (
    AttemptParked,
    InvalidOption,
    Retry,
    Snooze,
    checked_snooze,
    seconds,
)
from .clock import moment_ms, to_ms
from .excerpt import excerpt, storable
from .model import NEVER, UNREADABLE, Failure, Job, Spec, Transition
from .name import checked_name
from .retry import DEFAULT_RETRY, RetryPolicy, Uniform
from .states import State

COMPLETED: Final = State.COMPLETED
MAX_KIND: Final = 200
MAX_MESSAGE: Final = 2_000
MAX_TRACEBACK: Final = 20_000


class Succeeded(msgspec.Struct, frozen=True, gc=False):
    """The handler returned; `result` is encoded already."""

    result: bytes | None = None


class Failed(msgspec.Struct, frozen=True):
    """The handler raised. `after` is a wait in seconds that the handler chose itself."""

    failure: Failure
    cause: BaseException | None = None
    after: float | None = None
    fatal: bool = False


class Snoozed(msgspec.Struct, frozen=True):
    """The handler asked to be run later: after `delay` milliseconds, or at `due`."""

    delay: int = 0
    due: int | None = None


class Parked(msgspec.Struct, frozen=True):
    """The handler waits for a signal, outside of the worker, at most `delay` milliseconds."""

    awaits: str
    delay: int | None = None


class Lost(msgspec.Struct, frozen=True):
    """The lease ran out: the worker crashed, froze or was cut off.

    Costs no attempt, for the job beside it may be the one that killed the worker. It is counted
    apart, and a job whose workers are lost again and again is dead.
    """


class Released(msgspec.Struct, frozen=True):
    """The worker gave the job back unharmed, on shutdown or because it cannot run it."""

    delay: int = 0


class Unknown(msgspec.Struct, frozen=True):
    """The worker has no task of this name; another may have, as in the midst of a deploy.

    Costs no attempt. After `patience` milliseconds of it the job is dead.
    """

    patience: int = 60 * 60 * 1000


class Expired(msgspec.Struct, frozen=True):
    """The job was claimed after it had expired: cancelled, and the attempt does not count."""


Outcome = Succeeded | Failed | Snoozed | Parked | Lost | Released | Unknown | Expired

UNKNOWN: Final = "UnknownTask"
SHORTEST_UNKNOWN: Final = 2_000
LONGEST_UNKNOWN: Final = 60_000
"""How long a job of an unknown task waits, in milliseconds: the longer, the longer it has."""

LOST: Final = Failure(
    "LeaseExpired", "the worker stopped renewing its lease: it crashed, froze or was cut off"
)
MOST_LOST: Final = 3
"""So many workers are lost with a job before it is dead; more if it has more retries."""


EXPIRED: Final = Failure("Expired", "no worker could start it before it expired")


def outcome_of(error: BaseException, policy: RetryPolicy) -> Outcome:
    """The outcome that an exception from a handler stands for.

    One that asks for what cannot be is a failure, which says why. What it asks for was checked when
    it was made, but its class may be the user's own, and it may have been changed since.
    """
    try:
        asked = _asked_for(error)
    except InvalidOption as wrong:
        return Failed(failure_of(wrong), wrong, fatal=policy.is_fatal(wrong))
    except Exception:  # its text or its moment is of a class with methods that fail
        return Failed(failure_of(error), error)
    if asked is not None:
        return asked
    after = error.after if isinstance(error, Retry) else None
    return Failed(failure_of(error), error, after, policy.is_fatal(error))


def _asked_for(error: BaseException) -> Outcome | None:
    """What a handler has asked for by an exception; None if it is an error, or asks for a retry."""
    if isinstance(error, Snooze):
        delay, until = checked_snooze(error.delay, error.until)
        if until is not None:
            return Snoozed(due=moment_ms(until, "Snooze(until=…)"))
        return Snoozed(delay=to_ms(delay or 0))
    if isinstance(error, Retry):
        if error.after is not None:
            seconds(error.after, "Retry(after=…)")
        return None
    parked = _parked(error)
    if parked is None:
        return None
    name = checked_name(parked.awaits, "name of a signal")
    if parked.delay is None:
        return Parked(name)
    seconds(parked.delay / 1000, "The wait for a signal")
    return Parked(name, int(parked.delay))


def _parked(error: BaseException) -> AttemptParked | None:
    """The wait that has ended the attempt, also in a task group in which nothing else failed."""
    first: AttemptParked | None = None
    inner: list[BaseException] = [error]
    while inner:
        each = inner.pop()
        if isinstance(each, BaseExceptionGroup):
            inner += reversed(each.exceptions)
        elif isinstance(each, AttemptParked):
            first = first or each
        else:
            return None
    return first


def failure_of(error: BaseException) -> Failure:
    """An exception as a record, with those that caused it, cut to a bounded size."""
    try:
        # Joined, since `str` may give a text of another class.
        message = "".join([str(error)])
        trace = _trace(error)
    except BaseException as unprintable:  # whatever a broken __str__ raises, the error is known
        message = f"(its text cannot be shown: {type(unprintable).__name__})"
        trace = ""
    return failure_from(type(error).__name__, message, trace)


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, outside(error)))
    except RecursionError:  # groups within groups, thousands of them
        return ""


def failure_from(kind: str, message: str, traceback: str = "") -> Failure:
    """An error by what a program tells of it."""
    return Failure(
        storable(kind[:MAX_KIND]),
        storable(message[:MAX_MESSAGE]),
        # Both ends: the first cause comes first, and what was raised at last comes last.
        storable(excerpt(traceback, MAX_TRACEBACK)),
    )


def outside(error: BaseException) -> TracebackType | None:
    """The traceback from the first frame that is not ours: the handler is what people look for."""
    trace = error.__traceback__
    while trace and trace.tb_frame.f_globals.get("__name__", "").startswith("windlass.worker"):
        trace = trace.tb_next
    return trace or error.__traceback__


def decide(
    job: Job,
    outcome: Outcome,
    policy: RetryPolicy = DEFAULT_RETRY,
    uniform: Uniform = random.random,
) -> Transition:
    """The transition that takes an active job out of this attempt."""
    if isinstance(outcome, Succeeded):
        # The way of nearly every job, so without the detours of the others.
        return Transition(
            job.id, job.fence, COMPLETED, result=outcome.result, queue=job.queue, ref=job.ref
        )
    match outcome:
        case Snoozed(delay, due):
            known = _known(job.error)
            return _transition(job, State.SCHEDULED, delay=delay, due=due, refund=True, error=known)
        case Parked(awaits, patience):
            due = NEVER if patience is None else None
            wait = {"delay": patience or 0, "due": due, "awaits": awaits}
            return _transition(job, State.SCHEDULED, refund=True, error=_known(job.error), **wait)
        case Released(delay):
            state = State.SCHEDULED if delay else State.PENDING
            return _transition(job, state, delay=delay, refund=True, lost=job.lost)
        case Lost():
            return _after_loss(job, policy, uniform)
        case Failed():
            return _after_failure(job, outcome, policy, uniform)
        case Unknown(patience):
            return _after_unknown(job, patience)
        case Expired():
            return _transition(job, State.CANCELLED, refund=True, error=EXPIRED, lost=job.lost)


def has_expired(job: Job) -> bool:
    """Whether the store handed out a job, at `started_at`, that is not to be started any more."""
    if job.spec.expires_in is None and job.spec.expires_at is None:
        return False
    return (job.started_at or 0) > (job.expires_at or 0)


def was_expired(job: Job) -> bool:
    """Whether a cancelled job was cancelled because it had expired."""
    return job.error is not None and job.error.kind == EXPIRED.kind


def _after_failure(job: Job, failed: Failed, policy: RetryPolicy, uniform: Uniform) -> Transition:
    failure = msgspec.structs.replace(failed.failure, at=job.started_at or 0)
    if failed.fatal or job.attempt > job.spec.max_retries:
        return _transition(job, State.DEAD, error=failure)
    wait = failed.after
    if wait is None:
        wait = policy.wait(max(job.attempt, 1), failed.cause, uniform)
    return _transition(job, State.RETRY, delay=to_ms(wait), error=failure)


def _after_loss(job: Job, policy: RetryPolicy, uniform: Uniform) -> Transition:
    lost = job.lost + 1
    failure = msgspec.structs.replace(LOST, at=job.started_at or 0)
    if lost >= most_lost(job.spec):
        times = "once" if lost == 1 else f"{lost} times in a row"
        text = f"its worker was lost {times} while it ran: it crashed, froze or was cut off"
        failure = msgspec.structs.replace(failure, message=text)
        return _transition(job, State.DEAD, refund=True, error=failure, lost=lost)
    # The first time at once: its lease was pause enough, and it was hardly its own fault.
    wait = policy.wait(lost, None, uniform) if job.lost else 0.0
    return _transition(job, State.RETRY, delay=to_ms(wait), refund=True, error=failure, lost=lost)


def most_lost(spec: Spec) -> int:
    """How many workers may be lost with a job in a row: with the last of them it is dead.

    One without retries is not to run twice, whoever is to blame for the first time. One that cannot
    be read has not run at all, and dies with its reason in the hands of a worker.
    """
    if spec.max_retries == 0 and spec.content_type != UNREADABLE:
        return 1
    return max(MOST_LOST, spec.max_retries)


def _after_unknown(job: Job, patience: int) -> Transition:
    now = job.started_at or 0
    since = job.error.at if job.error and job.error.kind == UNKNOWN and job.error.at else now
    if now - since >= patience:
        # Without a moment: patience begins anew if someone replays the job.
        text = f"no worker has known the task {job.task} for {patience / 1000:g} s; "
        text += "start one that does and replay the job"
        return _transition(job, State.DEAD, error=Failure(UNKNOWN, text), lost=job.lost)
    delay = min(max((now - since) // 2, SHORTEST_UNKNOWN), LONGEST_UNKNOWN)
    text = f"this worker has no task {job.task}; the job waits for one that has"
    error = Failure(UNKNOWN, text, at=since)
    return _transition(job, State.SCHEDULED, delay=delay, refund=True, error=error, lost=job.lost)


def _known(error: Failure | None) -> Failure | None:
    """The error of a job that some worker did know, so that patience with it begins anew."""
    if error is None or error.kind != UNKNOWN:
        return None
    return msgspec.structs.replace(error, at=0)


def _transition(job: Job, state: State, **rest: Any) -> Transition:
    return Transition(job.id, job.fence, state, queue=job.queue, ref=job.ref, **rest)
