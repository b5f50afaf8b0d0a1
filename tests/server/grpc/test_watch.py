"""Following jobs to their end."""

import asyncio

import grpc
import pytest
from grpc import aio

from tests.server.grpc.client import PATIENCE, Client, Served, until
from windlass.protocol import windlass_pb2 as pb


async def collect(client: Client, *ids: str) -> list[pb.WatchResponse]:
    return [event async for event in client.watch(*ids)]


async def test_every_state_is_told_until_all_jobs_are_finished(worker: Client) -> None:
    ids = [await worker.enqueue(), await worker.enqueue(max_retries=0)]
    events: list[pb.WatchResponse] = []

    async def watch() -> None:
        async for event in worker.watch(*ids):
            events.append(event)  # noqa: PERF401, they are looked at meanwhile

    async def told_of_progress() -> bool:
        return any(event.job.HasField("progress") for event in events)

    watching = asyncio.create_task(watch())
    jobs = await worker.fetch()
    report = pb.Report(lease=jobs[0].lease, progress=pb.Progress(percent=50, message="half"))
    await worker("Work.Progress", pb.ProgressRequest(reports=[report]))
    await until(told_of_progress)
    await worker.ack(jobs[0], result=b"[1,7]")
    await worker.nack(jobs[1])
    await asyncio.wait_for(watching, PATIENCE)
    told = [[event.job for event in events if event.id == id] for id in ids]
    assert [job.state for job in told[0]][-2:] == ["active", "completed"]
    assert [job.progress.percent for job in told[0]][-2:] == [50, 50]
    assert told[0][-1].result == b"[1,7]"
    assert (told[1][-1].state, told[1][-1].error.kind) == ("dead", "Boom")


async def test_a_job_that_is_finished_is_told_once(worker: Client) -> None:
    id = await worker.enqueue()
    await worker.ack(*await worker.fetch())
    (event,) = await collect(worker, id)
    assert (event.id, event.job.state) == (id, "completed")


async def test_a_job_that_is_not_there_or_not_any_more_has_no_state(worker: Client) -> None:
    id = await worker.enqueue()
    watching = worker.watch("nobody", id)
    assert [(await anext(watching)).HasField("job") for _ in range(2)] == [False, True]
    await worker("Jobs.Delete", pb.DeleteRequest(ids=[id]))
    (event,) = [event async for event in watching]
    assert (event.id, event.HasField("job")) == (id, False)


async def test_a_server_that_stops_ends_the_stream_politely(bare: Served) -> None:
    id = await bare.client.enqueue()
    watching = bare.client.watch(id)
    assert (await anext(watching)).job.state == "pending"
    stopping = asyncio.create_task(bare.stop())
    with pytest.raises(aio.AioRpcError) as raised:
        await anext(watching)
    assert raised.value.code() is grpc.StatusCode.UNAVAILABLE
    assert raised.value.details() == "The server is about to stop; watch the jobs again to go on."
    await stopping


async def test_nothing_is_left_of_a_watch_whose_client_has_left(bare: Served) -> None:
    ids = [await bare.client.enqueue() for _ in range(3)]
    watching = bare.client.watch(*ids)
    for _ in ids:
        await anext(watching)
    watcher = bare.site.watcher
    await until(lambda: _is(len(watcher._watched) == 3))
    await watching.aclose()
    await until(lambda: _is(not watcher._watched))


async def _is(fact: bool) -> bool:
    return fact
