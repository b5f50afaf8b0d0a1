"""Bytes that are no messages, and messages that make no sense: a status, and nothing is written."""

import asyncio
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.grpc.client import METHODS, Served, named, served
from windlass import Windlass
from windlass.protocol import windlass_pb2 as pb

OURS = [method for method in METHODS if method.full_name.startswith("windlass.")]
FAIR = {
    grpc.StatusCode.OK,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION,
}
LEASE = pb.Lease(id="a", fence=1)
SAMPLES = {
    "Enqueue": pb.EnqueueRequest(job=pb.NewJob(task="", priority=7, labels={"a": "b"})),
    "EnqueueMany": pb.EnqueueManyRequest(jobs=[pb.NewJob(task="", id="x", due_ms=5)] * 2),
    "Get": pb.GetRequest(ids=["a", "b"]),
    "List": pb.ListRequest(states=["dead"], queue="q", limit=3, cursor="c"),
    "Watch": pb.WatchRequest(ids=["a"]),
    "Cancel": pb.CancelRequest(ids=["a"]),
    "Delete": pb.DeleteRequest(ids=["a"]),
    "Register": pb.RegisterRequest(worker="", queues=["q"], pid=1),
    "Leave": pb.LeaveRequest(worker="w"),
    "Fetch": pb.FetchRequest(worker="w", queues=[pb.Share(queue="q", most=1)], lease_ms=5000),
    "Extend": pb.ExtendRequest(leases=[LEASE], lease_ms=5000),
    "Ack": pb.AckRequest(jobs=[pb.Done(lease=LEASE, result=b"[1,2]")]),
    "Nack": pb.NackRequest(jobs=[pb.Failed(lease=LEASE, kind="K", retry_after_ms=4)]),
    "Release": pb.ReleaseRequest(leases=[LEASE], delay_ms=9),
    "Progress": pb.ProgressRequest(
        reports=[pb.Report(lease=LEASE, progress=pb.Progress(percent=3))]
    ),
    "Checkpoint": pb.CheckpointRequest(states=[pb.State(lease=LEASE, state=b"[1,2]")]),
}


def test_there_is_a_sample_for_every_method() -> None:
    assert SAMPLES.keys() == {method.name for method in OURS}


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """Bytes of a message with some of them changed, left out or put in."""
    made = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(made)))
        match draw(st.sampled_from("csi")):
            case "c" if place < len(made):
                made[place] = draw(st.integers(0, 255))
            case "s":
                del made[place : place + draw(st.integers(1, 4))]
            case _:
                made[place:place] = draw(st.binary(min_size=1, max_size=4))
    return bytes(made)


@st.composite
def requests(draw: st.DrawFn) -> tuple[MethodDescriptor, bytes]:
    method = draw(st.sampled_from(OURS))
    sample = SAMPLES[method.name].SerializeToString()
    return method, draw(st.one_of(st.binary(max_size=64), mutated(sample)))


class Fuzzed:
    """A server on an event loop of its own, which all examples share."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._app = Windlass("memory://")
        self._context = served(self._app, has_tasks=False)
        self.served: Served = self.run(self._context.__aenter__())

    def run(self, work: Any) -> Any:
        async def perform() -> Any:
            async with asyncio.timeout(30):
                return await work

        return self._runner.run(perform())

    def close(self) -> None:
        self.run(self._context.__aexit__(None, None, None))
        self.run(self._app.aclose())
        self._runner.close()


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[Fuzzed]:
    made = Fuzzed()
    yield made
    made.close()


@settings(max_examples=300)
@given(request_=requests())
def test_no_bytes_harm_the_server_or_are_stored(
    fuzzed: Fuzzed, request_: tuple[MethodDescriptor, bytes]
) -> None:
    method, data = request_
    served = fuzzed.served
    code, sentence = fuzzed.run(served.client.refusal(method, data))
    assert code in FAIR, f"{method.full_name} {data!r}: {code} {sentence}"
    assert code is grpc.StatusCode.OK or sentence.endswith(".")
    stored = fuzzed.run(served.store.queues())
    if stored:
        # Some bytes are a job; then it is stored, as asked.
        assert code is grpc.StatusCode.OK
        assert method.name in ("Enqueue", "EnqueueMany")
        fuzzed.run(_clear(served))


async def _clear(served: Served) -> None:
    page = await served.client("Jobs.List", pb.ListRequest())
    ids = [job.id for job in page.jobs]
    answer = await served.client("Jobs.Delete", pb.DeleteRequest(ids=ids))
    assert not answer.refused


@pytest.mark.parametrize("method", OURS, ids=lambda method: str(method.name))
async def test_fields_that_are_not_known_are_refused(
    bare: Served, method: MethodDescriptor
) -> None:
    """On the top, and within."""
    sample = SAMPLES[method.name].SerializeToString()
    unknown = b"\xfa\x7f\x01x"
    code, sentence = await bare.client.refusal(method, sample + unknown)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "has fields that this server does not know" in sentence


async def test_fields_within_that_are_not_known_are_refused(bare: Served) -> None:
    job = pb.NewJob(task="t").SerializeToString() + b"\xfa\x7f\x01x"
    data = b"\x0a" + bytes([len(job)]) + job
    for name in ("Jobs.Enqueue", "Jobs.EnqueueMany"):
        code, _ = await bare.client.refusal(named(name), data)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert not await bare.store.queues()


async def test_another_way_to_write_the_same_is_understood(bare: Served) -> None:
    """Numbers that are longer than they need be, and zeros that could be left out."""
    data = b"\x20\x83\x80\x00" + b"\x12\x00"
    assert pb.ListRequest.FromString(data) == pb.ListRequest(limit=3)
    assert (await bare.client.refusal("Jobs.List", data))[0] is grpc.StatusCode.OK
