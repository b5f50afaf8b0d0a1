"""Workflows from end to end: results that flow, what they come to, and what can be done to them."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Context, Dag, State, Windlass, chain, chord, group
from windlass.config import WorkerSettings
from windlass.core.codec import JSON, Codec
from windlass.errors import (
    InvalidArguments,
    InvalidOption,
    JobCancelled,
    JobFailed,
    UnknownJob,
    WrongState,
)
from windlass.middleware import Attempt, CallNext, Middleware, NewJob, changed
from windlass.testing.work import counts, work


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


class Bench:
    """Tasks, and a note of what they did."""

    def __init__(self, app: Windlass) -> None:
        self.ran: list[Any] = []
        self.broken = True

        @app.task
        async def start(n: int) -> int:
            self.ran.append(n)
            return n

        @app.task
        def twice(n: int, plus: int = 0) -> int:
            self.ran.append(n)
            return 2 * n + plus

        @app.task
        async def total(numbers: list[int]) -> int:
            self.ran.append(numbers)
            return sum(numbers)

        @app.task(max_retries=0)
        async def fail(n: int = 0) -> int:
            if self.broken:
                raise ValueError("boom")
            return n

        @app.task
        async def tell(text: str) -> None:
            self.ran.append(text)

        self.start, self.twice, self.total, self.fail = start, twice, total, fail
        self.tell = tell


@pytest.fixture
def bench(app: Windlass) -> Bench:
    return Bench(app)


async def test_a_chain_comes_to_the_result_of_its_last_step(app: Windlass, bench: Bench) -> None:
    flow = chain(bench.start.step(1), bench.twice.step(), bench.twice.step(plus=1))
    workflow = await app.aenqueue_workflow(flow)
    assert (await workflow.aget()).state is State.BLOCKED
    await work(app)
    assert await workflow.aresult() == 5
    assert bench.ran == [1, 1, 2]
    assert await app.workflow(workflow.id).aresult() == 5


async def test_a_group_comes_to_the_list_of_results(app: Windlass, bench: Bench) -> None:
    workflow = await app.aenqueue_workflow(group(*(bench.start.step(n) for n in range(20))))
    await work(app)
    assert await workflow.aresult() == list(range(20))


async def test_a_chord_gives_all_results_in_order(app: Windlass, bench: Bench) -> None:
    flow = chord(group(*(bench.start.step(n) for n in range(5))), bench.total.step())
    workflow = await app.aenqueue_workflow(flow)
    await work(app)
    assert await workflow.aresult() == 10
    assert bench.ran[-1] == [0, 1, 2, 3, 4]


async def test_a_graph_runs_in_its_order(app: Windlass, bench: Bench) -> None:
    dag = Dag()
    a, b = dag.add(bench.start.step(3)), dag.add(bench.start.step(4))
    c = dag.add(bench.total.step(), gathers=[a, b])
    d = dag.add(bench.twice.step(plus=1), takes=c)
    dag.add(bench.tell.step("last"), after=[d])
    workflow = await app.aenqueue_workflow(dag.flow(d))
    await work(app)
    assert await workflow.aresult() == 15
    assert bench.ran[2:] == [[3, 4], 7, "last"]
    assert await workflow.handle(c).aresult() == 7


async def test_results_are_converted_to_what_the_next_step_says() -> None:
    app = Windlass("memory://", codec=JSON)

    @app.task
    def raw() -> bytes:
        return b"\0\1"

    @app.task
    def size(data: bytes) -> int:
        return len(data)

    told: list[int] = []

    @app.task
    def done(n: int) -> None:
        told.append(n)

    workflow = await app.aenqueue_workflow(chain(raw.step(), size.step()), on_success=done.step())
    await work(app)
    assert await workflow.aresult() == 2
    assert told == [2]


async def test_a_failure_names_what_failed(app: Windlass, bench: Bench) -> None:
    flow = chain(bench.start.step(1), bench.fail.step(), bench.twice.step())
    workflow = await app.aenqueue_workflow(flow)
    await work(app)
    with pytest.raises(JobFailed) as caught:
        await workflow.aresult()
    assert caught.value.kind == "WorkflowFailed"
    expected = f"did not complete: {workflow.id}.2 of fail is dead (ValueError: boom)"
    assert expected in str(caught.value)
    states = [job.state for job in await workflow.ajobs()]
    assert states == [State.COMPLETED, State.DEAD, State.CANCELLED]
    assert await workflow.await_() is State.DEAD


async def test_what_others_do_after_a_failure_is_not_undone(app: Windlass, bench: Bench) -> None:
    flow = group(bench.fail.step(), bench.start.step(1), bench.start.step(2))
    workflow = await app.aenqueue_workflow(flow)
    await work(app)
    assert sorted(bench.ran) == [1, 2]
    with pytest.raises(JobFailed, match=r"a job of the workflow did not complete: .*boom"):
        await workflow.aresult()


async def test_a_step_that_runs_anyway_gets_none_for_what_failed(
    app: Windlass, bench: Bench
) -> None:
    @app.task
    async def collect(values: Sequence[int | None]) -> Sequence[int | None]:
        return values

    flow = chord(
        group(bench.start.step(1), bench.fail.step()), collect.using(orphaned="run").step()
    )
    workflow = await app.aenqueue_workflow(flow)
    await work(app)
    assert await workflow.aresult() == [1, None]


@pytest.mark.parametrize("fails", [True, False])
async def test_one_callback_is_called_once(app: Windlass, bench: Bench, fails: bool) -> None:
    bench.broken = fails
    workflow = await app.aenqueue_workflow(
        chain(bench.start.step(4), bench.fail.step()),
        on_success=bench.twice.step(plus=1),
        on_failure=bench.tell.step("alas"),
    )
    await work(app)
    assert bench.ran == ([4, "alas"] if fails else [4, 4])
    store = await app.client.store()
    names = [f"{workflow.id}:success", f"{workflow.id}:failure"]
    assert [*await store.get(names)] == [names[fails]]


async def test_a_callback_need_not_take_the_result(app: Windlass, bench: Bench) -> None:
    told = bench.tell.step("done")
    await app.aenqueue_workflow(bench.start.step(1), on_success=told)
    await work(app)
    assert bench.ran == [1, "done"]


async def test_what_does_not_fit_is_told_and_nothing_is_written(
    app: Windlass, bench: Bench
) -> None:
    with pytest.raises(InvalidArguments):
        app.aenqueue_workflow(bench.twice.step())
    with pytest.raises(InvalidArguments):
        app.aenqueue_workflow(bench.start.step(1), on_failure=bench.tell.step())
    with pytest.raises(InvalidOption, match="at most 100 characters"):
        app.aenqueue_workflow(bench.start.step(1), id="x" * 101)
    assert not await counts(await app.client.store())


async def test_enqueuing_it_again_changes_nothing(app: Windlass, bench: Bench) -> None:
    flow = chain(bench.start.step(1), bench.twice.step())
    first = await app.aenqueue_workflow(flow, id="order-7")
    again = await app.aenqueue_workflow(flow, id="order-7")
    await work(app)
    assert (first.duplicate, again.duplicate) == (False, True)
    assert bench.ran == [1, 1]
    assert [job.id for job in await again.ajobs()] == ["order-7.1", "order-7.2"]


async def test_a_job_can_depend_on_a_workflow(app: Windlass, bench: Bench) -> None:
    workflow = await app.aenqueue_workflow(chain(bench.start.step(1), bench.twice.step()))
    after = await bench.tell.using(depends_on=workflow).aenqueue("after")
    await work(app)
    await after.aresult()
    assert bench.ran == [1, 1, "after"]


async def test_a_cancelled_workflow_runs_nothing_more_and_calls_nothing(
    app: Windlass, bench: Bench
) -> None:
    flow = chain(bench.start.step(1), bench.twice.step())
    workflow = await app.aenqueue_workflow(flow, on_failure=bench.tell.step("failed"))
    await app.workflow(workflow.id).acancel()
    await work(app)
    assert bench.ran == []
    with pytest.raises(JobCancelled):
        await workflow.aresult()
    assert {job.state for job in await workflow.ajobs()} == {State.CANCELLED}
    with pytest.raises(WrongState, match="is cancelled already"):
        await workflow.acancel()


async def test_a_retry_replays_what_failed_and_no_more(app: Windlass, bench: Bench) -> None:
    flow = chain(
        group(bench.start.step(1), bench.fail.step(2)), bench.total.step(), bench.twice.step()
    )
    workflow = await app.aenqueue_workflow(flow, on_failure=bench.tell.step("failed"))
    await work(app)
    assert await workflow.aretry() == 3
    await work(app)
    assert bench.ran == [1, "failed", "failed"]
    bench.broken = False
    assert await workflow.aretry() == 3
    await work(app)
    assert await workflow.aresult() == 6
    assert bench.ran == [1, "failed", "failed", [1, 2], 3]
    with pytest.raises(WrongState, match="is completed: it has no job to replay"):
        await workflow.aretry()


async def test_a_cancelled_workflow_can_be_retried(app: Windlass, bench: Bench) -> None:
    workflow = await app.aenqueue_workflow(chain(bench.start.step(1), bench.twice.step()))
    await workflow.acancel()
    await workflow.aretry()
    await work(app)
    assert await workflow.aresult() == 2


async def test_an_unknown_workflow_is_told(app: Windlass, bench: Bench) -> None:
    with pytest.raises(UnknownJob):
        await app.workflow("nobody").aresult()
    job = await bench.start.aenqueue(1)
    with pytest.raises(UnknownJob, match="is a job, not a workflow"):
        await app.workflow(job.id).ajobs()


async def test_blocking_code_has_the_same(app: Windlass, bench: Bench) -> None:
    flow = chain(bench.start.step(1), bench.twice.step())
    workflow = await asyncio.to_thread(app.enqueue_workflow, flow, on_success=bench.tell.step("y"))
    await asyncio.to_thread(workflow.cancel)
    assert await asyncio.to_thread(workflow.retry) == 2
    await work(app)
    assert await asyncio.to_thread(workflow.wait, 20) is State.COMPLETED
    assert await asyncio.to_thread(workflow.result) == 2
    assert len(await asyncio.to_thread(workflow.jobs)) == 2


async def test_it_runs_where_its_last_step_runs(app: Windlass, bench: Bench) -> None:
    workflow = await app.aenqueue_workflow(
        chain(bench.start.using(queue="a").step(1), bench.twice.using(queue="b").step())
    )
    assert (await workflow.aget()).queue == "b"
    await work(app, WorkerSettings(queues=("a", "b")))
    assert await workflow.aresult() == 2


async def test_middleware_sees_the_steps_and_nothing_of_ours(app: Windlass, bench: Bench) -> None:
    seen: list[str] = []

    class Watch(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            seen.append(job.spec.task)
            return changed(job, queue="seen")

        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            seen.append(f"run {attempt.task}")
            return await call_next()

    app.add_middleware(Watch())
    flow = chain(bench.start.step(1), bench.twice.step())
    workflow = await app.aenqueue_workflow(flow, on_success=bench.tell.step("done"))
    await work(app, WorkerSettings(queues=("seen",)))
    assert await workflow.aresult() == 2
    assert seen == ["start", "twice", "tell", "run start", "run twice", "run tell"]


async def test_jobs_can_add_jobs_to_their_own_workflow(app: Windlass, bench: Bench) -> None:
    made: list[str] = []

    @app.task(context=True)
    async def spread(ctx: Context, depth: int) -> int:
        if depth:
            step = app.tasks["spread"].step(depth - 1)
            made.extend([await ctx.workflow.aadd(step) for _ in range(2)])
        bench.ran.append(depth)
        return depth

    workflow = await app.aenqueue_workflow(
        chain(spread.step(3)), id="tree", on_success=bench.tell.step("done")
    )
    await work(app)
    assert await workflow.aresult() == 3
    assert sorted(made, key=lambda id: int(id.split(".")[1])) == [f"tree.{n}" for n in range(2, 16)]
    assert bench.ran.count(0) == 8
    assert bench.ran[-1] == "done"
    assert len(await workflow.ajobs()) == 15


async def test_an_added_job_can_take_the_results_of_others(app: Windlass, bench: Bench) -> None:
    found: list[str] = []

    @app.task(context=True)
    def plan(ctx: Context, n: int) -> int:
        ids = [ctx.workflow.add(bench.start.step(k)) for k in range(n)]
        last = ctx.workflow.add(bench.total.step(), gathers=ids)
        found.append(ctx.workflow.add(bench.twice.step(), takes=last, after=ctx.job))
        return n

    workflow = await app.aenqueue_workflow(plan.step(4))
    await work(app)
    assert await workflow.aresult() == 4
    assert await bench.twice.handle(found[0]).aresult() == 12


async def test_an_attempt_that_runs_again_does_not_add_twice(app: Windlass, bench: Bench) -> None:
    @app.task(context=True, backoff=0)
    async def plan(ctx: Context) -> list[str]:
        ids = [await ctx.workflow.aadd(bench.start.step(n)) for n in range(3)]
        if ctx.attempt < 3:
            raise ValueError("again")
        return ids

    workflow = await app.aenqueue_workflow(group(plan.step(), plan.step()))
    await work(app)
    first, second = await workflow.aresult()
    assert sorted(bench.ran) == [0, 0, 1, 1, 2, 2]
    assert len({*first, *second}) == 6


async def test_an_added_job_that_fails_fails_the_workflow(app: Windlass, bench: Bench) -> None:
    @app.task(context=True)
    async def plan(ctx: Context) -> None:
        await ctx.workflow.aadd(bench.fail.step())

    workflow = await app.aenqueue_workflow(plan.step(), id="w")
    await work(app)
    with pytest.raises(JobFailed, match=r"w\.2 of fail is dead \(ValueError: boom\)"):
        await workflow.aresult()
    bench.broken = False
    assert await workflow.aretry() == 1
    await work(app)
    assert await workflow.await_() is State.COMPLETED


async def test_a_workflow_waits_for_what_was_replayed_meanwhile(
    app: Windlass, bench: Bench
) -> None:
    going = asyncio.Event()

    @app.task
    async def slow() -> int:
        await going.wait()
        return 1

    workflow = await app.aenqueue_workflow(group(bench.fail.step(2), slow.step()))
    worker = await app.worker()
    await worker.start()
    first = f"{workflow.id}.1"
    async with asyncio.timeout(20):
        while (await bench.fail.handle(first).aget()).state is not State.DEAD:
            await asyncio.sleep(0.002)
        await (await app.client.store()).pause("default")
        bench.broken = False
        assert await workflow.aretry() == 1
        going.set()
        while (await workflow.aget()).state is State.BLOCKED:
            await asyncio.sleep(0.002)
        await (await app.client.store()).resume("default")
        assert await workflow.aresult() == [2, 1]
    await worker.stop()


async def test_a_workflow_that_is_over_takes_no_more(app: Windlass, bench: Bench) -> None:
    @app.task(context=True, max_retries=0)
    async def late(ctx: Context) -> None:
        await ctx.workflow.aadd(bench.start.step(1))

    await app.aenqueue_workflow(bench.start.step(0), id="w", on_success=late.step())
    await work(app)
    with pytest.raises(JobFailed, match="Workflow w is completed: nothing can be added to it"):
        await late.handle("w:success").aresult()


async def test_a_job_of_no_workflow_is_told(app: Windlass, bench: Bench) -> None:
    @app.task(context=True, max_retries=0)
    async def lone(ctx: Context) -> str:
        return ctx.workflow.id

    job = await lone.aenqueue()
    await work(app)
    with pytest.raises(JobFailed, match="belongs to no workflow"):
        await job.aresult()


async def test_a_result_that_is_gone_is_told(app: Windlass, bench: Bench) -> None:
    step = bench.twice.using(delay=3600).step()
    workflow = await app.aenqueue_workflow(chain(bench.start.step(1), step), id="w")
    await work(app)
    store = await app.client.store()
    assert await store.delete(["w.1"]) == {"w.1"}
    await store.reschedule(["w.2"])
    await work(app)
    with pytest.raises(JobFailed, match=r"the result of job w\.1 is needed and is not there"):
        await workflow.aresult()


async def test_a_failure_names_what_died_and_not_what_was_called_off(
    app: Windlass, bench: Bench
) -> None:
    lame = chain(bench.start.step(1), bench.fail.step(), *(bench.twice.step() for _ in range(5)))
    workflow = await app.aenqueue_workflow(group(lame, bench.start.step(2)), id="w")
    other = await app.aenqueue_workflow(group(bench.fail.step(), chain(bench.fail.step())), id="v")
    await work(app)
    (dead,) = (job.id for job in await workflow.ajobs() if job.state is State.DEAD)
    error = (await workflow.aget()).error
    assert error is not None
    assert error.message == (
        f"a job of the workflow did not complete: {dead} of fail is dead (ValueError: boom)"
    )
    error = (await other.aget()).error
    assert error is not None
    assert error.message.startswith("2 jobs of the workflow did not complete, the first: v.")


@pytest.mark.parametrize("codec", [None, JSON])
async def test_results_that_are_too_large_together_stay_with_their_jobs(
    url: str, codec: Codec | None
) -> None:
    app = Windlass(url, max_payload=100_000, codec=codec)
    sizes: list[int] = []

    @app.task
    async def page(n: int) -> bytes:
        return bytes([n]) * 30_000

    @app.task
    async def measure(pages: list[bytes]) -> None:
        sizes.append(sum(map(len, pages)))

    try:
        flow = group(*(page.step(n) for n in range(8)))
        workflow = await app.aenqueue_workflow(flow, id="w", on_success=measure.step())
        await work(app)
        expected = [bytes([n]) * 30_000 for n in range(8)]
        assert await workflow.aresult() == expected
        assert await asyncio.to_thread(workflow.result) == expected
        later = await app.workflow("w").aresult()
        assert len(later) == 8
        assert sizes == [240_000]
        await app.aenqueue_workflow(group(page.step(1), page.step(2)), id="small")
        await work(app)
        assert (await app.workflow("small").aget()).result is not None
        store = await app.client.store()
        assert await store.delete(["w.3"]) == {"w.3"}
        with pytest.raises(UnknownJob, match=r"w\.3 is not there any more: give its steps"):
            await workflow.aresult()
    finally:
        await app.aclose()
        app.close()
