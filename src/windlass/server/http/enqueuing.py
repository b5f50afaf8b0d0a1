"""Jobs on their way into the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from ...core.model import NewJob
from ...errors import UsageError
from ..faults import TooLarge
from ..offer import JobRequest, Seconds, Text
from ..storing import store_jobs
from .call import Call, Reply
from .once import once_of


class Stored(msgspec.Struct, frozen=True):
    """What became of a job: `duplicate` says that it was there before."""

    id: str
    duplicate: bool


class Batch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs to store in one step: all of them, or none."""

    jobs: Annotated[list[JobRequest], msgspec.Meta(min_length=1)]


class StoredBatch(msgspec.Struct, frozen=True):
    """One for each job that was asked for, in order."""

    jobs: Sequence[Stored]


async def enqueue_job(call: Call[None, JobRequest]) -> Stored:
    """Store a job."""
    (stored,) = await _enqueue(call, [call.body])
    return Reply(stored, 200 if stored.duplicate else 201)  # type: ignore[return-value]


async def enqueue_jobs(call: Call[None, Batch]) -> StoredBatch:
    """Store many jobs in one step."""
    most, requests = call.site.settings.max_batch, call.body.jobs
    if len(requests) > most:
        raise TooLarge(f"One request takes {most:,} jobs; this one has {len(requests):,}.")
    return StoredBatch(await _enqueue(call, requests))


async def _enqueue(call: Call[Any, Any], requests: Sequence[JobRequest]) -> list[Stored]:
    once = once_of(call, requests)
    jobs = _jobs(call, requests if once is None else once.requests)
    if once is not None and len(jobs) > 1:
        # Of another batch that was longer, those behind would be new.
        await once.refuse_other_use(call.store)
    site = call.site
    site.limits.refuse_other(call.caller, jobs, made_here=True)
    receipts = await store_jobs(
        site.store, call.caller, jobs, site.offers.enqueue, ids_are_made=once is not None
    )
    if once is not None and any(receipt.duplicate for receipt in receipts):
        await once.refuse_other_use(call.store)
    return [Stored(receipt.id, receipt.duplicate) for receipt in receipts]


def _jobs(call: Call[Any, Any], requests: Sequence[JobRequest]) -> Sequence[NewJob]:
    if len(requests) == 1:
        return [call.site.offers.job(requests[0])]
    jobs = []
    for number, request in enumerate(requests, 1):
        try:
            jobs.append(call.site.offers.job(request))
        except UsageError as error:
            error.args = (f"Job {number} of {len(requests)}: {error}",)
            raise
    return jobs


class ShortRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job in a few words: an object is given to the task by names, a list by position, anything
    else as its one argument."""

    type: Text
    payload: Any = None
    priority: int | str | UnsetType = UNSET
    delay: Seconds | UnsetType = UNSET
    queue: Text | UnsetType = UNSET
    id: Text | UnsetType = UNSET


async def enqueue_short(call: Call[None, ShortRequest]) -> Stored:
    """Store a job, in the short form."""
    asked, payload = call.body, call.body.payload
    args: Any = payload if isinstance(payload, list) else [] if payload is None else [payload]
    by_name = isinstance(payload, dict)
    request = JobRequest(
        task=asked.type,
        args=[] if by_name else args,
        kwargs=payload if by_name else {},
        priority=asked.priority,  # type: ignore[arg-type]
        delay=asked.delay,
        queue=asked.queue,
        id=asked.id,
    )
    (stored,) = await _enqueue(call, [request])
    return Reply(stored, 200 if stored.duplicate else 201)  # type: ignore[return-value]
