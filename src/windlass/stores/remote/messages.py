"""Jobs as messages of the gRPC API, and back.

What a message cannot say is refused in a sentence: nothing is left out silently. A job that comes
back is without its arguments, and without what is a worker's.
"""

from __future__ import annotations

from typing import Final

from ...core.keyed import LIMIT, SEQUENCE
from ...core.lane import Lane
from ...core.model import Failure, Job, NewJob, Progress, Spec
from ...core.states import State
from ...core.unique import UNTIL_FINISHED, UNTIL_STARTED
from ...errors import UsageError
from ...protocol import windlass_pb2 as pb

ELSEWHERE: Final = "use the HTTP API of the server, as in https://host."


def not_offered(what: str) -> UsageError:
    return UsageError(f"{what} is not offered over gRPC; {ELSEWHERE}")


def message_of(job: NewJob) -> pb.NewJob:
    """A job to store. All of it is said, so that nothing is as the server's app would have it."""
    spec = job.spec
    if spec.workflow or spec.inputs:
        raise not_offered("A workflow")
    message = pb.NewJob(
        id=job.id,
        task=spec.task,
        payload=spec.payload,
        content_type=spec.content_type,
        queue=job.queue,
        priority=job.priority,
        max_retries=spec.max_retries,
        timeout_ms=spec.timeout or 0,
        keep_ms=spec.keep,
        labels=spec.labels,
        headers=spec.headers,
        unique=job.unique or "",
        depends_on=spec.parents,
        orphaned="run" if spec.runs_anyway else "cancel",
        expires_in_ms=spec.expires_in or 0,
        expires_at_ms=spec.expires_at or 0,
        limit=pb.Limit(),
        sequence="",
        group=spec.group,
    )
    if job.due is None:
        message.delay_ms = job.delay
    else:
        message.due_ms = job.due
    if job.unique:
        _say_how_unique(message, job)
    if spec.group:
        message.weight = spec.weight
    if spec.lane is not None:
        _say_which_lane(message, spec.lane)
    return message


def _say_how_unique(message: pb.NewJob, job: NewJob) -> None:
    message.on_conflict = job.conflict
    how_long = job.spec.unique_for
    if how_long in (UNTIL_FINISHED, UNTIL_STARTED):
        message.unique_until = "finished" if how_long == UNTIL_FINISHED else "started"
    else:
        message.unique_for_ms = how_long


def _say_which_lane(message: pb.NewJob, lane: Lane) -> None:
    kind, _, name = lane.name.partition(":")
    if kind == SEQUENCE:
        message.sequence = name
    elif kind == LIMIT:
        # With its key in its name: the lane is the same.
        limit = pb.Limit(name=name, concurrency=lane.slots or None)
        if lane.starts:
            limit.rate = f"{lane.starts}/{lane.per / 1000:.3f}s"
            limit.window = not lane.burst
            if lane.burst:
                limit.burst = lane.burst
        message.limit.CopyFrom(limit)
    else:
        raise not_offered("A task that takes batches")


def job_of(message: pb.Job) -> Job:
    """A job as the store has it."""
    has = message.HasField
    spec = Spec(
        message.task,
        b"",
        message.content_type,
        message.max_retries,
        message.timeout_ms if has("timeout_ms") else None,
        message.keep_ms,
        dict(message.labels) or None,
        dict(message.headers) or None,
        parents=tuple(message.depends_on),
        workflow=message.workflow,
        group=message.group,
    )
    return Job(
        message.id,
        spec,
        message.queue,
        State(message.state),
        message.priority,
        message.created_ms,
        message.due_ms,
        message.attempt,
        lease_until=message.lease_until_ms if has("lease_until_ms") else None,
        worker=message.worker or None,
        unique=message.unique or None,
        started_at=message.started_ms if has("started_ms") else None,
        finished_at=message.finished_ms if has("finished_ms") else None,
        result=message.result if has("result") else None,
        error=_failure(message.error) if has("error") else None,
        progress=_progress(message.progress) if has("progress") else None,
        waits_for=tuple(message.waits_for),
        awaits=message.awaits or None,
    )


def _failure(error: pb.Error) -> Failure:
    return Failure(error.kind, error.message, error.traceback)


def _progress(progress: pb.Progress) -> Progress:
    return Progress(progress.percent, progress.message)
