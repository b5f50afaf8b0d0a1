"""Over a server nothing that is not encrypted comes to an app that encrypts."""

import asyncio
import os
from typing import Any

import grpc
import msgspec
import pytest

from tests.server.conftest import Serve
from tests.server.grpc.client import served as grpc_served
from tests.server.serving import Served
from windlass import Windlass, connect
from windlass.core.codec import JSON, MSGPACK, encode_call
from windlass.core.encrypt import Encrypted
from windlass.core.model import NewJob, Spec
from windlass.core.states import State
from windlass.protocol import windlass_pb2 as pb
from windlass.testing.work import work

CODEC = Encrypted(MSGPACK, {"k": os.urandom(32)})
TYPE = "msgpack+aesgcm"


def shop(**options: Any) -> tuple[Windlass, list[str]]:
    codec = options.pop("codec", CODEC)
    app, seen = Windlass("memory://", codec=codec), list[str]()
    app.task(name="greet", unique=options.get("unique"))(_greeting(seen))
    return app, seen


def _greeting(seen: list[str]) -> Any:
    async def greet(name: str) -> str:
        seen.append(name)
        return f"hello {name}"

    return greet


@pytest.fixture
async def api(serve: Serve) -> Served:
    return await serve(shop()[0])


@pytest.mark.parametrize("type", ["msgpack", "json", "protobuf"])
async def test_a_content_type_that_is_not_encrypted_is_refused(api: Served, type: str) -> None:
    for asked in (
        {"args": ["Ada"], "content_type": type},
        {"payload": "WzEsWyJBIl0se31d", "content_type": type},
    ):
        for path, body in (("jobs", asked), ("jobs/batch", {"jobs": [{"task": "greet"} | asked]})):
            answer = await api.post(path, {"task": "greet"} | body if path == "jobs" else body)
            assert answer.status == 422
            assert "is not encrypted" in answer.detail
    assert await api.number() == 0


async def test_nor_is_it_taken_from_a_program_that_uses_the_server_as_its_store(
    serve: Serve,
) -> None:
    api = await serve(shop()[0])
    job = NewJob("a", Spec("greet", encode_call(MSGPACK, ("Ada",), {})))
    body = msgspec.msgpack.encode({"jobs": [msgspec.to_builtins(job, builtin_types=(bytes,))]})
    answer = await api.post("store/insert", data=body)
    assert answer.status == 422
    assert "is not encrypted" in answer.detail
    assert await api.number() == 0


async def test_nor_over_grpc() -> None:
    app, _ = shop()
    async with grpc_served(app) as served:
        code, text = await served.client.refusal(
            "Jobs.Enqueue", _grpc_job(JSON.encode((1, ["Ada"], {})), "json")
        )
        assert code is grpc.StatusCode.INVALID_ARGUMENT
        assert "is not encrypted" in text
    await app.aclose()


async def test_a_job_that_is_not_encrypted_is_handed_to_no_worker() -> None:
    app, _ = shop()
    async with grpc_served(app) as served:
        store = served.store
        await store.insert([NewJob("forged", Spec("greet", encode_call(MSGPACK, ("A",), {})))])
        ours = encode_call(CODEC, ("Ada",), {}, "ours", "greet")
        await store.insert([NewJob("ours", Spec("greet", ours, TYPE))])
        (job,) = await served.client.fetch()
        assert job.id == "ours"
        await until(lambda: served.stored("forged"), lambda job: job.state is State.DEAD)
        # One that has no result gets one, or nobody could tell who took it away.
        assert await served.client.ack(job) == ["ours"]
        assert await app.job("ours").aresult() is None
    await app.aclose()


async def until(look: Any, wanted: Any) -> None:
    async with asyncio.timeout(20):
        while not wanted(await look()):
            await asyncio.sleep(0.01)


def _grpc_job(payload: bytes, content_type: str) -> Any:
    job = pb.NewJob(task="greet", payload=payload, content_type=content_type)
    return pb.EnqueueRequest(job=job)


async def test_what_comes_in_plain_json_is_stored_encrypted_and_run(serve: Serve) -> None:
    app, seen = shop()
    api = await serve(app)
    first = await api.post("jobs", {"task": "greet", "args": ["Ada"]})
    second = await api.post("jobs", {"task": "greet", "args": ["Bob"], "id": "mine"})
    third = await api.post("jobs", {"task": "greet", "args": ["Cyd"], "unique": "c"})
    last = await api.post("jobs", {"task": "greet", "args": ["Dan"], "headers": {"a": "b"}})
    assert [each.status for each in (first, second, third, last)] == [201] * 4
    await work(app)
    assert sorted(seen) == ["Ada", "Bob", "Cyd", "Dan"]
    shown = (await api.get("jobs/mine")).json
    assert (shown["content_type"], shown["args"], shown["result"]) == (TYPE, ["Bob"], "hello Bob")


async def test_a_payload_that_is_encrypted_needs_the_id_that_it_is_bound_to(serve: Serve) -> None:
    app, seen = shop()
    api = await serve(app)
    asked = {"task": "greet", "content_type": TYPE}
    ours = encode_call(CODEC, ("Ada",), {}, "mine", "greet")
    for id, payload in ((None, ours), ("other", ours), ("mine", encode_call(CODEC, ("A",), {}))):
        text = msgspec.json.decode(msgspec.json.encode(payload))
        named = {"id": id} if id else {}
        assert (await api.post("jobs", asked | named | {"payload": text})).status == 422
    text = msgspec.json.decode(msgspec.json.encode(ours))
    assert (await api.post("jobs", asked | {"id": "mine", "payload": text})).status == 201
    await work(app)
    assert seen == ["Ada"]


async def test_a_producer_with_the_key_enqueues_through_a_server_without_it(serve: Serve) -> None:
    app, seen = shop()
    api = await serve(Windlass("memory://"), has_tasks=False)
    async with connect(api.url, codec=CODEC) as there:
        handle = await there.task("greet").using(unique="a").aenqueue("Ada")
        job = await handle.aget()
        await (await app.client.store()).insert([NewJob(job.id, job.spec)])
    await work(app)
    assert seen == ["Ada"]


async def test_while_it_migrates_what_comes_plain_can_be_replaced(serve: Serve) -> None:
    window = Encrypted(MSGPACK, {"k": os.urandom(32)}, accept_unencrypted=True)
    app, seen = shop(codec=window)
    api = await serve(app)
    for number, headers in enumerate(({}, {"headers": {"a": "b"}})):
        asked = {"task": "greet", "unique": f"k{number}", "on_conflict": "replace"}
        plain = asked | headers | {"args": ["Ada"], "content_type": "json", "delay": 60}
        first = await api.post("jobs", plain)
        second = await api.post("jobs", asked | {"args": ["Bob"]})
        assert first.json["id"] == second.json["id"]
    await work(app)
    assert seen == ["Bob", "Bob"]
