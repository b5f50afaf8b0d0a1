"""Steps of workflows whose limit, sequence, group or batch comes of their arguments."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Batch, Context, Limit, State, Windlass, chain, chord, group
from windlass.config import WorkerSettings
from windlass.core.codec import JSON
from windlass.core.model import Job, JobQuery, NewJob, Receipt
from windlass.core.states import FINISHED
from windlass.errors import InvalidOption, JobFailed
from windlass.middleware import Middleware, changed
from windlass.stores.contract import Store
from windlass.testing.work import work
from windlass.workflows.outline import keys_id


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


async def job_of(store: Store, id: str) -> Job:
    return (await store.get([id]))[id]


async def test_a_first_step_has_the_lane_of_its_arguments(app: Windlass) -> None:
    @app.task(sequence=lambda name: name)
    async def send(name: str) -> str:
        return f"to {name}"

    workflow = await app.aenqueue_workflow(chain(send.step("ada")))
    (job,) = await workflow.ajobs()
    assert job.spec.lane is not None
    assert job.spec.lane.name == "sequence:ada"
    await work(app)
    assert await workflow.aresult() == "to ada"


async def test_a_step_has_the_lane_of_what_flows_into_it(app: Windlass) -> None:
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()

    @app.task
    async def owner(n: int) -> str:
        return "ada" if n % 2 else "bob"

    @app.task(limit=Limit(concurrency=1, key=lambda name, n: name))
    async def send(name: str, n: int) -> str:
        running[name] += 1
        most[name] = max(most[name], running[name])
        await asyncio.sleep(0.001)
        running[name] -= 1
        return f"{n} to {name}"

    @app.task
    async def count(sent: list[str]) -> int:
        return len(sent)

    flow = chord(group(*(chain(owner.step(n), send.step(n)) for n in range(8))), count.step())
    workflow = await app.aenqueue_workflow(flow)
    await work(app, WorkerSettings(concurrency=20))
    assert await workflow.aresult() == 8
    assert most == {"ada": 1, "bob": 1}
    lanes = Counter(job.spec.lane.name for job in await workflow.ajobs() if job.spec.lane)
    assert lanes == {"limit:send:ada": 4, "limit:send:bob": 4}
    assert not any(job.spec.headers for job in await workflow.ajobs())


async def test_the_group_and_the_batch_of_a_step_come_of_what_flows_in(app: Windlass) -> None:
    @app.task
    async def owner(n: int) -> str:
        return f"u{n}"

    @app.task(group=lambda name: name)
    async def fair(name: str) -> str:
        return name

    @app.task(batch=Batch(size=10, grace=0.05, key=lambda name: name[0]))
    async def together(names: list[str]) -> list[str]:
        return [f"{name} of {len(names)}" for name in names]

    one = await app.aenqueue_workflow(chain(owner.step(1), fair.step()), id="one")
    many = group(*(chain(owner.step(n), together.step()) for n in range(2)))
    two = await app.aenqueue_workflow(many, id="two")
    async with asyncio.timeout(20):
        while (await two.aget()).state not in FINISHED:
            await work(app)
    store = await app.client.store()
    assert (await job_of(store, "one.2")).spec.group == "u1"
    lanes = {job.spec.lane.name for job in await two.ajobs() if job.spec.lane}
    assert lanes == {"batch:together:u"}
    assert await one.aresult() == "u1"
    assert [text.partition(" ")[0] for text in await two.aresult()] == ["u0", "u1"]


async def test_the_function_gets_what_the_handler_gets() -> None:
    app = Windlass("memory://", codec=JSON)
    keyed: list[object] = []

    @app.task
    def raw() -> bytes:
        return b"\0\1"

    def key(data: bytes, plus: int = 0) -> str:
        keyed.append((data, plus))
        return data.hex()

    @app.task(sequence=key)
    def size(data: bytes, plus: int = 0) -> int:
        return len(data) + plus

    workflow = await app.aenqueue_workflow(chain(raw.step(), size.step(plus=3)))
    await work(app)
    assert await workflow.aresult() == 5
    assert keyed == [(b"\0\1", 3)]


async def test_a_function_that_raises_fails_the_workflow_until_it_is_mended(app: Windlass) -> None:
    broken = True

    def key(name: str) -> str:
        if broken:
            raise KeyError(name)
        return name

    @app.task
    async def owner() -> str:
        return "ada"

    @app.task(sequence=key)
    async def send(name: str) -> str:
        return f"to {name}"

    for anyway in ("cancel", "run"):
        broken = True
        flow = chain(owner.step(), send.using(orphaned=anyway).step())
        workflow = await app.aenqueue_workflow(flow)
        await work(app)
        with pytest.raises(JobFailed, match=r"the sequence of .*\.2, a job of send, .* KeyError"):
            await workflow.aresult()
        assert [job.state for job in await workflow.ajobs()] == [State.COMPLETED, State.CANCELLED]
        broken = False
        assert await workflow.aretry() == 1
        await work(app)
        assert await workflow.aresult() == "to ada"
        assert (await workflow.ajobs())[1].spec.lane is not None


async def test_a_cancelled_step_has_its_keys_when_it_is_retried(app: Windlass) -> None:
    @app.task
    async def owner() -> str:
        return "ada"

    @app.task(sequence=lambda name: name)
    async def send(name: str) -> str:
        return f"to {name}"

    workflow = await app.aenqueue_workflow(chain(owner.step(), send.step()), id="w")
    await workflow.acancel()
    store = await app.client.store()
    assert (await job_of(store, keys_id("w.2"))).state is State.CANCELLED
    # As after its time to be kept.
    assert await store.delete([keys_id("w.2")]) == {keys_id("w.2")}
    await workflow.aretry()
    await work(app)
    assert await workflow.aresult() == "to ada"
    lane = (await job_of(store, "w.2")).spec.lane
    assert lane is not None
    assert lane.name == "sequence:ada"


async def test_a_step_that_is_called_off_just_then_does_not_come_back(app: Windlass) -> None:
    @app.task
    async def owner() -> str:
        return "ada"

    @app.task(sequence=lambda name: name)
    async def send(name: str) -> str:
        return f"to {name}"

    await app.aenqueue_workflow(chain(owner.step(), send.step()), id="w")
    store = await app.client.store()
    insert = store.insert
    seen: list[State] = []

    async def too_late(jobs: Sequence[NewJob]) -> Sequence[Receipt]:
        assert await store.cancel(["w.2"]) == {"w.2"}
        receipts = await insert(jobs)
        seen.extend(job.state for job in (await store.get([jobs[0].id])).values())
        return receipts

    worker = await app.worker()
    await worker.start()
    store.insert = too_late  # type: ignore[method-assign]
    async with asyncio.timeout(20):
        while not (jobs := await store.get([keys_id("w.2")])) or {
            job.state for job in jobs.values()
        } != {State.COMPLETED}:
            await asyncio.sleep(0.002)
    store.insert = insert  # type: ignore[method-assign]
    await worker.stop()
    assert seen == [State.BLOCKED]
    assert (await job_of(store, "w.2")).state is State.CANCELLED
    names = Counter(job.task for job in (await store.find(JobQuery())).jobs)
    assert names["send"] == 1


async def test_an_added_step_and_a_callback_have_keys_too(app: Windlass) -> None:
    @app.task
    async def owner(n: int) -> str:
        return f"u{n}"

    @app.task(sequence=lambda name: name)
    async def send(name: str) -> str:
        return f"to {name}"

    @app.task(context=True)
    async def plan(ctx: Context) -> str:
        first = await ctx.workflow.aadd(owner.step(7))
        return await ctx.workflow.aadd(send.step(), takes=first)

    workflow = await app.aenqueue_workflow(plan.step(), id="w", on_success=send.step())
    await work(app)
    assert await workflow.aresult() == "w.3"
    store = await app.client.store()
    jobs = await store.get(["w.3", "w:success"])
    lanes = {id: job.spec.lane.name for id, job in jobs.items() if job.spec.lane}
    assert lanes == {"w.3": "sequence:u7", "w:success": "sequence:w.3"}
    assert {job.state for job in jobs.values()} == {State.COMPLETED}


async def test_a_unique_task_can_be_a_step_and_has_no_key_there(app: Windlass) -> None:
    @app.task(unique=True, on_conflict="replace")
    async def send(name: str) -> str:
        return f"to {name}"

    await send.aenqueue("ada")
    workflow = await app.aenqueue_workflow(group(send.step("ada"), send.step("ada")))
    assert {job.unique for job in await workflow.ajobs()} == {None}
    await work(app)
    assert await workflow.aresult() == ["to ada", "to ada"]
    with pytest.raises(InvalidOption, match="each step has to run whoever holds a key"):
        send.using(unique="of its own").step("ada")


async def test_a_worker_cannot_compute_with_a_function_that_it_does_not_have(
    app: Windlass,
) -> None:
    @app.task
    async def owner() -> str:
        return "ada"

    @app.task
    async def send(name: str) -> str:
        return f"to {name}"

    strange = send.using(sequence=lambda name: name)
    with pytest.raises(InvalidOption, match="declare it with the task"):
        app.aenqueue_workflow(chain(owner.step(), strange.step()))
    workflow = await app.aenqueue_workflow(chain(strange.step("ada")))
    await work(app)
    assert await workflow.aresult() == "to ada"
    # A text in the place of the function is as good as ever.
    text = await app.aenqueue_workflow(chain(owner.step(), send.using(sequence="all").step()))
    await work(app)
    assert await text.aresult() == "to ada"


async def test_middleware_is_told_of_steps_alone(app: Windlass) -> None:
    told: list[str] = []

    class Watch(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, headers={"seen": "yes"}, priority=60)

        def enqueued(self, job: NewJob, receipt: Receipt) -> None:
            told.append(job.spec.task)

    app.add_middleware(Watch())

    @app.task
    async def owner() -> str:
        return "ada"

    @app.task(sequence=lambda name: name)
    async def send(name: str) -> str:
        return f"to {name}"

    workflow = await app.aenqueue_workflow(chain(owner.step(), send.step()))
    await work(app)
    assert await workflow.aresult() == "to ada"
    assert told == ["owner", "send"]
    _, job = await workflow.ajobs()
    assert (job.spec.headers, job.priority) == ({"seen": "yes"}, 60)
