"""The contract over gRPC, as far as that API has it: jobs can be stored, looked at, called off."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from grpc_health.v1 import health_pb2  # type: ignore[import-untyped]

from ...core.model import Job, JobQuery, NewJob, Page, Receipt
from ...core.states import DELETABLE, State
from ...errors import StoreUnavailable
from ...protocol import windlass_pb2 as pb
from ..contract import Store
from .calls import as_sent
from .channel import Channel
from .fault import unreadable
from .messages import job_of, message_of, not_offered
from .url import Settings

P = ParamSpec("P")
T = TypeVar("T")

JOBS: Final = "/windlass.v1.Jobs/"
HEALTH: Final = "/grpc.health.v1.Health/Check"
MOST_LISTED: Final = 1_000


def refused(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[GrpcStore, P], Coroutine[Any, Any, T]]:
    """A method of the contract that this API has not."""

    @wraps(method)
    async def refuse(self: GrpcStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        raise not_offered(method.__name__)

    return refuse


class GrpcStore:
    """Jobs behind a server, for producers."""

    blocking = False
    is_served = True
    """what is done to jobs is counted over there"""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._channel = Channel(settings)

    def __repr__(self) -> str:
        return f"<GrpcStore {self._settings.address}>"

    async def open(self) -> None:
        self._channel.open()
        try:
            await self.ping()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        await self._channel.close()

    async def ping(self) -> None:
        asked = health_pb2.HealthCheckRequest(service="windlass.v1.Jobs")
        answer = await self._channel.ask(HEALTH, asked, health_pb2.HealthCheckResponse)
        if answer.status != health_pb2.HealthCheckResponse.SERVING:
            raise StoreUnavailable(
                f"The server at {self._settings.address} is about to stop; try again in a moment."
            )

    async def migrate(self) -> Sequence[str]:
        """The schema is the server's to keep, which is there."""
        await self.ping()
        return ()

    async def insert(self, jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        if not jobs:
            return []
        asked = pb.EnqueueManyRequest(jobs=map(message_of, jobs))
        answer = await self._channel.ask(f"{JOBS}EnqueueMany", asked, pb.EnqueueManyResponse)
        return as_sent(jobs, [Receipt(each.id, each.duplicate) for each in answer.receipts])

    async def get(self, ids: Sequence[str]) -> Mapping[str, Job]:
        if not ids:
            return {}
        answer = await self._channel.ask(f"{JOBS}Get", pb.GetRequest(ids=ids), pb.GetResponse)
        return {job.id: job for job in self._read(answer.jobs)}

    async def find(self, query: JobQuery) -> Page:
        asked = pb.ListRequest(
            states=query.states,
            queue=query.queue or "",
            task=query.task or "",
            limit=min(query.limit, MOST_LISTED),
            cursor=query.cursor or "",
        )
        answer = await self._channel.ask(f"{JOBS}List", asked, pb.ListResponse)
        return Page(self._read(answer.jobs), answer.cursor or None)

    async def cancel(self, ids: Sequence[str]) -> frozenset[str]:
        if not ids:
            return frozenset()
        asked = pb.CancelRequest(ids=ids)
        answer = await self._channel.ask(f"{JOBS}Cancel", asked, pb.CancelResponse)
        return frozenset(answer.changed)

    async def delete(
        self,
        ids: Sequence[str],
        states: frozenset[State] = DELETABLE,
        *,
        moved: bool = False,
    ) -> frozenset[str]:
        if moved or states != DELETABLE:
            raise not_offered("Deleting jobs in some states only")
        if not ids:
            return frozenset()
        asked = pb.DeleteRequest(ids=ids)
        answer = await self._channel.ask(f"{JOBS}Delete", asked, pb.DeleteResponse)
        return frozenset(answer.changed)

    def _read(self, messages: Sequence[pb.Job]) -> Sequence[Job]:
        try:
            return [*map(job_of, messages)]
        except ValueError as error:  # a state that is not known here
            raise unreadable(self._settings.address, error) from error

    now = refused(Store.now)
    claim = refused(Store.claim)
    renew = refused(Store.renew)
    finish = refused(Store.finish)
    report = refused(Store.report)
    checkpoint = refused(Store.checkpoint)
    signal = refused(Store.signal)
    wait = refused(Store.wait)
    rescue = refused(Store.rescue)
    abandon = refused(Store.abandon)
    unblock = refused(Store.unblock)
    prune = refused(Store.prune)
    elect = refused(Store.elect)
    resign = refused(Store.resign)
    beat = refused(Store.beat)
    leave = refused(Store.leave)
    note_attempts = refused(Store.note_attempts)
    tally = refused(Store.tally)
    put_schedules = refused(Store.put_schedules)
    schedules = refused(Store.schedules)
    pause_schedules = refused(Store.pause_schedules)
    drop_schedules = refused(Store.drop_schedules)
    tick = refused(Store.tick)
    put_keys = refused(Store.put_keys)
    keys = refused(Store.keys)
    drop_keys = refused(Store.drop_keys)
    had_keys = refused(Store.had_keys)
    end_logins = refused(Store.end_logins)
    ended_logins = refused(Store.ended_logins)
    keep_journal = refused(Store.keep_journal)
    read_journal = refused(Store.read_journal)
    trim_journal = refused(Store.trim_journal)
    restore = refused(Store.restore)
    queues = refused(Store.queues)
    oldest = refused(Store.oldest)
    risks = refused(Store.risks)
    lanes = refused(Store.lanes)
    workers = refused(Store.workers)
    leaders = refused(Store.leaders)
    direct = refused(Store.direct)
    attempts = refused(Store.attempts)
    stats = refused(Store.stats)
    prioritize = refused(Store.prioritize)
    reschedule = refused(Store.reschedule)
    replay = refused(Store.replay)
    pause = refused(Store.pause)
    resume = refused(Store.resume)
