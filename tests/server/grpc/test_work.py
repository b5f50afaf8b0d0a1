"""Workers: what they fetch, and what they say of it. A lease that is lost counts for nothing."""

import asyncio

import grpc
import pytest

from tests.server.grpc.client import Client, Served, until
from tests.server.grpc.conftest import Serve
from windlass import Windlass
from windlass.config import WorkerSettings
from windlass.core.codec import JSON, encode_call
from windlass.core.model import Lease
from windlass.core.outcome import Lost, decide
from windlass.core.states import State
from windlass.protocol import windlass_pb2 as pb

INVALID = grpc.StatusCode.INVALID_ARGUMENT


async def lose(served: Served, job: pb.FetchedJob) -> None:
    """Let a lease run out, and the job be rescued and be pending again."""
    await served.store.renew([served_lease(job)], 1)
    (rescued,) = await until(lambda: served.store.rescue(1, 30_000, "rescuer"))
    move = decide(rescued, Lost())
    await served.store.finish([move])
    await served.store.reschedule([job.id])


def served_lease(job: pb.FetchedJob) -> Lease:
    return Lease(job.lease.id, job.lease.fence)


async def test_a_fetched_job_is_all_that_a_worker_must_know(stored: Served) -> None:
    client, payload = stored.client, encode_call(JSON, ("a",), {})
    id = await client.enqueue(
        "send", payload, queue="mail", timeout_ms=5000, labels={"a": "b"}, headers={"h": "1"}
    )
    (job,) = await client.fetch("mail", lease_ms=60_000)
    kept = await stored.stored(id)
    assert (job.id, job.task, job.queue, job.priority) == (id, "send", "mail", 50)
    assert (job.attempt, job.max_retries, job.timeout_ms) == (1, 3, 5000)
    assert (job.payload, job.content_type) == (payload, "json")
    assert (dict(job.labels), dict(job.headers)) == ({"a": "b"}, {"h": "1"})
    assert (job.lease.id, job.lease.fence) == (id, kept.fence)
    assert (job.created_ms, job.lease_until_ms) == (kept.created_at, kept.lease_until)
    assert job.lease_until_ms - job.created_ms >= 60_000
    assert (kept.state, kept.worker) == (State.ACTIVE, "w")


async def test_a_result_can_be_read_in_python(serve: Serve, url: str) -> None:
    app = Windlass(url)

    @app.task
    def add(a: int, b: int) -> int:
        raise AssertionError("not here")

    client = (await serve(app)).client
    handle = await add.using(id="sum").aenqueue(1, b=2)
    (job,) = await client.fetch()
    assert await client.ack(job, result=b"\x92\x01\x03") == ["sum"]
    assert await handle.aresult(timeout=10) == 3


async def test_queues_are_asked_in_order_each_for_its_share(worker: Client) -> None:
    for n in range(3):
        await worker.enqueue(queue="high", id=f"high-{n}")
        await worker.enqueue(queue="low", id=f"low-{n}")
    shares = [pb.Share(queue="high", most=2), pb.Share(queue="low")]
    jobs = await worker.fetch(queues=shares, limit=4)
    assert [job.id for job in jobs] == ["high-0", "high-1", "low-0", "low-1"]


async def test_an_ack_after_the_lease_was_lost_is_refused_and_the_others_are_taken(
    stored: Served,
) -> None:
    client = stored.client
    await client.enqueue(id="lost")
    (zombie,) = await client.fetch()
    await lose(stored, zombie)
    await client.enqueue(id="kept")
    again, kept = sorted(await client.fetch(), key=lambda job: job.id, reverse=True)
    assert again.lease.fence > zombie.lease.fence
    assert await client.ack(zombie, kept, result=b"[1,0]") == ["kept"]
    assert await client.nack(zombie, fatal=True) == []
    held = await client("Work.Extend", pb.ExtendRequest(leases=[zombie.lease]))
    assert not held.ids
    assert not (await client("Work.Release", pb.ReleaseRequest(leases=[zombie.lease]))).ids
    report = pb.Report(lease=zombie.lease, progress=pb.Progress(percent=9))
    await client("Work.Progress", pb.ProgressRequest(reports=[report]))
    job = await client.job("lost")
    assert (job.state, job.attempt, job.HasField("progress")) == ("active", 1, False)
    assert await client.ack(again, result=b"[1,1]") == ["lost"]
    assert (await client.job("lost")).result == b"[1,1]"


async def test_of_two_leases_of_one_job_the_last_counts(stored: Served) -> None:
    client = stored.client
    await client.enqueue(id="a")
    (old,) = await client.fetch()
    await lose(stored, old)
    (new,) = await client.fetch()
    extend = pb.ExtendRequest(leases=[new.lease, old.lease])
    assert list((await client("Work.Extend", extend)).ids) == ["a"]
    assert await client.ack(old, new, old) == ["a"]


async def test_an_ack_that_is_repeated_is_taken_and_changes_nothing(worker: Client) -> None:
    id = await worker.enqueue()
    (job,) = await worker.fetch()
    assert await worker.ack(job, result=b"[1,1]") == [id]
    assert await worker.ack(job, result=b"[1,2]") == [id]
    assert (await worker.job(id)).result == b"[1,1]"
    assert await worker.nack(job) == []


async def test_a_lease_is_held_for_as_long_as_it_is_extended(stored: Served) -> None:
    client = stored.client
    id = await client.enqueue()
    (job,) = await client.fetch(lease_ms=1000)
    extend = pb.ExtendRequest(leases=[job.lease], lease_ms=600_000)
    assert list((await client("Work.Extend", extend)).ids) == [id]
    until_ms = (await stored.stored(id)).lease_until
    assert until_ms is not None
    assert until_ms - job.lease_until_ms > 500_000


async def test_a_job_that_was_called_off_is_missing_from_what_is_held(worker: Client) -> None:
    ids = [await worker.enqueue(), await worker.enqueue()]
    jobs = await worker.fetch()
    await worker("Jobs.Cancel", pb.CancelRequest(ids=[ids[0]]))
    extend = pb.ExtendRequest(leases=[job.lease for job in jobs])
    assert list((await worker("Work.Extend", extend)).ids) == [ids[1]]
    assert await worker.ack(*jobs) == [ids[1]]
    assert (await worker.job(ids[0])).state == "cancelled"


async def test_a_failure_is_retried_and_then_dead(stored: Served) -> None:
    client = stored.client
    id = await client.enqueue(max_retries=1)
    (job,) = await client.fetch()
    assert await client.nack(job, traceback="at line 3", retry_after_ms=0) == [id]
    kept = await stored.stored(id)
    assert (kept.state, kept.attempt) == (State.RETRY, 1)
    assert kept.error is not None
    assert (kept.error.kind, kept.error.message, kept.error.traceback) == (
        "Boom",
        "no",
        "at line 3",
    )
    (job,) = await client.fetch(wait_ms=5000)
    assert job.attempt == 2
    assert await client.nack(job) == [id]
    assert (await client.job(id)).state == "dead"
    assert await client.nack(job) == [id]


async def test_a_worker_can_say_when_to_try_again_or_never(stored: Served) -> None:
    client = stored.client
    later, never = await client.enqueue(), await client.enqueue()
    first, second = await client.fetch()
    await client.nack(first, retry_after_ms=3_600_000)
    await client.nack(second, fatal=True, kind="", message="a\0b" * 5000)
    job = await client.job(later)
    assert 3_590_000 < job.due_ms - await stored.store.now() <= 3_600_000
    dead = await client.job(never)
    assert (dead.state, dead.error.kind) == ("dead", "Error")
    assert "\0" not in dead.error.message
    assert len(dead.error.message) < 3000


async def test_the_task_of_an_app_says_when_to_try_again(serve: Serve) -> None:
    app = Windlass("memory://")

    @app.task(backoff=1800, jitter=0)
    def slow() -> None: ...

    @app.task(backoff=lambda n, error: 1 / 0)
    def broken() -> None: ...

    served = await serve(app)
    for task in ("slow", "broken"):
        await served.client.enqueue(task)
    slow_job, broken_job = await served.client.fetch()
    now = await served.store.now()
    await served.client.nack(slow_job)
    assert 1_790_000 < (await served.client.job(slow_job.id)).due_ms - now < 1_830_000
    assert await served.client.nack(broken_job) == [broken_job.id]
    assert (await served.client.job(broken_job.id)).state == "retry"


async def test_a_released_job_has_lost_no_attempt(stored: Served) -> None:
    client = stored.client
    ids = [await client.enqueue(), await client.enqueue()]
    jobs = await client.fetch()
    first = pb.ReleaseRequest(leases=[jobs[0].lease])
    assert list((await client("Work.Release", first)).ids) == [ids[0]]
    later = pb.ReleaseRequest(leases=[jobs[1].lease], delay_ms=60_000)
    await client("Work.Release", later)
    assert [(await stored.stored(id)).attempt for id in ids] == [0, 0]
    assert [(await client.job(id)).state for id in ids] == ["pending", "scheduled"]
    (again,) = await client.fetch()
    assert (again.id, again.attempt) == (ids[0], 1)


async def test_a_job_of_an_unknown_task_waits_for_a_worker_that_knows_it(worker: Client) -> None:
    id = await worker.enqueue("mystery")
    (job,) = await worker.fetch()
    release = pb.ReleaseRequest(leases=[job.lease], unknown_task=True)
    assert list((await worker("Work.Release", release)).ids) == [id]
    waiting = await worker.job(id)
    assert (waiting.state, waiting.attempt, waiting.error.kind) == ("scheduled", 0, "UnknownTask")


async def test_progress_is_noted(worker: Client) -> None:
    id = await worker.enqueue()
    (job,) = await worker.fetch()
    reports = [
        pb.Report(lease=job.lease, progress=pb.Progress(percent=percent, message=f"{percent}"))
        for percent in (10, 40)
    ]
    await worker("Work.Progress", pb.ProgressRequest(reports=reports))
    assert (await worker.job(id)).progress == pb.Progress(percent=40, message="40")


async def test_a_checkpoint_comes_with_the_next_attempt(worker: Client) -> None:
    id = await worker.enqueue()
    (job,) = await worker.fetch()
    state = pb.State(lease=job.lease, state=b'[1,{"page":7}]')
    kept = await worker("Work.Checkpoint", pb.CheckpointRequest(states=[state]))
    assert list(kept.ids) == [id]
    await worker.nack(job, retry_after_ms=0)
    (again,) = await worker.fetch(wait_ms=5000)
    assert again.checkpoint == b'[1,{"page":7}]'


WRONG_RESULTS = [
    ("json", b"7", "which is [1, value]"),
    ("json", b"[1,", "not valid JSON"),
    ("msgpack", b"[1,7]", "msgpack"),
    ("json", b"[1,1,1]", "which is [1, value]"),
]


@pytest.mark.parametrize(("content_type", "result", "sentence"), WRONG_RESULTS)
async def test_a_result_that_nobody_could_read_is_refused_and_nothing_is_written(
    worker: Client, content_type: str, result: bytes, sentence: str
) -> None:
    good = await worker.enqueue(payload=b"", content_type="protobuf")
    bad = await worker.enqueue(content_type=content_type)
    jobs = await worker.fetch()
    done = [pb.Done(lease=job.lease, result=result) for job in jobs]
    code, said = await worker.refusal("Work.Ack", pb.AckRequest(jobs=done))
    assert code is INVALID
    assert sentence in said
    assert [(await worker.job(id)).state for id in (good, bad)] == ["active", "active"]
    state = pb.CheckpointRequest(states=[pb.State(lease=jobs[1].lease, state=result)])
    assert (await worker.refusal("Work.Checkpoint", state))[0] is INVALID


async def test_a_result_that_is_too_large_is_refused(serve: Serve) -> None:
    client = (await serve(Windlass("memory://", max_payload=100), has_tasks=False)).client
    await client.enqueue(payload=b"", content_type="protobuf")
    (job,) = await client.fetch()
    done = pb.AckRequest(jobs=[pb.Done(lease=job.lease, result=b"x" * 101)])
    code, said = await client.refusal("Work.Ack", done)
    assert code is INVALID
    assert "the limit is 100" in said


async def test_a_worker_is_on_the_list_until_it_leaves(stored: Served) -> None:
    client = stored.client
    info = pb.RegisterRequest(
        worker="node-1", host="box", pid=7, queues=["mail", "a:b"], concurrency=5, started_ms=99
    )
    answer = await client("Work.Register", info)
    assert (answer.beat_ms, answer.life_ms) == (5000, 30_000)
    info.active = 3
    await client("Work.Register", info)
    (found,) = await stored.store.workers()
    assert (found.id, found.host, found.pid, found.queues) == (
        "node-1",
        "box",
        7,
        ("mail", "a:b:1"),
    )
    assert (found.concurrency, found.active, found.started_at) == (5, 3, 99)
    await client("Work.Leave", pb.LeaveRequest(worker="node-1"))
    assert not await stored.store.workers()


@pytest.mark.parametrize(
    ("name", "request_", "sentence"),
    [
        ("Register", pb.RegisterRequest(worker="", queues=["a"]), "The name of a worker"),
        ("Register", pb.RegisterRequest(worker="w"), "from 1 to 100 queues"),
        ("Register", pb.RegisterRequest(worker="w", queues=["*"]), "names its queues one by one"),
        ("Register", pb.RegisterRequest(worker="w", queues=["a"], pid=-1), "pid is a whole number"),
        ("Fetch", pb.FetchRequest(worker="w"), "from 1 to 100 queues"),
        ("Fetch", pb.FetchRequest(worker="w", queues=[pb.Share()]), "The name of a queue"),
        (
            "Fetch",
            pb.FetchRequest(worker="w", queues=[pb.Share(queue="a", most=-1)]),
            "most is the number of jobs",
        ),
        (
            "Fetch",
            pb.FetchRequest(worker="w", queues=[pb.Share(queue="a")], lease_ms=10),
            "lease_ms is a number from 1,000 to 86,400,000; got 10.",
        ),
        (
            "Fetch",
            pb.FetchRequest(worker="w", queues=[pb.Share(queue="a")], wait_ms=-1),
            "wait_ms is a number of milliseconds, 0 or more; got -1.",
        ),
        (
            "Extend",
            pb.ExtendRequest(leases=[pb.Lease(id="a", fence=2**60)]),
            "fence is a whole number",
        ),
        ("Ack", pb.AckRequest(jobs=[pb.Done()]), "A job id is a text of 1 to 128 characters."),
        (
            "Nack",
            pb.NackRequest(jobs=[pb.Failed(lease=pb.Lease(id="a"), retry_after_ms=-1)]),
            "retry_after_ms is a number of milliseconds",
        ),
        (
            "Release",
            pb.ReleaseRequest(leases=[pb.Lease(id="a")], delay_ms=1, unknown_task=True),
            "Give delay_ms or unknown_task, not both.",
        ),
        (
            "Progress",
            pb.ProgressRequest(
                reports=[
                    pb.Report(lease=pb.Lease(id="a"), progress=pb.Progress(percent=float("nan")))
                ]
            ),
            "percent is a number from 0 to 100",
        ),
    ],
)
async def test_what_makes_no_sense_is_refused(
    client: Client, name: str, request_: pb.FetchRequest, sentence: str
) -> None:
    code, said = await client.refusal(f"Work.{name}", request_)
    assert code is INVALID
    assert sentence in said


async def test_a_worker_that_has_nothing_to_say_may_say_it(client: Client) -> None:
    for name in ("Extend", "Ack", "Nack", "Release", "Progress", "Checkpoint"):
        assert (await client.refusal(f"Work.{name}"))[0] is grpc.StatusCode.OK


async def test_a_worker_in_python_and_another_share_a_queue(serve: Serve, url: str) -> None:
    app = Windlass(url)
    ran: list[int] = []

    @app.task
    async def note(number: int) -> None:
        ran.append(number)

    served = await serve(app)
    handles = [await note.aenqueue(n) for n in range(20)]
    jobs = await served.client.fetch(limit=5)
    worker = await app.worker(WorkerSettings(concurrency=2))
    await worker.start()
    await served.client.ack(*jobs)
    await asyncio.gather(*(handle.aresult(timeout=20) for handle in handles))
    await worker.stop()
    assert sorted(ran) == list(range(5, 20))
