"""Producers and operators: jobs go in, are looked at, called off and removed."""

import asyncio
import json
import logging
from typing import Any

import grpc
import pytest

from tests.server.grpc.client import Client, Served
from tests.server.grpc.conftest import Serve
from windlass import Windlass
from windlass.core.codec import JSON, MSGPACK, encode_call
from windlass.core.model import DAY_MS, NewJob, Spec
from windlass.protocol import windlass_pb2 as pb
from windlass.server.grpc.requests import FIELDS
from windlass.server.offer import JobRequest

INVALID = grpc.StatusCode.INVALID_ARGUMENT


@pytest.fixture
async def shop(serve: Serve) -> Served:
    """A server with an app, whose tasks are the only ones."""
    app = Windlass("memory://")

    @app.task(queue="mail", priority=80, max_retries=1, timeout=30, unique=True)
    def send(to: str, times: int = 1) -> None: ...

    @app.task
    def store(message: bytes) -> None: ...

    return await serve(app)


def test_every_field_of_a_new_job_is_an_option() -> None:
    fields = pb.DESCRIPTOR.message_types_by_name["NewJob"].fields_by_name
    assert {*FIELDS} == {*fields}
    options = {name for name, _ in FIELDS.values()}
    assert options == {*JobRequest.__struct_fields__} - {"args", "kwargs"}


async def test_everything_that_can_be_said_of_a_job_is_stored(bare: Served) -> None:
    first = await bare.client.enqueue()
    due = await bare.store.now() + DAY_MS + 7
    id = await bare.client.enqueue(
        "send",
        b'[1,["a"],{"b":2}]',
        id="mine",
        queue="mail",
        priority=0,
        max_retries=0,
        timeout_ms=2007,
        keep_ms=4011,
        due_ms=due,
        labels={"a": "b"},
        headers={"trace": "1"},
        unique="once",
        unique_for_ms=8023,
        depends_on=[first],
        orphaned="run",
        expires_in_ms=2 * DAY_MS + 3,
        expires_at_ms=due + 5,
        sequence="s",
        group="g",
        weight=3,
    )
    job = await bare.stored(id)
    spec = job.spec
    assert (job.id, job.queue, job.priority, job.state) == ("mine", "mail", 0, "blocked")
    assert (spec.task, spec.payload, spec.content_type) == ("send", b'[1,["a"],{"b":2}]', "json")
    assert (spec.max_retries, spec.timeout, spec.keep, job.due) == (0, 2007, 4011, due)
    assert (spec.labels, spec.headers) == ({"a": "b"}, {"trace": "1"})
    assert (spec.unique_for, spec.parents, spec.runs_anyway) == (8023, (first,), True)
    assert (spec.expires_in, spec.expires_at) == (2 * DAY_MS + 3, due + 5)
    assert spec.lane is not None
    assert (spec.lane.name, spec.group, spec.weight) == ("sequence:s", "g", 3)


@pytest.mark.parametrize("ms", [0, 1, 2007, 2011, 86_400_019])
async def test_milliseconds_stay_what_they_are(bare: Served, ms: int) -> None:
    job = await bare.stored(
        await bare.client.enqueue(keep_ms=ms, expires_at_ms=1_799_999_999_000 + ms)
    )
    assert job.spec.keep == ms
    assert job.spec.expires_at == 1_799_999_999_000 + ms


async def test_a_limit_can_be_given_and_taken_off(bare: Served) -> None:
    limit = pb.Limit(rate="10/s", burst=3, concurrency=2, name="api")
    job = await bare.stored(await bare.client.enqueue(limit=limit))
    lane = job.spec.lane
    assert lane is not None
    assert (lane.name, lane.starts, lane.per, lane.burst, lane.slots) == (
        "limit:api", 10, 1000, 3, 2
    )  # fmt: skip
    assert (await bare.stored(await bare.client.enqueue(limit=pb.Limit()))).spec.lane is None


async def test_what_is_left_out_is_as_the_task_says(shop: Served) -> None:
    job = await shop.stored(await shop.client.enqueue("send", b'[1,["a"],{}]'))
    assert (job.queue, job.priority, job.spec.max_retries) == ("mail", 80, 1)
    assert job.spec.timeout == 30_000
    assert job.unique is not None
    again = pb.NewJob(task="send", payload=b'[1, ["a", 1], {}]', content_type="json")
    answer = await shop.client("Jobs.Enqueue", pb.EnqueueRequest(job=again))
    assert answer.receipt == pb.Receipt(id=job.id, duplicate=True)


async def test_what_the_task_says_can_be_taken_off(shop: Served) -> None:
    id = await shop.client.enqueue("send", b'[1,["a"],{}]', unique="", timeout_ms=0)
    job = await shop.stored(id)
    assert (job.unique, job.spec.timeout) == (None, None)


async def test_an_app_refuses_what_does_not_fit_its_tasks(shop: Served) -> None:
    for job, sentence in (
        (pb.NewJob(task="sned"), "No task named sned is registered in this app."),
        (pb.NewJob(task="send"), "it takes (to: str, times: int = 1)"),
        (pb.NewJob(task="send", payload=b"[1,[1,2,3],{}]", content_type="json"), "too many"),
    ):
        code, said = await shop.client.refusal("Jobs.Enqueue", pb.EnqueueRequest(job=job))
        assert code is INVALID
        assert sentence in said
    assert not await shop.store.queues()


@pytest.mark.parametrize(
    ("content_type", "payload"),
    [
        ("json", encode_call(JSON, ("a",), {"b": 1})),
        ("msgpack", encode_call(MSGPACK, (b"\xff", 2**80), {})),
        ("protobuf", b"\x08\x01"),
        ("protobuf", b""),
    ],
)
async def test_payloads_are_stored_as_they_come(
    bare: Served, content_type: str, payload: bytes
) -> None:
    job = await bare.stored(await bare.client.enqueue("t", payload, content_type=content_type))
    assert (job.spec.payload, job.spec.content_type) == (payload, content_type)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"task": ""}, "The name of a task is a text of 1 to 128 characters."),
    ({"payload": b"[1,[],{}]"}, "payload needs content_type: json, msgpack or protobuf."),
    ({"payload": b"{}", "content_type": "json"}, "which is [1, args, kwargs]"),
    ({"payload": b"[2,[],{}]", "content_type": "json"}, "version 2"),
    ({"payload": b"\xc1", "content_type": "msgpack"}, "not valid MessagePack"),
    ({"payload": b"", "content_type": "xml"}, "content_type is json, msgpack or protobuf"),
    ({"content_type": "protobuf"}, "takes one argument, the message"),
    ({"priority": 101}, "priority is a whole number from 0 to 100"),
    ({"max_retries": -1}, "max_retries is a whole number"),
    ({"delay_ms": -5}, "delay"),
    ({"delay_ms": 2**62}, "delay is at most 100 years."),
    ({"due_ms": 2**62}, "A moment is a number of milliseconds since 1970"),
    ({"expires_at_ms": -1}, "A moment is a number of milliseconds since 1970"),
    ({"delay_ms": 1, "due_ms": 1}, "Give delay or at, not both."),
    ({"unique": "a", "unique_arguments": True}, "Give unique or unique_arguments, not both."),
    ({"unique": "a", "unique_until": "noon"}, "unique_for is finished, started"),
    ({"unique_for_ms": 5}, "unique_for says something about unique"),
    ({"unique": "a", "on_conflict": "fight"}, "on_conflict is reject, replace or last"),
    ({"orphaned": "weep"}, "orphaned"),
    ({"id": "a\n"}, "A job id has printable characters only"),
    ({"id": "a", "depends_on": ["a"]}, "Job a cannot depend on itself."),
    ({"depends_on": ["nobody"]}, "nobody"),
    ({"limit": pb.Limit(window=True)}, "A Limit has a rate, a concurrency, or both."),
    ({"limit": pb.Limit(rate="often")}, "rate is a text as 10/s"),
    ({"weight": 2}, "weight says something about group"),
]


@pytest.mark.parametrize(("fields", "sentence"), WRONG, ids=[str(each[0]) for each in WRONG])
async def test_what_cannot_be_is_refused_and_nothing_is_stored(
    bare: Served, fields: dict[str, Any], sentence: str
) -> None:
    good, bad = pb.NewJob(task="t"), pb.NewJob(**({"task": "t"} | fields))
    request = pb.EnqueueManyRequest(jobs=[good, bad])
    code, said = await bare.client.refusal("Jobs.EnqueueMany", request)
    assert code in (INVALID, grpc.StatusCode.NOT_FOUND)
    assert sentence in said
    assert not await bare.store.queues()


async def test_many_jobs_are_stored_in_order_with_a_receipt_each(client: Client) -> None:
    jobs = [
        pb.NewJob(task="t", payload=json.dumps([1, [n], {}]).encode(), content_type="json")
        for n in range(5)
    ]
    jobs[2].id = jobs[4].id = "twice"
    answer = await client("Jobs.EnqueueMany", pb.EnqueueManyRequest(jobs=jobs))
    assert [each.duplicate for each in answer.receipts] == [False] * 4 + [True]
    assert answer.receipts[4].id == "twice"
    fetched = await client.fetch()
    assert [job.payload for job in fetched] == [b"[1, [%d], {}]" % n for n in range(4)]


async def test_a_batch_has_a_bound_and_a_job(serve: Serve) -> None:
    client = (await serve(max_batch=2)).client
    many = pb.EnqueueManyRequest(jobs=[pb.NewJob(task="t")] * 3)
    code, said = await client.refusal("Jobs.EnqueueMany", many)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert said == "A request has at most 2 jobs, and this one has 3."
    code, said = await client.refusal("Jobs.EnqueueMany", pb.EnqueueManyRequest())
    assert (code, said) == (INVALID, "EnqueueMany needs a job at least.")


async def test_a_job_is_found_in_the_order_asked_and_without_its_payload(client: Client) -> None:
    ids = [await client.enqueue(payload=b'[1,["secret"],{}]') for _ in range(3)]
    found = await client("Jobs.Get", pb.GetRequest(ids=[ids[2], "nobody", ids[0]]))
    assert [job.id for job in found.jobs] == [ids[2], ids[0]]
    assert b"secret" not in found.SerializeToString()
    assert (found.jobs[0].state, found.jobs[0].content_type) == ("pending", "json")


async def test_results_that_are_too_many_are_refused(serve: Serve) -> None:
    client = (await serve(max_body=3000)).client
    ids = [await client.enqueue(payload=b"", content_type="protobuf") for _ in range(2)]
    for job in await client.fetch():
        await client.ack(job, result=b"x" * 2000)
    assert len((await client.job(ids[0])).result) == 2000
    code, said = await client.refusal("Jobs.Get", pb.GetRequest(ids=ids))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert said.endswith("ask for fewer jobs.")


async def test_a_page_is_no_larger_than_clients_take(bare: Served) -> None:
    spec = Spec("t", b"", labels={"k": "é" * 8_000})
    await bare.store.insert([NewJob(f"j{n:03}", spec) for n in range(250)])
    found, cursor = list[str](), ""
    while True:
        page = await bare.client("Jobs.List", pb.ListRequest(limit=250, cursor=cursor))
        assert page.ByteSize() <= 3 * 1024 * 1024 + 1_000
        found += [job.id for job in page.jobs]
        cursor = page.cursor
        if not cursor:
            break
    assert found == [f"j{n:03}" for n in range(250)]


async def test_jobs_are_listed_page_by_page(client: Client) -> None:
    for n in range(5):
        await client.enqueue(f"t{n % 2}", queue="mail", id=f"job-{n}")
    await client.enqueue(queue="sms", delay_ms=60_000)
    seen, cursor = [], ""
    while True:
        page = await client("Jobs.List", pb.ListRequest(queue="mail", limit=2, cursor=cursor))
        seen += [job.id for job in page.jobs]
        cursor = page.cursor
        if not cursor:
            break
    assert seen == [f"job-{n}" for n in range(5)]
    page = await client("Jobs.List", pb.ListRequest(states=["scheduled"]))
    assert [job.queue for job in page.jobs] == ["sms"]
    page = await client("Jobs.List", pb.ListRequest(task="t1"))
    assert [job.id for job in page.jobs] == ["job-1", "job-3"]


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        (pb.ListRequest(states=["lost"]), "A state is one of blocked, scheduled,"),
        (pb.ListRequest(cursor="elsewhere"), "cursor"),
        (pb.ListRequest(limit=-1), "limit is a number of jobs"),
        (pb.ListRequest(queue="a\0"), "printable characters only"),
    ],
)
async def test_a_listing_that_cannot_be_is_refused(
    client: Client, request_: pb.ListRequest, sentence: str
) -> None:
    code, said = await client.refusal("Jobs.List", request_)
    assert code is INVALID
    assert sentence in said


async def test_jobs_are_called_off_and_removed(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "windlass.audit")
    one, two = await client.enqueue(), await client.enqueue()
    done = await client("Jobs.Cancel", pb.CancelRequest(ids=[one, "nobody"]))
    assert list(done.changed) == [one]
    assert dict(done.refused) == {"nobody": "There is no job nobody."}
    await client.fetch()
    done = await client("Jobs.Delete", pb.DeleteRequest(ids=[one, two]))
    assert list(done.changed) == [one]
    assert dict(done.refused) == {two: f"Job {two} cannot be deleted: it is active."}
    notes = [json.loads(each.getMessage()) for each in caplog.records]
    assert [(each["action"], each["target"]["ids"]) for each in notes] == [
        ("cancel", [one]),
        ("delete", [one]),
    ]
    assert notes[0]["address"] == "127.0.0.1"


async def test_a_refused_change_is_written_down_too(
    bare: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "windlass.audit")
    reader = await bare.with_key("read")
    await reader.refusal("Jobs.Cancel", pb.CancelRequest(ids=["a"]))
    (note,) = (json.loads(each.getMessage()) for each in caplog.records)
    assert note["action"] == "cancel"
    assert note["outcome"].startswith("This needs a key with the role operate")
    (key,) = await bare.store.keys()
    assert note["caller"] == key.id


async def test_a_change_whose_caller_leaves_meanwhile_is_written_down_once(
    bare: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "windlass.audit")
    id, entered, gone = await bare.client.enqueue(), asyncio.Event(), asyncio.Event()
    cancel = bare.store.cancel

    async def cancelled(ids: Any) -> Any:
        done = await cancel(ids)
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        return done

    monkeypatch.setattr(bare.store, "cancel", cancelled)
    asking = asyncio.ensure_future(bare.client("Jobs.Cancel", pb.CancelRequest(ids=[id])))
    await entered.wait()
    asking.cancel()
    await gone.wait()
    await bare.client.job(id)
    (note,) = (json.loads(each.getMessage()) for each in caplog.records)
    assert (note["action"], "may have been done" in note["outcome"]) == ("cancel", True)


async def test_the_log_has_neither_keys_nor_payloads(
    bare: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    client = await bare.with_key("admin")
    await client.enqueue(payload=b'[1,["secret"],{}]')
    (job,) = await client.fetch()
    await client.nack(job, message="secret")
    await client.refusal("Jobs.Enqueue", b"\xffsecret")
    assert "windlass.v1.Jobs.Enqueue OK" in caplog.text
    assert "secret" not in caplog.text
    assert "wl_" not in caplog.text


async def test_what_nobody_expected_says_nothing_of_the_inside(
    bare: Served, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*args: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr(bare.site.offers, "enqueue", broken)
    request = pb.EnqueueRequest(job=pb.NewJob(task="t"))
    code, said = await bare.client.refusal("Jobs.Enqueue", request)
    assert code is grpc.StatusCode.INTERNAL
    assert said == "The server failed to carry this out; its log says why."
    assert "the inside" in caplog.text
