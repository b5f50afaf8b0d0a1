"""The service `Work`: for workers in other languages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from ...core.clock import to_ms
from ...core.model import Lease, Progress
from ...core.workers import WorkerInfo
from ...protocol import windlass_pb2 as pb
from ...worker.presence import BEAT, LIFE
from ..work import Failing
from ..worker_requests import (
    among,
    checked_info,
    checked_lease,
    checked_leases,
    checked_order,
    checked_worker,
    refuse_both,
)
from ..workers import Workers
from .answers import fetched_message
from .call import Call
from .requests import duration, seconds


class Work:
    """Answers for workers; what they do is in `server/fetch.py` and `server/work.py`."""

    def __init__(self, workers: Workers) -> None:
        self._fetches = workers.fetches
        self._desk = workers.work

    async def register(self, call: Call[pb.RegisterRequest]) -> pb.RegisterResponse:
        asked = call.request
        now = await call.store.now()
        info = WorkerInfo(
            asked.worker,
            asked.host,
            asked.pid,
            tuple(asked.queues),
            asked.concurrency,
            asked.started_ms if asked.HasField("started_ms") else now,
            asked.active,
        )
        await call.store.beat(checked_info(info), to_ms(LIFE))
        return pb.RegisterResponse(beat_ms=to_ms(BEAT), life_ms=to_ms(LIFE))

    async def leave(self, call: Call[pb.LeaveRequest]) -> pb.LeaveResponse:
        await call.store.leave(checked_worker(call.request.worker))
        return pb.LeaveResponse()

    async def fetch(self, call: Call[pb.FetchRequest]) -> AsyncIterator[pb.FetchResponse]:
        asked = call.request
        order = checked_order(
            call.site,
            call.caller,
            asked.worker,
            ((each.queue, each.most) for each in asked.queues),
            asked.limit,
            asked.lease_ms,
            asked.max_bytes,
        )
        wait = call.wait(duration(asked.wait_ms, "wait_ms"))
        jobs = await self._fetches.fetch(order, wait)
        sent = False
        try:
            yield pb.FetchResponse(jobs=map(fetched_message, jobs))
            sent = True
        finally:
            if not sent:
                self._fetches.give_back(jobs)

    async def extend(self, call: Call[pb.ExtendRequest]) -> pb.ExtendResponse:
        leases = _leases(call, call.request.leases)
        held = await self._desk.extend(call.store, leases, checked_lease(call.request.lease_ms))
        return pb.ExtendResponse(ids=among(held, leases))

    async def ack(self, call: Call[pb.AckRequest]) -> pb.AckResponse:
        jobs = call.request.jobs
        leases = _leases(call, (each.lease for each in jobs))
        results = [each.result if each.HasField("result") else None for each in jobs]
        done = await self._desk.ack(call.store, list(zip(leases, results, strict=True)))
        return pb.AckResponse(ids=among(done, leases))

    async def nack(self, call: Call[pb.NackRequest]) -> pb.NackResponse:
        jobs = call.request.jobs
        leases = _leases(call, (each.lease for each in jobs))
        failures = [*map(_failing, leases, jobs)]
        done = await self._desk.nack(call.store, failures)
        return pb.NackResponse(ids=among(done, leases))

    async def release(self, call: Call[pb.ReleaseRequest]) -> pb.ReleaseResponse:
        asked = call.request
        leases, delay = _leases(call, asked.leases), duration(asked.delay_ms, "delay_ms")
        refuse_both(delay, asked.unknown_task, "delay_ms")
        done = await self._desk.release(call.store, leases, delay, unknown=asked.unknown_task)
        return pb.ReleaseResponse(ids=among(done, leases))

    async def progress(self, call: Call[pb.ProgressRequest]) -> pb.ProgressResponse:
        reports = call.request.reports
        leases = _leases(call, (each.lease for each in reports))
        said = [Progress(each.progress.percent, each.progress.message) for each in reports]
        await self._desk.report(call.store, list(zip(leases, said, strict=True)))
        return pb.ProgressResponse()

    async def checkpoint(self, call: Call[pb.CheckpointRequest]) -> pb.CheckpointResponse:
        states = call.request.states
        leases = _leases(call, (each.lease for each in states))
        given = [(lease, each.state) for lease, each in zip(leases, states, strict=True)]
        kept = await self._desk.checkpoint(call.store, given)
        return pb.CheckpointResponse(ids=among(kept, leases))


def _leases(call: Call[Any], given: Iterable[pb.Lease]) -> list[Lease]:
    most = call.site.settings.max_batch
    return checked_leases(((each.id, each.fence) for each in given), most)


def _failing(lease: Lease, told: pb.Failed) -> Failing:
    after = None
    if told.HasField("retry_after_ms"):
        after = seconds(duration(told.retry_after_ms, "retry_after_ms"))
    return Failing(lease, told.kind, told.message, told.traceback, after, told.fatal)
