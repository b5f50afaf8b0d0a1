"""Work over HTTP: what the service `Work` of gRPC does, in JSON. The rules are the same code.

Arguments come as values and results go as values; the server reads and writes the content type of
each job. What is in one that it cannot read goes as it is stored, in base64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType

from ...core.clock import moment_ms, to_ms
from ...core.model import Lease, Progress
from ...core.workers import WorkerInfo
from ...errors import InvalidOption, LeaseLost, seconds
from ...worker.presence import BEAT, LIFE
from ..work import Failing, Plain, Record
from ..worker_requests import (
    among,
    checked_info,
    checked_leases,
    checked_order,
    checked_worker,
    refuse_both,
)
from .call import Call, Reply
from .fetched import fetched_job
from .jobs import WaitQuery
from .worker_messages import (
    AckRequest,
    CheckpointRequest,
    ExtendRequest,
    FailedJob,
    Fetched,
    FetchRequest,
    Held,
    HeldJob,
    LeaveRequest,
    NackRequest,
    ProgressRequest,
    Registered,
    RegisterRequest,
    ReleaseRequest,
)


async def register_worker(call: Call[None, RegisterRequest]) -> Registered:
    """Put a worker on the list of workers, or keep it there."""
    asked, started = call.body, call.body.started_at
    info = WorkerInfo(
        asked.worker,
        asked.host,
        asked.pid,
        tuple(asked.queues),
        asked.concurrency,
        await call.store.now() if started is UNSET else moment_ms(started, "started_at"),
        asked.active,
    )
    await call.store.beat(checked_info(info), to_ms(LIFE))
    return Registered(BEAT, LIFE)


async def remove_worker(call: Call[None, LeaveRequest]) -> None:
    """Take a worker off the list of workers."""
    await call.store.leave(checked_worker(call.body.worker))


async def fetch_jobs(call: Call[WaitQuery, FetchRequest]) -> Fetched:
    """Claim jobs for a worker, waiting for some if asked."""
    asked, fetches = call.body, call.site.workers.fetches
    queues = [(each, 0) if isinstance(each, str) else (each.queue, each.most)
              for each in asked.queues]  # fmt: skip
    lease = to_ms(asked.lease)
    order = checked_order(
        call.site, call.caller, asked.worker, queues, asked.limit, lease, asked.max_bytes
    )
    jobs = await fetches.fetch(order, call.wait(call.query.wait))
    ready = []
    for job in jobs:
        try:
            ready.append((job, fetched_job(job, call.site.app.codecs, raw=asked.raw)))
        except Exception as error:
            # Of a payload that nobody can read, or of a codec of the app's own.
            fetches.fail(job, error)
    unsent = partial(fetches.give_back, [job for job, _ in ready])
    return Reply(Fetched([each for _, each in ready]), 200, unsent=unsent)  # type: ignore[return-value]


async def extend_leases(call: Call[None, ExtendRequest]) -> Held:
    """Hold jobs for longer."""
    leases = _leases(call, call.body.jobs)
    work = call.site.workers.work
    return _held(await work.extend(call.store, leases, to_ms(call.body.lease)), leases)


async def ack_jobs(call: Call[None, AckRequest]) -> Held:
    """Complete jobs."""
    jobs = call.body.jobs
    leases = _leases(call, jobs)
    results = [
        None if each.result is UNSET and each.payload is UNSET
        else _record(each.result, each.payload, "result")
        for each in jobs
    ]  # fmt: skip
    done = await call.site.workers.work.ack(call.store, list(zip(leases, results, strict=True)))
    return _held(done, leases)


async def nack_jobs(call: Call[None, NackRequest]) -> Held:
    """Tell that attempts have failed: they are retried as their task says, or as asked."""
    leases = _leases(call, call.body.jobs)
    failures = [*map(_failing, leases, call.body.jobs)]
    return _held(await call.site.workers.work.nack(call.store, failures), leases)


async def release_jobs(call: Call[None, ReleaseRequest]) -> Held:
    """Give jobs back unharmed: the attempt does not count."""
    asked, leases = call.body, _leases(call, call.body.jobs)
    delay = to_ms(seconds(asked.delay, "delay"))
    refuse_both(delay, asked.unknown_task, "delay")
    work = call.site.workers.work
    done = await work.release(call.store, leases, delay, unknown=asked.unknown_task)
    return _held(done, leases)


async def report_progress(call: Call[None, ProgressRequest]) -> Held:
    """Tell how far attempts have come."""
    jobs, work = call.body.jobs, call.site.workers.work
    leases = _leases(call, jobs)
    said = [Progress(each.percent, each.message) for each in jobs]
    held = _held(await work.holding(call.store, leases), leases)
    await work.report(call.store, list(zip(leases, said, strict=True)))
    return held


async def keep_checkpoints(call: Call[None, CheckpointRequest]) -> Held:
    """Leave something for the next attempts of jobs."""
    jobs = call.body.jobs
    leases = _leases(call, jobs)
    states = [_record(each.state, each.payload, "state") for each in jobs]
    work = call.site.workers.work
    return _held(await work.checkpoint(call.store, list(zip(leases, states, strict=True))), leases)


def _leases(call: Call[Any, Any], jobs: Iterable[HeldJob]) -> list[Lease]:
    most = call.site.settings.max_batch
    return checked_leases(((each.id, each.fence) for each in jobs), most)


def _held(done: frozenset[str], leases: Sequence[Lease]) -> Held:
    """The answer; `LeaseLost` if no word of the request counted, for then nothing was changed."""
    ids = among(done, leases)
    lost = among(frozenset(lease.id for lease in leases) - done, leases)
    if lost and not ids:
        raise LeaseLost(
            f"Job {lost[0]} was cancelled, or belongs to another worker by now: drop it."
            if len(lost) == 1
            else f"All of these {len(lost):,} jobs were cancelled, or belong to other workers by "
            "now: drop them."
        )
    return Held(ids, lost)


def _record(value: Any, payload: bytes | UnsetType, name: str) -> Record:
    if payload is UNSET:
        if value is UNSET:
            raise InvalidOption(f"Give {name} or payload.")
        return Plain(value)
    if value is not UNSET:
        raise InvalidOption(f"Give {name} or payload, not both.")
    return payload


def _failing(lease: Lease, told: FailedJob) -> Failing:
    after = None if told.retry_after is UNSET else seconds(told.retry_after, "retry_after")
    return Failing(lease, told.kind, told.message, told.traceback, after, told.fatal)
