"""Waiting for jobs: in order, at little cost, and nothing stays claimed for who has left."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.server.grpc.client import PATIENCE, Client, Served, named, stands, until
from tests.server.grpc.conftest import Serve
from windlass.core.model import Job
from windlass.core.states import State
from windlass.errors import StoreUnavailable
from windlass.protocol import windlass_pb2 as pb
from windlass.server import fetch
from windlass.stores.contract import CLAIM_BYTES, Store

LONG = 20_000


@pytest.fixture(autouse=True)
def never_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits sleeps until it is woken: without a wake-up no job would come in time."""
    monkeypatch.setattr(fetch, "LONGEST_WAIT", 600.0)


class Counted:
    """A store that counts who waits, and can hold claims back."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.waiting = self.most_waiting = self.claims = 0
        self.held: asyncio.Event | None = None
        self.asked = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def wait(self, queues: Sequence[str], timeout: float) -> None:
        self.waiting += 1
        self.most_waiting = max(self.waiting, self.most_waiting)
        try:
            await self._store.wait(queues, timeout)
        finally:
            self.waiting -= 1

    async def claim(
        self,
        queues: Mapping[str, int],
        limit: int,
        lease: int,
        worker: str,
        most_bytes: int = CLAIM_BYTES,
    ) -> Sequence[Job]:
        self.claims += 1
        jobs = await self._store.claim(queues, limit, lease, worker, most_bytes)
        if self.held is not None:
            self.asked.set()
            await self.held.wait()
        return jobs


@pytest.fixture
async def counted(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> tuple[Served, Counted]:
    made: list[Counted] = []

    async def store(self: Any) -> Any:
        made.append(Counted(self._shared))
        return made[-1]

    with monkeypatch.context() as patch:
        patch.setattr("windlass.client.Client.store", store)
        served = await serve()
    return served, made[0]


def waiting(client: Client, worker: str = "w", *queues: str) -> Any:
    """A fetch that is under way."""
    shares = [pb.Share(queue=queue) for queue in queues or ("default",)]
    request = pb.FetchRequest(worker=worker, queues=shares, wait_ms=LONG)
    return client.raw(named("Work.Fetch"), request.SerializeToString())


async def jobs_of(call: Any) -> list[pb.FetchedJob]:
    return list(pb.FetchResponse.FromString(await call).jobs)


async def test_a_waiting_worker_is_woken_by_a_job(stored: Served) -> None:
    call = waiting(stored.client)
    await stands(stored, 1)
    id = await stored.client.enqueue()
    began = time.monotonic()
    (job,) = await jobs_of(call)
    assert job.id == id
    assert time.monotonic() - began < 5


async def test_a_waiting_worker_gets_a_job_whose_time_has_come(stored: Served) -> None:
    call = waiting(stored.client)
    await stands(stored, 1)
    id = await stored.client.enqueue(delay_ms=300)
    assert [job.id for job in await jobs_of(call)] == [id]


async def test_who_does_not_wait_is_told_at_once(worker: Client) -> None:
    assert await worker.fetch() == []
    assert await worker.fetch(wait_ms=50) == []


async def test_jobs_go_to_who_has_waited_longest(stored: Served) -> None:
    calls = []
    for n in range(3):
        calls.append(waiting(stored.client, f"w{n}"))
        await stands(stored, n + 1)
    ids = [await stored.client.enqueue() for _ in range(3)]
    got = [(await jobs_of(call))[0].id for call in calls]
    assert got == ids
    assert [(await stored.stored(id)).worker for id in ids] == ["w0", "w1", "w2"]


async def test_a_thousand_who_wait_ask_the_store_once(
    counted: tuple[Served, Counted], serve: Serve
) -> None:
    served, store = counted
    calls = [waiting(served.client, f"w{n}") for n in range(1000)]
    await stands(served, 1000)
    others = [
        waiting(served.client, "w", "mail", "sms"),
        waiting(served.client, "w", "sms", "mail"),
    ]
    await stands(served, 1002)
    assert (store.waiting, store.most_waiting) == (2, 2)
    before = store.claims
    await served.client.enqueue()
    done, _ = await asyncio.wait(
        [asyncio.ensure_future(jobs_of(call)) for call in calls],
        return_when=asyncio.FIRST_COMPLETED,
        timeout=PATIENCE,
    )
    assert [len(task.result()) for task in done] == [1]
    assert store.claims - before <= 3
    for call in (*calls, *others):
        call.cancel()
    await stands(served, 0)


async def test_a_worker_that_leaves_gives_up_its_place(stored: Served) -> None:
    gone, stays = waiting(stored.client, "gone"), None
    await stands(stored, 1)
    stays = waiting(stored.client, "stays")
    await stands(stored, 2)
    gone.cancel()
    await stands(stored, 1)
    id = await stored.client.enqueue()
    assert [job.id for job in await jobs_of(stays)] == [id]
    assert (await stored.stored(id)).attempt == 1


@pytest.mark.parametrize("in_line", [False, True])
async def test_what_was_claimed_for_a_worker_that_has_left_is_released(
    counted: tuple[Served, Counted], in_line: bool
) -> None:
    served, store = counted
    if in_line:
        call = waiting(served.client)
        await stands(served, 1)
    store.held = asyncio.Event()
    id = await served.client.enqueue()
    if not in_line:
        call = waiting(served.client)
    await asyncio.wait_for(store.asked.wait(), PATIENCE)
    assert (await served.stored(id)).state is State.ACTIVE
    call.cancel()

    async def noticed() -> bool:
        return bool(served.site.workers.fetches._under_way)

    await (stands(served, 0) if in_line else until(noticed))
    held, store.held = store.held, None
    held.set()

    async def released() -> bool:
        return (await served.stored(id)).state is State.PENDING

    await until(released)
    job = await served.stored(id)
    assert (job.attempt, job.error) == (0, None)


class Gone:
    """A client that leaves in the moment in which it is answered."""

    def invocation_metadata(self) -> tuple[()]:
        return ()

    def time_remaining(self) -> None:
        return None

    async def write(self, data: bytes) -> None:
        raise aio.InternalError("the client has left")


async def test_what_could_not_be_sent_is_released(stored: Served) -> None:
    id = await stored.client.enqueue()
    request = pb.FetchRequest(worker="w", queues=[pb.Share(queue="default")])
    handler: Any = stored.server._gate._methods["/windlass.v1.Work/Fetch"][1]
    await handler.unary_stream(request.SerializeToString(), Gone())

    async def released() -> bool:
        job = await stored.stored(id)
        return job.state is State.PENDING and job.attempt == 0

    await until(released)


async def test_a_wait_ends_before_the_deadline_of_the_client(stored: Served) -> None:
    shares = [pb.Share(queue="default")]
    request = pb.FetchRequest(worker="w", queues=shares, wait_ms=LONG)
    answer = await stored.client("Work.Fetch", request, timeout=1.0)
    assert not answer.jobs


async def test_a_wait_is_no_longer_than_the_server_allows(serve: Serve) -> None:
    served = await serve(max_wait=0.05)
    assert await served.client.fetch(wait_ms=LONG) == []


async def test_a_server_that_stops_answers_who_waits(stored: Served) -> None:
    calls = [waiting(stored.client, f"w{n}") for n in range(3)]
    await stands(stored, 3)
    began = time.monotonic()
    stopping = asyncio.create_task(stored.stop())
    assert [await jobs_of(call) for call in calls] == [[], [], []]
    await stopping
    assert time.monotonic() - began < 10


async def test_an_outage_is_told_to_all_who_wait(
    counted: tuple[Served, Counted], monkeypatch: pytest.MonkeyPatch
) -> None:
    served, store = counted
    calls = [waiting(served.client, f"w{n}") for n in range(2)]
    await stands(served, 2)

    async def down(*args: object) -> Any:
        raise StoreUnavailable("The engine is away.")

    monkeypatch.setattr(store, "claim", down)
    await served.client.enqueue()
    for call in calls:
        assert await call.code() is grpc.StatusCode.UNAVAILABLE
    monkeypatch.undo()
    assert len(await served.client.fetch()) == 1


async def test_an_answer_stays_within_the_bytes_that_were_asked_for(stored: Served) -> None:
    client = stored.client
    ids = [await client.enqueue(payload=b"x" * 1000, content_type="protobuf") for _ in range(5)]
    first = await client.fetch(max_bytes=2500)
    assert [job.id for job in first] == ids[:2]
    assert [job.id for job in await client.fetch(max_bytes=10, wait_ms=5000)] == [ids[2]]
    rest = await client.fetch(wait_ms=5000)
    assert [(job.id, job.attempt) for job in rest] == [(ids[3], 1), (ids[4], 1)]
