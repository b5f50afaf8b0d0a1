"""The service `Work`: for workers in other languages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final

from ...core.clock import to_ms
from ...core.ids import checked_id
from ...core.model import Lease, Progress
from ...core.name import checked_name
from ...core.rotation import EVERY
from ...core.workers import WorkerInfo
from ...errors import InvalidOption
from ...protocol import windlass_pb2 as pb
from ...worker.presence import BEAT, LIFE
from ..checked import refuse_unstorable
from ..fetch import Fetches, Order
from ..work import Failing
from ..work import Work as Desk
from .answers import fetched_message
from .call import Call
from .requests import duration, seconds

LEASE_MS: Final = 30_000
SHORTEST_LEASE_MS: Final = 1_000
LONGEST_LEASE_MS: Final = 24 * 60 * 60 * 1000
MOST_BYTES: Final = 3 * 1024 * 1024
"""What most clients take, which is 4 MiB, with room for the rest of the answer."""

MOST_QUEUES: Final = 100


class Work:
    """Answers for workers; what they do is in `server/fetch.py` and `server/work.py`."""

    def __init__(self, fetches: Fetches, desk: Desk) -> None:
        self._fetches = fetches
        self._desk = desk

    async def register(self, call: Call[pb.RegisterRequest]) -> pb.RegisterResponse:
        asked = call.request
        now = await call.store.now()
        info = WorkerInfo(
            _worker(asked.worker),
            asked.host,
            asked.pid,
            tuple(_listed(name) for name in asked.queues),
            asked.concurrency,
            asked.started_ms if asked.HasField("started_ms") else now,
            asked.active,
        )
        refuse_unstorable(info)
        if not info.queues or len(info.queues) > MOST_QUEUES:
            raise InvalidOption(f"A worker serves from 1 to {MOST_QUEUES} queues; name them.")
        await call.store.beat(info, to_ms(LIFE))
        return pb.RegisterResponse(beat_ms=to_ms(BEAT), life_ms=to_ms(LIFE))

    async def leave(self, call: Call[pb.LeaveRequest]) -> pb.LeaveResponse:
        await call.store.leave(_worker(call.request.worker))
        return pb.LeaveResponse()

    async def fetch(self, call: Call[pb.FetchRequest]) -> AsyncIterator[pb.FetchResponse]:
        asked = call.request
        limit = asked.limit or 1
        if limit < 0 or asked.max_bytes < 0:
            raise InvalidOption("limit and max_bytes are 0 or more.")
        call.bound(limit, "jobs")
        queues = _shares(asked.queues, limit)
        for queue in queues:
            call.caller.require_queue(queue)
        lease = _lease(asked.lease_ms)
        most = asked.max_bytes or MOST_BYTES
        order = Order(call.store, _worker(asked.worker), queues, limit, lease, most)
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
        held = await self._desk.extend(call.store, leases, _lease(call.request.lease_ms))
        return pb.ExtendResponse(ids=_among(held, leases))

    async def ack(self, call: Call[pb.AckRequest]) -> pb.AckResponse:
        jobs = call.request.jobs
        leases = _leases(call, (each.lease for each in jobs))
        results = [each.result if each.HasField("result") else None for each in jobs]
        done = await self._desk.ack(call.store, list(zip(leases, results, strict=True)))
        return pb.AckResponse(ids=_among(done, leases))

    async def nack(self, call: Call[pb.NackRequest]) -> pb.NackResponse:
        jobs = call.request.jobs
        leases = _leases(call, (each.lease for each in jobs))
        failures = [*map(_failing, leases, jobs)]
        done = await self._desk.nack(call.store, failures)
        return pb.NackResponse(ids=_among(done, leases))

    async def release(self, call: Call[pb.ReleaseRequest]) -> pb.ReleaseResponse:
        asked = call.request
        leases, delay = _leases(call, asked.leases), duration(asked.delay_ms, "delay_ms")
        if delay and asked.unknown_task:
            raise InvalidOption("Give delay_ms or unknown_task, not both.")
        done = await self._desk.release(call.store, leases, delay, unknown=asked.unknown_task)
        return pb.ReleaseResponse(ids=_among(done, leases))

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
        return pb.CheckpointResponse(ids=_among(kept, leases))


def _worker(name: str) -> str:
    return checked_name(name, "name of a worker")


def _queue(name: str) -> str:
    if name == EVERY:
        raise InvalidOption("A worker names its queues one by one; * is for workers in Python.")
    return checked_name(name, "name of a queue")


def _listed(name: str) -> str:
    """A queue as the list of workers has it: what follows a colon would be a weight."""
    return f"{_queue(name)}:1" if ":" in name else _queue(name)


def _shares(asked: Sequence[pb.Share], limit: int) -> Mapping[str, int]:
    shares = {_queue(each.queue): each.most or limit for each in asked}
    if not 0 < len(shares) <= MOST_QUEUES:
        raise InvalidOption(f"A worker fetches from 1 to {MOST_QUEUES} queues; name them.")
    if min(shares.values()) < 0:
        raise InvalidOption("most is the number of jobs that a queue may give, or 0 for any.")
    return shares


def _lease(ms: int) -> int:
    if not ms:
        return LEASE_MS
    if not SHORTEST_LEASE_MS <= ms <= LONGEST_LEASE_MS:
        raise InvalidOption(
            f"lease_ms is a number from {SHORTEST_LEASE_MS:,} to {LONGEST_LEASE_MS:,}; got {ms}."
        )
    return ms


def _leases(call: Call[Any], given: Iterable[pb.Lease]) -> list[Lease]:
    leases = [Lease(checked_id(each.id), each.fence) for each in given]
    call.bound(len(leases), "jobs")
    for lease in leases:
        refuse_unstorable(lease.fence, "fence")
    return leases


def _failing(lease: Lease, told: pb.Failed) -> Failing:
    after = None
    if told.HasField("retry_after_ms"):
        after = seconds(duration(told.retry_after_ms, "retry_after_ms"))
    return Failing(lease, told.kind, told.message, told.traceback, after, told.fatal)


def _among(done: frozenset[str], leases: Sequence[Lease]) -> list[str]:
    """The ids that were, in the order asked, each once."""
    return [*dict.fromkeys(lease.id for lease in leases if lease.id in done)]
