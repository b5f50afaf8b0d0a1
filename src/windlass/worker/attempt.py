"""What one attempt is made of; the runner puts the steps together.

decode the arguments -> call the handler with its resources, inside of the middleware and
within its timeout -> encode the result
-> outcome -> decide -> transition
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec import structs

from ..core.checkpoint import Checkpoints
from ..core.codec import Codec, decode_call
from ..core.context import Context, current
from ..core.model import UNREADABLE, Job, Lease, Progress, Transition
from ..core.outcome import Failed, Outcome, Unknown, decide, failure_from, failure_of, outcome_of
from ..core.retry import DEFAULT_RETRY, RetryPolicy
from ..definition import Definition
from ..errors import CorruptRecord, InvalidArguments, PayloadTooLarge
from ..middleware import Attempt, Stack, around
from ..observe import joblog
from ..observe.events import Events
from ..observe.fields import present_span
from ..observe.joblog import JobLog
from ..resources import Values, filled
from .executors import Executors
from .executors.raised import FromChild
from .gathering import Gathering
from .limit import AttemptTimeout, Limit
from .logbook import Logbook
from .signals import StoredSignals
from .transactions import Transactions
from .workflows import StoredWorkflows

log = logging.getLogger("windlass")

Leave = Callable[[Job, AttemptTimeout], None]


class Surroundings(NamedTuple):
    """What all attempts of a worker have in common."""

    executors: Executors
    middleware: Stack
    values: Values
    """the open resources"""
    progress: Callable[[Lease, Progress], None]
    transactions: Transactions
    checkpoints: Checkpoints
    workflows: StoredWorkflows
    signals: StoredSignals
    events: Events
    logbook: Logbook
    joblog: JobLog


def begin(
    definition: Definition,
    codec: Codec,
    job: Job,
    surroundings: Surroundings,
    inputs: Sequence[Any],
    batch: Gathering | None,
    leave: Leave,
) -> Awaitable[Any]:
    """The handler, called with the job's arguments; await it for its value.

    `inputs` are results of other jobs, which come before the job's own arguments. `batch` has the
    jobs that a handler which takes batches is to get together with this one.
    Middleware goes around it, and is within its timeout, which begins anew with the handler.
    `leave` is told of an attempt that took too long and does not end.
    """
    executors, stack, values, report, transactions, checkpoints, workflows, signals, *_ = (
        surroundings
    )
    spec = job.spec
    args, kwargs = decode_call(codec, spec.payload, job.id, spec.task)
    if inputs:
        args[:0] = inputs
    definition.arguments.check(args, kwargs)
    definition.arguments.convert(args, kwargs, binary=codec.binary)
    ear = surroundings.logbook.ear
    context = Context(job, report, transactions.begin, checkpoints, workflows, signals, ear)
    current.set(context)
    limit = None
    if spec.timeout is not None:
        limit = Limit(spec.timeout / 1000, partial(leave, job))
    if stack.runs:
        handler = partial(_call, definition, executors, values, context, batch, limit)
        work = around(stack.runs, Attempt(context, args, kwargs), handler)
    else:
        work = _call(definition, executors, values, context, batch, limit, args, kwargs)
    return work if limit is None else limit.keep(work)


def _call(
    definition: Definition,
    executors: Executors,
    values: Values,
    context: Context,
    batch: Gathering | None,
    limit: Limit | None,
    args: list[Any],
    kwargs: dict[str, Any],
) -> Awaitable[Any]:
    needs = definition.arguments.left_out
    if needs:
        kwargs = filled(needs, values, kwargs, definition.name)
    if batch is not None:
        if limit is not None:
            batch.limits.append(limit)
        handler = partial(_call_batch, definition, executors, context, batch, kwargs)
        return batch.join(context, args[0], handler)
    if limit is None:
        return executors.call(definition, context, args, kwargs)
    if not definition.is_async:
        limit.pause()
    return executors.call(definition, context, args, kwargs, limit.begin)


def _call_batch(
    definition: Definition,
    executors: Executors,
    context: Context,
    batch: Gathering,
    kwargs: dict[str, Any],
    items: list[Any],
) -> Awaitable[Any]:
    if not definition.is_async:
        batch.wait()
    return executors.call(definition, context, [items], kwargs, batch.begin)


def failed(job: Job, error: BaseException, policy: RetryPolicy) -> Transition:
    """The move that follows what a handler raised; failures are logged."""
    try:
        outcome = _outcome(error, policy)
    except BaseException:
        # An error type of the user's can have its own way of telling what is an instance of it.
        log.exception("whether task %s is to be retried is not known; it is", job.task)
        outcome = Failed(failure_of(error), error)
    try:
        move = decide(job, outcome, policy)
    except BaseException:
        # A user's own backoff function can fail, or call sys.exit(); that must not lose the job.
        log.exception("the backoff of task %s failed; using the default", job.task)
        move = decide(job, outcome, DEFAULT_RETRY)
    if isinstance(outcome, Failed):
        if move.error is not None and (span := present_span()):
            move = structs.replace(move, error=structs.replace(move.error, trace=span))
        joblog.failed(job, move, outcome.failure, error)
    return move


def unjudged(job: Job, error: BaseException, unfit: BaseException) -> Transition:
    """The move that follows an error of which nothing can be asked: that raises `unfit`."""
    text = f"(it cannot be told what became of it: {type(unfit).__name__})"
    log.error("job %s: %s raised what cannot be handled: %s", job.id, job.task, type(error))
    return decide(job, Failed(failure_from(type(error).__name__, text)), DEFAULT_RETRY)


def unknown(job: Job, patience: int) -> Transition:
    """The move of a job whose task this worker does not have, after `patience` ms a last one."""
    if job.spec.content_type == UNREADABLE:
        error = CorruptRecord("The stored job is damaged and cannot be read; delete it.")
        return failed(job, error, DEFAULT_RETRY)
    move = decide(job, Unknown(patience))
    joblog.unknown(job, move)
    return move


def _outcome(error: BaseException, policy: RetryPolicy) -> Outcome:
    if isinstance(error, CorruptRecord | InvalidArguments | PayloadTooLarge):
        # It would be as wrong the next time.
        return Failed(failure_of(error), error, fatal=True)
    outcome = outcome_of(error, policy)
    is_told = isinstance(outcome, Failed) and outcome.cause is error
    if is_told and isinstance(error.__cause__, FromChild):
        # The traceback is that of the child; here it would be that of the pipe.
        return structs.replace(outcome, failure=error.__cause__.failure)
    return outcome
