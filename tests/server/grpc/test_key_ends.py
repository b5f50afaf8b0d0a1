"""The end of a key is the end of its calls that go on: watches, and fetches that wait for jobs."""

import asyncio
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.server.grpc.client import Client, Served, named, stands
from windlass.protocol import windlass_pb2 as pb

FETCH = pb.FetchRequest(worker="w", queues=[pb.Share(queue="q")], wait_ms=20_000)


async def ended(call: Any) -> grpc.StatusCode | None:
    """How a stream ends, which it does within seconds."""
    try:
        async with asyncio.timeout(5):
            async for _ in call:
                pass
    except aio.AioRpcError as error:
        return error.code()
    return None


def streams(client: Client, id: str) -> list[Any]:
    watch = pb.WatchRequest(ids=[id]).SerializeToString()
    return [
        client.stream(named("Jobs.Watch"), watch),
        client.stream(named("Work.Fetch"), FETCH.SerializeToString()),
    ]


async def begun(served: Served, calls: list[Any]) -> None:
    await anext(aiter(calls[0]))
    await stands(served, 1)


@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_watches_and_fetches_end_with_their_key(bare: Served, how: str) -> None:
    producer = await bare.with_key("admin")
    id = await producer.enqueue()
    lasts = 2_000 if how == "expired" else None
    text = await bare.new_key("read", "work", expires_in=lasts)
    calls = streams(bare.connect(text), id)
    await begun(bare, calls)
    if how == "revoked":
        await bare.store.drop_keys([text.split("_")[1]])
        await bare.site.keyring.refresh()
    codes = [await ended(call) for call in calls]
    assert codes == [grpc.StatusCode.UNAUTHENTICATED] * 2
    # What comes for the one that waited is for others.
    other = await producer.enqueue(queue="q")
    worker = await bare.with_key("work")
    (job,) = await worker.fetch("q")
    assert job.id == other


async def test_calls_of_other_keys_go_on(bare: Served) -> None:
    producer = await bare.with_key("admin")
    id = await producer.enqueue()
    gone, stays = await bare.new_key("read"), await bare.with_key("read")
    watching = stays.watch(id)
    await anext(watching)
    await bare.store.drop_keys([gone.split("_")[1]])
    await bare.site.keyring.refresh()
    await producer("Jobs.Cancel", pb.CancelRequest(ids=[id]))
    assert [event.job.state async for event in watching] == ["cancelled"]
