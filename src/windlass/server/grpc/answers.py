"""Jobs as messages."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.model import Job, Receipt
from ...core.unique import shown_unique
from ...protocol import windlass_pb2 as pb


def receipt(made: Receipt) -> pb.Receipt:
    return pb.Receipt(id=made.id, duplicate=made.duplicate)


def receipts(made: Iterable[Receipt]) -> pb.EnqueueManyResponse:
    answer = pb.EnqueueManyResponse()
    add = answer.receipts.add
    for each in made:
        if each.duplicate:
            add(id=each.id, duplicate=True)
        else:
            add(id=each.id)
    return answer


def job_message(job: Job, *, brief: bool = False) -> pb.Job:
    """A job without its arguments; a brief one without what may be large, too."""
    spec = job.spec
    message = pb.Job(
        id=job.id,
        task=spec.task,
        queue=job.queue,
        state=job.state.value,
        priority=job.priority,
        attempt=job.attempt,
        max_retries=spec.max_retries,
        timeout_ms=spec.timeout,
        keep_ms=spec.keep,
        created_ms=job.created_at,
        due_ms=job.due,
        started_ms=job.started_at,
        finished_ms=job.finished_at,
        lease_until_ms=job.lease_until,
        worker=job.worker,
        unique=shown_unique(job.unique),
        labels=spec.labels,
        headers=spec.headers,
        content_type=spec.content_type,
        result=None if brief else job.result,
        workflow=spec.workflow,
        depends_on=spec.parents,
        waits_for=job.waits_for,
        awaits=job.awaits,
        group=spec.group,
    )
    _add_what_came_of_it(message, job, brief)
    return message


def _add_what_came_of_it(message: pb.Job, job: Job, brief: bool) -> None:
    if job.error is not None:
        trace = "" if brief else job.error.traceback
        message.error.CopyFrom(
            pb.Error(kind=job.error.kind, message=job.error.message, traceback=trace)
        )
    if job.progress is not None:
        message.progress.CopyFrom(
            pb.Progress(percent=job.progress.percent, message=job.progress.message)
        )


def fetched_message(job: Job) -> pb.FetchedJob:
    """A job for the worker that has claimed it."""
    spec = job.spec
    return pb.FetchedJob(
        id=job.id,
        lease=pb.Lease(id=job.id, fence=job.fence),
        task=spec.task,
        queue=job.queue,
        priority=job.priority,
        attempt=job.attempt,
        max_retries=spec.max_retries,
        payload=spec.payload,
        content_type=spec.content_type,
        headers=spec.headers,
        labels=spec.labels,
        timeout_ms=spec.timeout,
        checkpoint=job.checkpoint,
        created_ms=job.created_at,
        due_ms=job.due,
        lease_until_ms=job.lease_until,
        workflow=spec.workflow,
    )
