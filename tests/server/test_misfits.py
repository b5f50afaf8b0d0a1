"""Arguments that a worker would refuse are refused where they are given, by every way in."""

from base64 import b64encode
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

import grpc
import pytest
from grpc import aio

from tests.server.conftest import Serve, Working
from tests.server.grpc.client import Client
from tests.server.serving import Served
from tests.server.shop import Shop
from windlass.core.codec import JSON, MSGPACK, encode_call
from windlass.protocol import windlass_pb2 as pb

DIGITS = b"9" * 400
WRONG = encode_call(JSON, ("x",), {})
NAMED = "add() argument 'a': Expected `int`, got `str`."


@pytest.fixture
async def api(serve: Serve, shop: Shop) -> Served:
    return await serve(shop, grpc_port=0)


@pytest.fixture
async def client(api: Served) -> AsyncIterator[Client]:
    async with aio.insecure_channel(f"127.0.0.1:{api.server.grpc_port}") as channel:
        yield Client(channel)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("jobs", {"task": "add", "args": ["x"]}),
        ("jobs", {"task": "add", "kwargs": {"a": "x"}}),
        ("jobs", {"task": "add", "args": ["x"], "headers": {"h": "1"}}),
        ("jobs", {"task": "add", "args": ["x"], "limit": {"concurrency": 1}}),
        ("jobs", {"task": "add", "args": ["x"], "content_type": "json"}),
        (
            "jobs",
            {"task": "add", "payload": b64encode(WRONG).decode(), "content_type": "json"},
        ),
        ("/enqueue", {"type": "add", "payload": "x"}),
        ("/enqueue", {"type": "add", "payload": {"a": "x"}}),
        ("jobs/batch", {"jobs": [{"task": "add", "args": [1]}, {"task": "add", "args": ["x"]}]}),
    ],
)
async def test_http_names_the_argument(api: Served, path: str, body: dict[str, Any]) -> None:
    answer = await api.post(path, body)
    assert (answer.status, answer.json["error"]) == (422, "InvalidArguments")
    assert answer.detail.endswith(NAMED)
    assert await api.number() == 0


async def test_a_schedule_names_the_argument(api: Served) -> None:
    schedule = {"text": "0 9 * * *", "job": {"task": "add", "args": ["x"]}}
    answer = await api("PUT", "cron/daily", schedule)
    assert (answer.status, answer.detail) == (422, NAMED)
    assert await api.store.schedules() == []


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([{"a": 1}], "greet() argument 'name': Expected `str`, got `object`."),
        ([None], "greet() argument 'name': Expected `str`, got `null`."),
        ([3], "greet() argument 'name': Expected `str`, got `int`."),
    ],
)
async def test_the_sentence_is_that_of_a_worker(
    api: Served, args: list[Any], sentence: str
) -> None:
    answer = await api.post("jobs", {"task": "greet", "args": args})
    assert (answer.status, answer.detail) == (422, sentence)


@pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=lambda codec: codec.name)
async def test_grpc_names_the_argument(api: Served, client: Client, codec: Any) -> None:
    job = pb.NewJob(task="add", payload=encode_call(codec, ("x",), {}), content_type=codec.name)
    for name, request in (
        ("Jobs.Enqueue", pb.EnqueueRequest(job=job)),
        ("Jobs.EnqueueMany", pb.EnqueueManyRequest(jobs=[pb.NewJob(task="refuse"), job])),
    ):
        code, said = await client.refusal(name, request)
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert said.endswith(NAMED)
    assert await api.number() == 0


async def test_an_integer_of_any_length_is_one(
    api: Served, client: Client, shop: Shop, working: Working
) -> None:
    """The task takes any `int`, as Python does: a worker gets it as it was."""
    body = b'{"task": "add", "args": [%s, 1]}' % DIGITS
    headers = {"Content-Type": "application/json"}
    made = await api("POST", "jobs", data=BytesIO(body), headers=headers)
    other = await client.enqueue("add", b"[1,[%s,1],{}]" % DIGITS)
    async with working():
        for id in (made.json["id"], other):
            answer = await api.get(f"jobs/{id}/result?wait=20")
            assert answer.body.partition(b'"result":')[2].startswith(b"1" + b"0" * 400 + b",")


@pytest.mark.parametrize("digits", [5_000, 100_000])
async def test_an_integer_that_python_does_not_read_is_refused(
    api: Served, client: Client, digits: int
) -> None:
    number = b"9" * digits
    headers = {"Content-Type": "application/json"}
    body = BytesIO(b'{"task": "add", "args": [%s]}' % number)
    answer = await api("POST", "jobs", data=body, headers=headers)
    assert (answer.status, answer.json["error"]) == (400, "Malformed"), answer
    payload = b"[1,[%s],{}]" % number
    job = pb.NewJob(task="add", payload=payload, content_type="json")
    code, _ = await client.refusal("Jobs.Enqueue", pb.EnqueueRequest(job=job))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert await api.number() == 0
