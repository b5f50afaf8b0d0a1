"""Arguments and results as JSON, MessagePack and protobuf, from requests to workers and back."""

import base64
from io import BytesIO
from typing import Any

import msgspec
import pytest
from google.protobuf.wrappers_pb2 import StringValue

from tests.server.serving import EVERY_QUEUE, Answer, Served
from tests.server.shop import Shop
from windlass.core import codec
from windlass.testing.work import work

MSGPACK = {"Content-Type": "application/msgpack"}


async def post(api: Served, path: str, body: Any, **headers: str) -> Answer:
    data = BytesIO(msgspec.msgpack.encode(body))
    return await api("POST", path, data=data, headers=MSGPACK | headers)


async def result(api: Served, shop: Shop, id: str) -> Any:
    await work(shop, EVERY_QUEUE)
    answer = (await api.get(f"jobs/{id}/result")).json
    assert answer["state"] == "completed", (await api.get(f"jobs/{id}")).json["error"]
    return answer["result"]


@pytest.mark.parametrize("kind", ["application/msgpack", "application/x-msgpack"])
async def test_a_request_may_be_messagepack(api: Served, shop: Shop, kind: str) -> None:
    body = {"task": "measure", "args": [b"\0\xff binary"]}
    made = await post(api, "jobs", body, **{"Content-Type": kind})
    assert made.status == 201, made
    assert await result(api, shop, made.json["id"]) == 9


async def test_an_answer_may_be_messagepack(api: Served) -> None:
    body = {"task": "add", "args": [1]}
    made = await post(api, "jobs", body, Accept="application/msgpack")
    assert made.headers["Content-Type"] == "application/msgpack"
    id = msgspec.msgpack.decode(made.body)["id"]
    shown = await api.get(f"jobs/{id}", headers={"Accept": "application/msgpack"})
    job = msgspec.msgpack.decode(shown.body)
    assert (job["id"], job["args"]) == (id, [1])
    refused = await api.get("jobs/nobody", headers={"Accept": "application/msgpack"})
    assert refused.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("content_type", ["json", "msgpack"])
async def test_the_content_type_of_the_job_is_kept_for_its_worker(
    api: Served, shop: Shop, content_type: str
) -> None:
    id = await api.enqueue("add", 20, 22, content_type=content_type)
    assert (await api.store.get([id]))[id].spec.content_type == content_type
    assert await result(api, shop, id) == 42


@pytest.mark.parametrize("content_type", ["json", "msgpack"])
async def test_a_payload_is_a_whole_call_in_its_content_type(
    api: Served, shop: Shop, content_type: str
) -> None:
    codec: Any = msgspec.json if content_type == "json" else msgspec.msgpack
    payload = base64.b64encode(codec.encode([1, [20], {"b": 22}])).decode()
    made = await api.post("jobs", {"task": "add", "payload": payload, "content_type": content_type})
    assert await result(api, shop, made.json["id"]) == 42


async def test_protobuf_bytes_reach_a_handler_of_bytes(api: Served, shop: Shop) -> None:
    data = StringValue(value="quiet").SerializeToString()
    made = await post(api, "jobs", {"task": "mirror", "payload": data, "content_type": "protobuf"})
    assert made.status == 201, made
    stored = (await api.store.get([made.json["id"]]))[made.json["id"]].spec
    assert (stored.payload, stored.content_type) == (data, "protobuf")
    answer = await result(api, shop, made.json["id"])
    assert base64.b64decode(answer) == data[::-1]


async def test_a_protobuf_message_goes_to_its_handler_and_comes_back(
    api: Served, shop: Shop
) -> None:
    data = StringValue(value="quiet").SerializeToString()
    payload = base64.b64encode(data).decode()
    made = await api.post("jobs", {"task": "shout", "payload": payload, "content_type": "protobuf"})
    answer = await result(api, shop, made.json["id"])
    assert StringValue.FromString(base64.b64decode(answer)).value == "QUIET"


async def test_bytes_that_are_no_such_message_are_refused(api: Served) -> None:
    payload = base64.b64encode(b"\xff\xff\xff").decode()
    made = await api.post("jobs", {"task": "shout", "payload": payload, "content_type": "protobuf"})
    assert (made.status, made.json["error"]) == (422, "InvalidArguments")
    assert "the bytes are no StringValue" in made.detail


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"payload": "AA=="}, "payload needs content_type"),
        ({"payload": "AA==", "content_type": "json", "args": []}, "not both"),
        ({"payload": "AA==", "content_type": "json"}, "payload is not a call in json"),
        ({"payload": "AA==", "content_type": "msgpack"}, "payload is not a call in msgpack"),
        ({"payload": "AA==", "content_type": "yaml"}, "content_type is json, msgpack or protobuf"),
        ({"args": [], "content_type": "protobuf"}, "takes one argument"),
        ({"args": ["text"], "content_type": "protobuf"}, "a message or bytes"),
    ],
)
async def test_a_payload_that_cannot_be_is_refused(
    bare: Served, body: dict[str, Any], said: str
) -> None:
    answer = await bare.post("jobs", {"task": "x", **body})
    assert (answer.status, said in answer.detail) == (422, True), answer.body
    assert await bare.number() == 0


async def test_a_payload_in_text_is_base64(bare: Served) -> None:
    answer = await bare.post("jobs", {"task": "x", "payload": "§", "content_type": "json"})
    assert (answer.status, "base64" in answer.detail) == (400, True)


async def test_integers_of_any_size_keep_their_value(api: Served, shop: Shop) -> None:
    id = await api.enqueue("add", 2**70, 1)
    assert await result(api, shop, id) == 2**70 + 1


async def test_a_list_has_the_beginning_of_what_jobs_were_given_if_asked(api: Served) -> None:
    short = await api.enqueue("add", 1, kwargs={"b": 5}, delay=60)
    long = await api.enqueue("greet", "é" * 500, delay=60)
    large = await api.enqueue("greet", "x" * 10_000, delay=60)
    assert (await api.get("jobs")).json["previews"] == {}
    found = (await api.get("jobs", params={"preview": "true"})).json["previews"]
    assert found == {short: "1, b=5", long: '"' + "é" * 118 + "…"}
    assert large not in found


async def test_integers_beyond_64_bits_are_answered_as_messagepack(bare: Served) -> None:
    large = [2**64, -(2**70), 10**50, 2**64 - 1]
    id = await bare.enqueue("x", *large)
    for path in (f"jobs/{id}", "jobs"):
        plain = (await bare.get(path)).json
        answer = await bare.get(path, headers={"Accept": "application/msgpack"})
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/msgpack")
        assert codec.MSGPACK.decode(answer.body) == plain
    assert (await bare.get(f"jobs/{id}")).json["args"] == large
