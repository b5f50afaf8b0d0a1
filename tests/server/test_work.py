"""Work over HTTP: what workers fetch and what they say of it, by the rules of gRPC."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import url_of
from tests.server.conftest import Serve
from tests.server.http_worker import HttpWorker, lease, lose, stands, until
from tests.server.serving import Served
from tests.server.wire import wire
from windlass import Windlass
from windlass.core.codec import JSON, MSGPACK, Codec, encode_call
from windlass.core.encrypt import Encrypted
from windlass.core.model import NewJob, Spec
from windlass.core.states import State
from windlass.protocol import windlass_pb2 as pb
from windlass.server.http.app import asgi
from windlass.server.http.pages import described
from windlass.server.http.routes import ROUTES, V1

WORDS = ("extend", "ack", "nack", "release", "progress", "checkpoint")
SAYING: dict[str, dict[str, Any]] = {
    "ack": {"result": 0},
    "nack": {"fatal": True},
    "progress": {"percent": 9},
    "checkpoint": {"state": "old"},
}
"""What each word says of a job besides its lease."""


@pytest.fixture(params=["sqlite", "redis", "postgres", "mariadb"])
async def stored(
    request: pytest.FixtureRequest, tmp_path: Path, serve: Serve
) -> AsyncIterator[Windlass]:
    app = Windlass(url_of(request, tmp_path))
    yield app
    await app.aclose()


@pytest.fixture
def worker(bare: Served) -> HttpWorker:
    return HttpWorker(bare)


async def state(api: Served, id: str) -> State:
    return (await api.store.get([id]))[id].state


async def test_a_job_is_done_by_a_worker_that_has_nothing_but_http(
    stored: Windlass, serve: Serve
) -> None:
    api = await serve(stored, has_tasks=False)
    worker = HttpWorker(api, key=await api.add_key("work"))
    producer = await api.add_key("enqueue", "read")
    started = asyncio.create_task(worker.fetch("mail", wait=20, lease=60))
    await stands(api, 1)
    await api.enqueue(
        "send",
        "a",
        kwargs={"n": 2},
        id="j",
        queue="mail",
        timeout=5,
        labels={"a": "b"},
        key=producer,
    )
    (job,) = await started
    kept = (await api.store.get(["j"]))["j"]
    assert (job["id"], job["fence"], job["task"], job["queue"]) == ("j", kept.fence, "send", "mail")
    assert (job["args"], job["kwargs"], job["attempt"]) == (["a"], {"n": 2}, 1)
    assert (job["timeout"], job["max_retries"], job["labels"]) == (5.0, 3, {"a": "b"})
    assert not {"payload", "checkpoint", "checkpoint_payload"} & {*job}
    assert (kept.state, kept.worker) == (State.ACTIVE, "w")
    held = {"ids": ["j"], "lost": []}
    assert await worker.said("extend", lease(job), lease=600) == held
    assert await worker.said("progress", lease(job, percent=40, message="on")) == held
    assert await worker.said("checkpoint", lease(job, state={"page": 7})) == held
    assert (await api.get("jobs/j/progress", key=producer)).json["progress"]["percent"] == 40

    await lose(api.store, job)
    (again,) = await worker.fetch("mail")
    assert (again["checkpoint"], again["attempt"]) == ({"page": 7}, 1)
    for word in WORDS:
        late = await worker.ask(word, {"jobs": [lease(job, **SAYING.get(word, {}))]})
        assert (late.status, late.json["error"]) == (409, "LeaseLost"), word
        assert late.detail.startswith("Job j was cancelled, or belongs to another worker by now")
    running = (await api.store.get(["j"]))["j"]
    assert (running.state, running.fence, running.progress) == (State.ACTIVE, again["fence"], None)

    assert await worker.said("ack", lease(again, result={"sent": True})) == held
    assert (await api.get("jobs/j/result", key=producer)).json["result"] == {"sent": True}
    assert await worker.said("ack", lease(again, result="twice")) == held
    assert (await api.get("jobs/j/result", key=producer)).json["result"] == {"sent": True}


async def test_of_many_jobs_those_that_were_lost_are_named(worker: HttpWorker) -> None:
    api = worker.api
    ids = [await api.enqueue("send") for _ in range(3)]
    jobs = await worker.fetch(limit=3)
    assert [job["id"] for job in jobs] == ids
    await api.store.cancel([ids[1]])
    assert await worker.said("extend", *map(lease, jobs)) == {
        "ids": [ids[0], ids[2]],
        "lost": [ids[1]],
    }
    assert (await worker.said("ack", *map(lease, jobs)))["lost"] == [ids[1]]
    assert [await state(api, id) for id in ids] == [
        State.COMPLETED, State.CANCELLED, State.COMPLETED,
    ]  # fmt: skip
    assert await worker.said("ack") == {"ids": [], "lost": []}


async def test_queues_are_asked_in_order_each_for_its_share(worker: HttpWorker) -> None:
    for n in range(3):
        await worker.api.enqueue("t", queue="high", id=f"high-{n}")
        await worker.api.enqueue("t", queue="low", id=f"low-{n}")
    jobs = await worker.fetch({"queue": "high", "most": 2}, "low", limit=4)
    assert [job["id"] for job in jobs] == ["high-0", "high-1", "low-0", "low-1"]


async def test_a_failure_is_retried_or_dead_as_the_worker_says(worker: HttpWorker) -> None:
    api = worker.api
    for id in ("later", "never", "soon"):
        await api.enqueue("send", id=id, max_retries=1)
    later, never, soon = await worker.fetch()
    await worker.said(
        "nack",
        lease(later, kind="Boom", message="no", traceback="at line 3", retry_after=3600),
        lease(never, message="a\0b", fatal=True),
        lease(soon, retry_after=0),
    )
    found = await api.store.get(["later", "never", "soon"])
    now = await api.store.now()
    assert found["later"].state is State.RETRY
    assert 3_590_000 < found["later"].due - now <= 3_600_000
    error = found["later"].error
    assert error is not None
    assert (error.kind, error.message, error.traceback) == ("Boom", "no", "at line 3")
    assert found["never"].state is State.DEAD
    assert found["never"].error is not None
    assert (found["never"].error.kind, "\0" in found["never"].error.message) == ("Error", False)
    (again,) = await worker.fetch(wait=10)
    assert (again["id"], again["attempt"]) == ("soon", 2)
    await worker.said("nack", lease(again))
    assert await state(api, "soon") is State.DEAD


async def test_a_released_job_has_lost_no_attempt(worker: HttpWorker) -> None:
    api = worker.api
    ids = [await api.enqueue("send") for _ in range(3)]
    jobs = await worker.fetch()
    await worker.said("release", lease(jobs[0]))
    await worker.said("release", lease(jobs[1]), delay=60)
    await worker.said("release", lease(jobs[2]), unknown_task=True)
    found = await api.store.get(ids)
    assert [found[id].attempt for id in ids] == [0, 0, 0]
    assert [found[id].state for id in ids] == [State.PENDING, State.SCHEDULED, State.SCHEDULED]
    both = await worker.ask("release", {"jobs": [], "delay": 1, "unknown_task": True})
    assert (both.status, both.detail) == (422, "Give delay or unknown_task, not both.")


@pytest.mark.parametrize("codec", [MSGPACK, Encrypted(MSGPACK, {"k": bytes(32)})])
async def test_values_are_read_and_written_in_the_content_type_of_the_job(
    codec: Codec, serve: Serve
) -> None:
    app = Windlass("memory://", codec=codec)

    @app.task(name="weigh")
    def weigh(a: int, b: bytes) -> dict[str, int]:
        raise AssertionError("not here")

    api = await serve(app)
    worker = HttpWorker(api)
    handle = await weigh.aenqueue(2**70, b=b"\xff")
    (job,) = await worker.fetch()
    assert job["content_type"] == codec.name
    assert (job["args"], job["kwargs"]) == ([2**70], {"b": "/w=="})
    await worker.said("checkpoint", lease(job, state=[1]))
    await lose(api.store, job)
    (job,) = await worker.fetch()
    assert job["checkpoint"] == [1]
    await worker.said("ack", lease(job, result={"sum": 3}))
    kept = (await api.store.get([handle.id]))[handle.id]
    plain = MSGPACK.encode([1, {"sum": 3}])
    assert kept.result is not None
    assert (plain in kept.result) == (codec is MSGPACK)
    assert await handle.aresult(timeout=10) == {"sum": 3}
    await app.aclose()


async def test_a_job_without_a_result_has_none(worker: HttpWorker) -> None:
    id = await worker.api.enqueue("t")
    (job,) = await worker.fetch()
    await worker.said("ack", lease(job))
    answer = await worker.api.get(f"jobs/{id}/result")
    assert (answer.json["state"], answer.json["result"]) == ("completed", None)


async def test_payloads_go_as_they_are_stored_if_asked_for_or_not_to_be_read(
    worker: HttpWorker,
) -> None:
    stored = {
        "a": ("protobuf", b"\x08\x01"),
        "b": ("of-our-own", b"\x00secret"),
        "c": ("msgpack", encode_call(MSGPACK, (float("nan"),), {})),
        "d": ("json", encode_call(JSON, (1,), {})),
    }
    await worker.api.store.insert(
        [NewJob(id, Spec("t", payload, kind)) for id, (kind, payload) in stored.items()]
    )
    a, b, c = await worker.fetch(limit=3)
    (d,) = await worker.fetch(raw=True)
    for job in (a, b, c, d):
        assert base64.b64decode(job["payload"]) == stored[job["id"]][1]
        assert "args" not in job
    for job in (a, b):
        refused = await worker.ask("ack", {"jobs": [lease(job, result=1)]})
        assert refused.status == 422
        assert "which the server cannot write: give it as payload" in refused.detail
    record = base64.b64encode(b"[1,5]").decode()
    both = await worker.ask("ack", {"jobs": [lease(d, result=1, payload=record)]})
    assert (both.status, both.detail) == (422, "Give result or payload, not both.")
    wrong = await worker.ask("ack", {"jobs": [lease(d, payload="AA==")]})
    assert (wrong.status, "which is [1, value]" in wrong.detail) == (422, True)
    none = await worker.ask("checkpoint", {"jobs": [lease(d)]})
    assert (none.status, none.detail) == (422, "Give state or payload.")
    await worker.said("ack", lease(d, payload=record), lease(a, payload="CAE="))
    assert (await worker.api.get("jobs/d/result")).json["result"] == 5


async def test_a_payload_that_cannot_be_read_is_dead_and_no_worker_gets_it(
    worker: HttpWorker,
) -> None:
    await worker.api.store.insert([NewJob("bad", Spec("t", b"{}", "json"))])
    await worker.api.enqueue("t", id="good")
    assert [job["id"] for job in await worker.fetch()] == ["good"]

    async def dead() -> bool:
        return await state(worker.api, "bad") is State.DEAD

    await until(dead)


async def test_who_leaves_while_jobs_are_claimed_gives_them_back(worker: HttpWorker) -> None:
    api = worker.api
    body = b'{"worker":"gone","queues":["default"],"lease":60}'
    async with wire(api) as client:
        head = {"Content_Type": "application/json"}
        await client.request(f"POST {V1}/work/fetch?wait=20", body, **head)
        await stands(api, 1)
    await stands(api, 0)
    id = await api.enqueue("t")
    (job,) = await worker.fetch()
    assert (job["id"], job["attempt"]) == (id, 1)


@pytest.mark.parametrize("leaves", ["before the answer", "during it"])
async def test_what_could_not_be_sent_is_given_back(worker: HttpWorker, leaves: str) -> None:
    api = worker.api
    id = await api.enqueue("t")
    left = asyncio.Event()
    messages = [{"type": "http.request", "body": b'{"worker":"w","queues":["default"]}'}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise OSError("the client has left")

    claim = api.site.workers.fetches._claim

    async def claim_and_leave(order: Any) -> Any:
        jobs = await claim(order)
        left.set()
        await asyncio.sleep(0)
        return jobs

    if leaves == "before the answer":
        api.site.workers.fetches._claim = claim_and_leave  # type: ignore[method-assign]
    scope = {
        "type": "http", "method": "POST", "path": f"{V1}/work/fetch", "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
    }  # fmt: skip
    with suppress(OSError):
        await asgi(api.site)(scope, receive, send)

    async def released() -> bool:
        job = (await api.store.get([id]))[id]
        return job.state is State.PENDING and job.attempt == 0 and job.fence > 0

    await until(released)


async def test_a_server_that_stops_answers_who_waits(worker: HttpWorker) -> None:
    waiting = asyncio.create_task(worker.fetch(wait=14))
    await stands(worker.api, 1)
    began = time.monotonic()
    await worker.api.server.stop()
    assert await waiting == []
    assert time.monotonic() - began < 10


async def test_a_key_works_on_its_own_queues_alone(bare: Served) -> None:
    ours = HttpWorker(bare, key=await bare.add_key("work", queues=["a"]))
    theirs = HttpWorker(bare, key=await bare.add_key("work", queues=["b"]))
    admin = await bare.add_key("admin")
    await bare.enqueue("t", id="x", queue="a", key=admin)
    refused = await theirs.ask("fetch", {"worker": "w", "queues": ["a", "b"]})
    assert refused.status == 403
    (job,) = await ours.fetch("a")
    for word in WORDS:
        answer = await theirs.ask(word, {"jobs": [lease(job, **SAYING.get(word, {}))]})
        assert (answer.status, answer.json["error"]) == (409, "LeaseLost"), word
    info = {"worker": "w", "queues": ["a"]}
    assert (await theirs.ask("register", info)).status == 403
    await ours.ask("register", info)
    await theirs.ask("leave", {"worker": "w"})
    assert [each.id for each in await bare.store.workers()] == ["w"]
    kept = (await bare.store.get(["x"]))["x"]
    assert (kept.state, kept.progress, kept.checkpoint) == (State.ACTIVE, None, None)
    assert (await ours.said("ack", lease(job)))["ids"] == ["x"]


async def test_a_worker_is_on_the_list_until_it_leaves(worker: HttpWorker) -> None:
    info = {
        "worker": "sh-1", "host": "box", "pid": 7, "queues": ["mail", "a:b"], "concurrency": 5,
        "active": 3, "started_at": "2030-01-31T09:00:00Z",
    }  # fmt: skip
    assert (await worker.ask("register", info)).json == {"beat": 5.0, "life": 30.0}
    (found,) = await worker.api.store.workers()
    assert (found.id, found.host, found.pid, found.queues) == (
        "sh-1",
        "box",
        7,
        ("mail", "a:b:1"),
    )
    assert (found.concurrency, found.active, found.started_at) == (5, 3, 1_896_080_400_000)
    assert (await worker.ask("leave", {"worker": "sh-1"})).status == 204
    assert not await worker.api.store.workers()


@pytest.mark.parametrize(
    ("word", "body", "status", "sentence"),
    [
        ("register", {"worker": "w", "queues": []}, 422, "from 1 to 100 queues"),
        ("register", {"worker": "w", "queues": ["*"]}, 422, "names its queues one by one"),
        ("fetch", {"worker": "w", "queues": []}, 400, "queues"),
        ("fetch", {"worker": "w", "queues": ["q"] * 101, "limit": 1001}, 413, "at most 1,000"),
        ("fetch", {"worker": "w", "queues": [f"{n}" for n in range(101)]}, 422, "1 to 100 queues"),
        ("fetch", {"worker": "w", "queues": ["q"], "lease": 0.5}, 400, "lease"),
        ("fetch", {"worker": "w", "queues": ["q"], "leese": 5}, 400, "leese"),
        ("fetch", {"queues": ["q"]}, 400, "worker"),
        ("extend", {"jobs": [{"id": "a", "fence": 2**60}]}, 422, "fence is a whole number"),
        ("ack", {"jobs": [{"id": "a"}]}, 400, "fence"),
        ("ack", {"jobs": [{"id": "a", "fence": 1}] * 1001}, 413, "at most 1,000 jobs"),
        ("nack", {"jobs": [{"id": "a", "fence": 1, "retry_after": 1e300}]}, 422, "100 years"),
        ("release", {"jobs": [], "delay": 1e300}, 422, "100 years"),
        ("progress", {"jobs": [{"id": "a", "fence": 1, "percent": 101}]}, 400, "percent"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    worker: HttpWorker, word: str, body: dict[str, Any], status: int, sentence: str
) -> None:
    answer = await worker.ask(word, body)
    assert (answer.status, sentence in answer.detail) == (status, True), answer


def test_whatever_workers_can_do_by_grpc_they_can_do_by_http() -> None:
    words = {each.path.rpartition("/")[2] for each in ROUTES if each.path.startswith(f"{V1}/work/")}
    methods = pb.DESCRIPTOR.services_by_name["Work"].methods
    assert words == {each.name.lower() for each in methods}


def test_each_word_is_described_with_what_it_takes_and_gives() -> None:
    for path, methods in described()["paths"].items():
        if not path.startswith(f"{V1}/work/"):
            continue
        asked = methods["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert asked["$ref"].endswith("Request"), path
        answers = methods["post"]["responses"]
        assert "409" in answers
        if "204" not in answers:
            assert "$ref" in answers["200"]["content"]["application/json"]["schema"], path
