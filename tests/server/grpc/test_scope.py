"""A key with queues: what lies in other queues is not there."""

import grpc
import pytest

from tests.server.grpc.client import Client, Served
from tests.server.grpc.conftest import Serve
from windlass.protocol import windlass_pb2 as pb

DENIED = grpc.StatusCode.PERMISSION_DENIED


@pytest.fixture
async def everywhere(bare: Served) -> Client:
    return await bare.with_key("admin")


@pytest.fixture
async def mail(bare: Served) -> Client:
    """All roles but admin, for one queue."""
    return await bare.with_key("enqueue", "work", "operate", queues=["mail"])


async def test_jobs_of_other_queues_are_not_there(everywhere: Client, mail: Client) -> None:
    own, other = await everywhere.enqueue(queue="mail"), await everywhere.enqueue(queue="sms")
    found = await mail("Jobs.Get", pb.GetRequest(ids=[own, other]))
    assert [job.id for job in found.jobs] == [own]
    listed = await mail("Jobs.List", pb.ListRequest())
    assert [job.id for job in listed.jobs] == [own]
    events = [event async for event in mail.watch(other)]
    assert [(event.id, event.HasField("job")) for event in events] == [(other, False)]


async def test_jobs_of_other_queues_cannot_be_changed(everywhere: Client, mail: Client) -> None:
    other = await everywhere.enqueue(queue="sms")
    for name, kind in (("Cancel", pb.CancelRequest), ("Delete", pb.DeleteRequest)):
        answer = await mail(f"Jobs.{name}", kind(ids=[other]))
        assert dict(answer.refused) == {other: f"There is no job {other}."}
    assert (await everywhere.job(other)).state == "pending"


async def test_other_queues_get_no_jobs(mail: Client) -> None:
    await mail.enqueue(queue="mail")
    code, sentence = await mail.refusal(
        "Jobs.EnqueueMany",
        pb.EnqueueManyRequest(jobs=[pb.NewJob(task="a", queue=each) for each in ("mail", "sms")]),
    )
    assert code is DENIED
    assert "is bound to mail" in sentence
    assert len((await mail("Jobs.List", pb.ListRequest())).jobs) == 1


async def test_jobs_of_other_queues_cannot_be_depended_on(everywhere: Client, mail: Client) -> None:
    other = await everywhere.enqueue(queue="sms")
    job = pb.NewJob(task="a", queue="mail", depends_on=[other])
    for name, request in (
        ("Enqueue", pb.EnqueueRequest(job=job)),
        ("EnqueueMany", pb.EnqueueManyRequest(jobs=[job])),
    ):
        code, sentence = await mail.refusal(f"Jobs.{name}", request)
        assert code is grpc.StatusCode.NOT_FOUND
        assert f"There is no job {other}" in sentence


async def test_other_queues_give_no_jobs(mail: Client) -> None:
    shares = [pb.Share(queue="mail"), pb.Share(queue="sms")]
    code, _ = await mail.refusal("Work.Fetch", pb.FetchRequest(worker="w", queues=shares))
    assert code is DENIED
    code, _ = await mail.refusal("Work.Register", pb.RegisterRequest(worker="w", queues=["sms"]))
    assert code is DENIED


async def test_leases_of_other_queues_do_not_hold(everywhere: Client, mail: Client) -> None:
    await everywhere.enqueue(queue="sms")
    (job,) = await everywhere.fetch("sms")
    assert await mail.ack(job) == []
    assert await mail.nack(job) == []
    assert not (await mail("Work.Release", pb.ReleaseRequest(leases=[job.lease]))).ids
    assert not (await mail("Work.Extend", pb.ExtendRequest(leases=[job.lease]))).ids
    assert (await everywhere.job(job.id)).state == "active"
    assert await everywhere.ack(job) == [job.id]


async def test_names_of_others_are_neither_taken_nor_told(serve: Serve) -> None:
    served = await serve()
    mail = await served.with_key("enqueue", queues=["mail"])
    bank = await served.with_key("enqueue", queues=["bank"])
    assert await bank.enqueue(queue="bank", id="inv-17", unique="u") == "inv-17"
    second = await mail.enqueue(queue="mail", unique="u")
    assert await mail.enqueue(queue="mail", unique="u") == second != "inv-17"
    taken = pb.NewJob(task="send", queue="mail", id="inv-17")
    code, sentence = await mail.refusal("Jobs.Enqueue", pb.EnqueueRequest(job=taken))
    assert (code, "bank" in sentence) == (grpc.StatusCode.FAILED_PRECONDITION, False)
    jobs = [pb.NewJob(task="send", queue="mail", id="mine"), taken]
    code, _ = await mail.refusal("Jobs.EnqueueMany", pb.EnqueueManyRequest(jobs=jobs))
    assert code == grpc.StatusCode.FAILED_PRECONDITION
    assert set(await served.store.get(["mine", "inv-17"])) == {"inv-17"}


async def test_a_worker_of_another_key_is_not_spoken_for(serve: Serve) -> None:
    served = await serve()
    mail = await served.with_key("work", queues=["mail"])
    bank = await served.with_key("work", queues=["bank"])
    await bank("Work.Register", pb.RegisterRequest(worker="w", queues=["bank"]))
    code, _ = await mail.refusal("Work.Register", pb.RegisterRequest(worker="w", queues=["mail"]))
    assert code == grpc.StatusCode.PERMISSION_DENIED
    await mail("Work.Leave", pb.LeaveRequest(worker="w"))
    assert [each.queues for each in await served.store.workers()] == [("bank",)]
