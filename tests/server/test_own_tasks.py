"""Tasks of Windlass itself: nobody has more stored, or told, by a workflow than by a job."""

import asyncio
from base64 import b64encode
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.remote.conftest import call, with_key
from tests.server.serving import Served
from windlass.core.codec import MSGPACK, encode_call
from windlass.core.ids import idempotent_id
from windlass.core.model import Failure, NewJob, Spec, Transition
from windlass.core.result import JUDGE
from windlass.core.states import State
from windlass.errors import InvalidOption, WrongState
from windlass.workflows.outline import OWN_TASKS

OURS, THEIRS = "mail", "bank"
ROLES = ("read", "enqueue", "operate", "work")
CALLER = with_key(*ROLES, queues=(OURS,))
NOTHING = encode_call(MSGPACK, (), {})
PLAIN = Spec("x", NOTHING, "msgpack")


@pytest.fixture
async def key(bare: Served) -> str:
    return await bare.add_key(*ROLES, queues=[OURS])


def judge(
    id: str, number: Any = 0, success: NewJob | None = None, workflow: str | None = None
) -> NewJob:
    packed = None if success is None else msgspec.msgpack.encode(success)
    payload = encode_call(MSGPACK, (number, packed, None), {}, id, JUDGE)
    spec = Spec(JUDGE, payload, "msgpack", max_retries=0, workflow=workflow or id)
    return NewJob(id, spec, OURS)


async def run(api: Served, key: str, queue: str = OURS) -> list[Any]:
    """Have what is there claimed by a worker: what is of Windlass itself, the server runs."""
    asked = {"worker": "w", "queues": [queue], "limit": 10}
    answer = await api.post("work/fetch", asked, key=key)
    assert answer.status == 200, answer
    return list(answer.json["jobs"])


@pytest.mark.parametrize("task", sorted(OWN_TASKS))
async def test_they_cannot_be_named_in_a_request(bare: Served, key: str, task: str) -> None:
    theirs = NewJob("evil", PLAIN, THEIRS)
    args = [0, b64encode(msgspec.msgpack.encode(theirs)).decode(), None]
    body = {"task": task, "queue": OURS, "args": args}
    short = {"type": task, "queue": OURS, "payload": args}
    for method, path, sent in (
        ("POST", "jobs", body),
        ("POST", "jobs/batch", {"jobs": [body]}),
        ("POST", "/enqueue", short),
        ("PUT", "cron/evil", {"text": "* * * * *", "job": body}),
    ):
        answer = await bare(method, path, sent, key=key)
        assert (answer.status, answer.json["error"]) == (422, "InvalidOption"), path
    assert await bare.number() == 0


async def test_a_workflow_tells_nothing_of_a_job_whose_id_looks_like_one_of_its_own(
    bare: Served, key: str
) -> None:
    store = bare.store
    await store.insert([NewJob("order.1", PLAIN, THEIRS)])
    (job,) = await store.claim({THEIRS: 1}, 1, 60_000, "w")
    failure = Failure("Boom", "the card 4711 was refused")
    await store.finish([Transition(job.id, job.fence, State.DEAD, error=failure)])
    await call(bare.site, "insert", CALLER, jobs=[judge("order")])
    assert await run(bare, key) == []
    async with asyncio.timeout(30):
        while (found := (await store.get(["order"]))["order"]).state is not State.COMPLETED:
            assert found.state in (State.PENDING, State.ACTIVE), found.error
            await asyncio.sleep(0.01)


async def test_no_workflow_takes_the_steps_of_another_one_for_its_own(bare: Served) -> None:
    step = NewJob("sale.7", replace(PLAIN, workflow="sale"), THEIRS)
    await bare.store.insert([step])
    with pytest.raises(WrongState, match="choose another"):
        await call(bare.site, "insert", CALLER, jobs=[judge("sale")])
    with pytest.raises(InvalidOption, match="another id"):
        await call(bare.site, "insert", CALLER, jobs=[judge("mine", workflow="other")])
    assert await bare.number() == 1


@pytest.mark.parametrize(
    "one",
    [
        judge("w", success=NewJob("held", PLAIN, OURS, fresh=True)),
        judge("w", success=NewJob(f"{idempotent_id('someone', 'order 17')}.1", PLAIN, OURS)),
        judge("w", success=NewJob("nightly@2030-01-01T00:00:00", PLAIN, OURS)),
        judge("w", 10**12),
        judge("w", -1),
        judge("w", True),
        judge("w", "9"),
    ],
)
async def test_a_workflow_that_would_do_what_its_caller_may_not_is_refused(
    bare: Served, one: NewJob
) -> None:
    await bare.store.insert([NewJob("held", PLAIN, THEIRS)])
    with pytest.raises(InvalidOption):
        await call(bare.site, "insert", CALLER, jobs=[one])
    assert await bare.number() == 1


async def test_a_replay_with_changes_loses_nothing_to_one_who_guessed_its_id(
    bare: Served, key: str
) -> None:
    admin = await bare.add_key("admin")
    await bare.store.insert([NewJob("held", PLAIN, THEIRS)])
    await bare.store.cancel(["held"])
    job = (await bare.store.get(["held"]))["held"]
    guessed = idempotent_id(f"replay {job.fence}", job.id)
    await bare.store.insert([NewJob(guessed, PLAIN, OURS)])
    answer = await bare.post("jobs/held/replay", {"args": [1]}, key=admin)
    assert answer.status == 409, answer
    assert (await bare.store.get(["held"]))["held"].state is State.CANCELLED
