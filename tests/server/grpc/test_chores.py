"""What the server sees to itself: workers in other languages get only what they can run."""

import json

import pytest

from tests.server.grpc.client import Served, until
from tests.server.grpc.conftest import Serve
from windlass import Windlass, chain, chord, group
from windlass.core.codec import JSON
from windlass.core.model import JobQuery, NewJob, Spec
from windlass.core.states import State
from windlass.protocol import windlass_pb2 as pb
from windlass.workflows.outline import WAKE


class Flows:
    """An app with steps that run elsewhere, in JSON."""

    def __init__(self, url: str) -> None:
        self.app = Windlass(url, codec=JSON)

        @self.app.task
        def one(number: int) -> int:
            raise AssertionError("not here")

        @self.app.task
        def plus(first: int, second: int) -> int:
            raise AssertionError("not here")

        @self.app.task
        def total(numbers: list[int]) -> int:
            raise AssertionError("not here")

        self.one, self.plus, self.total = one, plus, total


@pytest.fixture
async def flows(serve: Serve, url: str) -> tuple[Served, Flows]:
    made = Flows(url)
    return await serve(made.app), made


async def run_one(served: Served, result: object) -> pb.FetchedJob:
    """Fetch a job and complete it."""
    (job,) = await served.client.fetch(limit=1, wait_ms=10_000)
    assert not job.task.startswith("windlass.")
    await served.client.ack(job, result=json.dumps([1, result]).encode())
    return job


async def test_results_of_other_jobs_are_the_first_arguments(
    flows: tuple[Served, Flows],
) -> None:
    served, made = flows
    flow = chain(made.one.step(1), made.plus.step(10))
    handle = await made.app.aenqueue_workflow(flow)
    assert json.loads((await run_one(served, 5)).payload) == [1, [1], {}]
    assert json.loads((await run_one(served, 15)).payload) == [1, [5, 10], {}]
    # The job that stands for the workflow is run by the server, in the fetch that finds it.
    assert await served.client.fetch(wait_ms=10) == []
    assert await handle.aresult(timeout=20) == 15


async def test_results_that_are_gathered_come_as_one_list(flows: tuple[Served, Flows]) -> None:
    served, made = flows
    flow = chord(group(*(made.one.step(n) for n in range(3))), made.total.step())
    handle = await made.app.aenqueue_workflow(flow)
    for n in range(3):
        await run_one(served, n)
    assert json.loads((await run_one(served, 3)).payload) == [1, [[0, 1, 2]], {}]
    assert await served.client.fetch(wait_ms=10) == []
    assert await handle.aresult(timeout=20) == 3


async def test_a_workflow_whose_job_is_dead_fails(flows: tuple[Served, Flows]) -> None:
    served, made = flows
    handle = await made.app.aenqueue_workflow(chain(made.one.step(1), made.one.step()))
    (job,) = await served.client.fetch(limit=1)
    await served.client.nack(job, fatal=True)
    assert await served.client.fetch(wait_ms=10) == []

    async def judged() -> bool:
        return (await served.stored(handle.id)).state is State.DEAD

    await until(judged)


async def test_a_waiting_worker_does_not_see_jobs_that_the_server_runs(
    flows: tuple[Served, Flows],
) -> None:
    served, _ = flows
    wake = NewJob("wake", Spec(WAKE, b"[1,[],{}]", "json", keep=0, workflow="gone"))
    await served.store.insert([wake])
    assert await served.client.fetch(wait_ms=10) == []

    async def done() -> bool:
        return not await served.store.get(["wake"])

    await until(done)


async def test_a_job_whose_parent_is_gone_is_dead_and_not_handed_out(
    flows: tuple[Served, Flows],
) -> None:
    served, made = flows
    await made.app.aenqueue_workflow(chain(made.one.step(1), made.one.step()))
    job = await run_one(served, 1)
    await served.store.delete([job.id])
    assert await served.client.fetch(wait_ms=10) == []

    async def died() -> bool:
        (dead,) = (await served.store.find(JobQuery(states=(State.DEAD,), task="one"))).jobs or (
            None,
        )
        return dead is not None and dead.error is not None and "is needed" in dead.error.message

    await until(died)


async def test_a_message_cannot_take_results_as_well(serve: Serve) -> None:
    served = await serve()
    await served.store.insert([NewJob("parent", Spec("t", b"[1,[],{}]", "json"))])
    await run_one(served, 7)
    spec = Spec("t", b"\x08\x01", "protobuf", parents=("parent",), inputs=1)
    await served.store.insert([NewJob("child", spec)])
    assert await served.client.fetch(wait_ms=10) == []

    async def died() -> bool:
        return (await served.stored("child")).state is State.DEAD

    await until(died)
    error = (await served.stored("child")).error
    assert error is not None
    assert error.message.startswith("the results of other jobs cannot be its arguments")


async def test_an_expired_job_is_cancelled_and_not_handed_out(stored: Served) -> None:
    client = stored.client
    late = await client.enqueue(expires_at_ms=1)
    good = await client.enqueue()
    assert [job.id for job in await client.fetch()] == [good]

    async def cancelled() -> bool:
        return (await stored.stored(late)).state is State.CANCELLED

    await until(cancelled)
    job = await stored.stored(late)
    assert job.error is not None
    assert (job.error.kind, job.attempt) == ("Expired", 0)


async def test_a_record_that_nobody_can_read_is_dead_and_not_handed_out(stored: Served) -> None:
    await stored.store.insert([NewJob("torn", Spec("(unreadable)", b"", "unreadable"))])
    assert await stored.client.fetch(wait_ms=10) == []

    async def died() -> bool:
        return (await stored.stored("torn")).state is State.DEAD

    await until(died)


async def test_a_workflow_in_a_codec_that_is_not_known_here_waits_for_one_who_knows_it(
    stored: Served,
) -> None:
    wake = NewJob("wake", Spec(WAKE, b"", "secret", workflow="gone"))
    await stored.store.insert([wake])
    assert await stored.client.fetch(wait_ms=10) == []

    async def waits() -> bool:
        return (await stored.stored("wake")).state is State.SCHEDULED

    await until(waits)
    assert (await stored.stored("wake")).attempt == 0
