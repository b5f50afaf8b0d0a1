"""Handlers that take batches: one call, and for each job an outcome of its own."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from tests.worker.handlers import increased
from tests.worker.kinds import KINDS
from windlass import (
    Batch,
    Context,
    Depends,
    Fatal,
    Limit,
    Retry,
    Snooze,
    State,
    Windlass,
    current_context,
)
from windlass.config import WorkerSettings
from windlass.errors import InvalidArguments, InvalidOption, JobFailed, UsageError
from windlass.middleware import Attempt, CallNext, Middleware
from windlass.testing.work import counts, until, work

SOON = Batch(size=3, grace=0, max_delay=0)
ONE = WorkerSettings(concurrency=1)


async def many(app: Windlass, task: Any, *items: Any) -> list[Any]:
    return list(await app.aenqueue_many(task.call(item) for item in items))


async def states(jobs: list[Any]) -> list[str]:
    return [(await job.aget()).state.value for job in jobs]


# -- one call --------------------------------------------------------------------------------


@KINDS
async def test_jobs_are_handed_over_as_one_list(app: Windlass, kind: str) -> None:
    async def on_the_loop(numbers: list[int]) -> list[int]:
        return increased(numbers)

    handler: Any = on_the_loop if kind == "async" else increased
    task = app.task(batch=SOON, process=kind == "process")(handler)
    jobs = await many(app, task, 10, 20, 30)
    await work(app, ONE)
    assert [await job.aresult(timeout=5) for job in jobs] == [13, 23, 33]
    assert {(await job.aget()).attempt for job in jobs} == {1}


async def test_a_batch_goes_when_it_is_full_or_old_enough(app: Windlass) -> None:
    sizes: list[int] = []

    @app.task(batch=Batch(size=4, grace=0.05, max_delay=10))
    async def gather(items: list[str]) -> None:
        sizes.append(len(items))

    worker = await app.worker(ONE)
    await worker.start()
    await many(app, gather, *"abcd")
    await until(lambda: sizes == [4])
    await many(app, gather, *"ef")
    await until(lambda: sizes == [4, 2])
    await worker.stop()


async def test_each_key_gathers_by_itself(app: Windlass) -> None:
    got: list[list[str]] = []

    @app.task(batch=Batch(size=2, grace=60, max_delay=60, key=lambda item: item[0]))
    async def gather(items: list[str]) -> None:
        got.append(sorted(items))

    await many(app, gather, "a1", "b1", "a2", "b2")
    await work(app)
    assert sorted(got) == [["a1", "a2"], ["b1", "b2"]]


async def test_items_and_results_have_the_annotated_types(app: Windlass) -> None:
    @dataclass
    class Page:
        path: str
        size: int = 0

    global PageOf
    PageOf = Page

    @app.task(batch=SOON)
    async def measure(pages: "list[PageOf]") -> "list[PageOf]":
        assert all(isinstance(page, Page) for page in pages)
        return [Page(page.path, len(page.path)) for page in pages]

    jobs = await many(app, measure, Page("/"), Page("/home"))
    await work(app)
    assert [await job.aresult(timeout=5) for job in jobs] == [Page("/", 1), Page("/home", 5)]


PageOf: Any = None


async def test_a_batch_takes_one_slot(app: Windlass) -> None:
    gate = asyncio.Event()
    ran: list[str] = []

    @app.task(batch=Batch(size=50, grace=0, max_delay=0))
    async def gather(items: list[int]) -> None:
        ran.append(f"batch of {len(items)}")
        await gate.wait()

    @app.task
    async def plain(n: int) -> None:
        ran.append(f"plain {n}")

    await many(app, gather, *range(50))
    worker = await app.worker(WorkerSettings(concurrency=2))
    await worker.start()
    await until(lambda: ran == ["batch of 50"])
    await app.aenqueue_many(plain.call(n) for n in range(5))
    await until(lambda: len(ran) == 6)
    assert worker._runner.active == 1
    gate.set()
    await worker.stop()
    assert (await counts(await app.client.store())) == {State.COMPLETED: 55}
    assert (len(worker._hand), worker._runner.active) == (0, 0)


async def test_resources_are_handed_over_as_ever(app: Windlass) -> None:
    @app.resource
    def factor() -> int:
        return 7

    @app.task(batch=SOON)
    def scale(numbers: list[int], by: int = Depends(factor)) -> list[int]:
        return [number * by for number in numbers]

    jobs = await many(app, scale, 1, 2)
    await work(app)
    assert [await job.aresult(timeout=5) for job in jobs] == [7, 14]


# -- outcomes --------------------------------------------------------------------------------


async def test_each_job_has_its_own_outcome(app: Windlass) -> None:
    outcomes = {
        "good": "fine",
        "bad": ValueError("boom"),
        "later": Snooze(60),
        "again": Retry(after=60),
        "never": Fatal("no"),
    }

    @app.task(batch=Batch(size=5), max_retries=0)
    async def judge(words: list[str]) -> list[Any]:
        return [outcomes[word] for word in words]

    jobs = await many(app, judge, *outcomes)
    await work(app)
    assert await states(jobs) == ["completed", "dead", "scheduled", "dead", "dead"]
    assert await jobs[0].aresult(timeout=5) == "fine"
    with pytest.raises(JobFailed, match="ValueError: boom"):
        await jobs[1].aresult(timeout=5)


async def test_what_the_handler_raises_is_the_outcome_of_all(app: Windlass) -> None:
    @app.task(batch=SOON, max_retries=1, backoff=60)
    async def fail(items: list[int]) -> None:
        raise ValueError("boom")

    jobs = await many(app, fail, 1, 2, 3)
    await work(app)
    assert await states(jobs) == ["retry"] * 3
    error = (await jobs[2].aget()).error
    assert error is not None
    assert (error.kind, error.message) == ("ValueError", "boom")
    assert "in fail" in error.traceback


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([1], "returned 1 results for a batch of 3 jobs"),
        ({"a": 1}, "returns a list, or None, not "),
        ("abc", "returns a list, or None, not "),
    ],
)
async def test_results_that_fit_no_batch_are_told_and_not_tried_again(
    app: Windlass, value: Any, sentence: str
) -> None:
    @app.task(batch=SOON)
    async def odd(items: list[int]) -> Any:
        return value

    jobs = await many(app, odd, 1, 2, 3)
    await work(app)
    for job in jobs:
        with pytest.raises(JobFailed, match=sentence):
            await job.aresult(timeout=5)


async def test_exceptions_that_no_future_can_carry_are_failures(app: Windlass) -> None:
    @app.task(batch=SOON, max_retries=0)
    def odd(items: list[int]) -> Any:
        return [StopIteration("x"), asyncio.CancelledError("y"), 3]

    jobs = await many(app, odd, 1, 2, 3)
    await work(app)
    assert await states(jobs) == ["dead", "dead", "completed"]


async def test_an_item_that_does_not_fit_fails_alone(app: Windlass) -> None:
    got: list[list[int]] = []

    @app.task(batch=SOON, validate=False)
    async def add(numbers: list[int]) -> None:
        got.append(numbers)

    jobs = await many(app, add, 1, "two", 3)
    await work(app)
    assert await states(jobs) == ["completed", "dead", "completed"]
    assert got == [[1, 3]]


async def test_an_expired_job_and_one_that_middleware_keeps_are_left_out(app: Windlass) -> None:
    got: list[list[int]] = []

    class Even(Middleware):
        async def run(self, attempt: Attempt, call_next: CallNext) -> Any:
            return "odd" if attempt.args[0] % 2 else await call_next()

    app.add_middleware(Even())

    @app.task(batch=SOON)
    async def add(numbers: list[int]) -> list[Any]:
        got.append(numbers)
        return numbers

    late = await add.using(expires_in=0.001).aenqueue(2)
    await asyncio.sleep(0.02)
    jobs = await many(app, add, 3, 4)
    await work(app)
    assert got == [[4]]
    assert [await job.aresult(timeout=5) for job in jobs] == ["odd", 4]
    assert (await late.aget()).state is State.CANCELLED


# -- ends before the end ---------------------------------------------------------------------


async def test_one_that_is_cancelled_leaves_the_others_alone(app: Windlass) -> None:
    entered, gate = asyncio.Event(), asyncio.Event()

    @app.task(batch=SOON)
    async def slow(items: list[int]) -> list[int]:
        entered.set()
        await gate.wait()
        return items

    jobs = await many(app, slow, 1, 2, 3)
    worker = await app.worker(WorkerSettings(concurrency=1, lease=1))
    await worker.start()
    await entered.wait()
    await jobs[0].acancel()
    await until(lambda: len(worker._runner._running) == 2)
    gate.set()
    assert [await job.aresult(timeout=5) for job in jobs[1:]] == [2, 3]
    assert (await jobs[0].aget()).state is State.CANCELLED
    await worker.stop()


async def test_when_all_are_cancelled_the_call_is_stopped(app: Windlass) -> None:
    entered = asyncio.Event()
    ended: list[str] = []

    @app.task(batch=SOON)
    async def slow(items: list[int]) -> None:
        entered.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    jobs = await many(app, slow, 1, 2)
    worker = await app.worker(WorkerSettings(concurrency=1, lease=1))
    await worker.start()
    await entered.wait()
    for job in jobs:
        await job.acancel()
    await until(lambda: ended == ["cancelled"])
    await worker.stop()


@pytest.mark.parametrize("kind", ["async", "thread"])
async def test_a_batch_has_the_time_of_its_jobs(app: Windlass, kind: str) -> None:
    async def aslow(items: list[int]) -> None:
        await asyncio.sleep(60)

    def slow(items: list[int]) -> None:
        threading.Event().wait(0.5)

    handler: Any = aslow if kind == "async" else slow
    task = app.task(batch=SOON, timeout=0.05, max_retries=0)(handler)
    jobs = await many(app, task, 1, 2, 3)
    await work(app)
    for job in jobs:
        with pytest.raises(JobFailed, match=r"longer than 0\.05 s"):
            await job.aresult(timeout=5)


async def test_a_worker_that_stops_gives_the_whole_batch_back(app: Windlass) -> None:
    entered = asyncio.Event()

    @app.task(batch=SOON)
    async def slow(items: list[int]) -> None:
        entered.set()
        await asyncio.sleep(60)

    jobs = await many(app, slow, 1, 2, 3)
    worker = await app.worker(WorkerSettings(concurrency=1, shutdown_timeout=0.05))
    await worker.start()
    await entered.wait()
    await worker.stop()
    for job in jobs:
        stored = await job.aget()
        assert stored.state not in (State.ACTIVE, State.DEAD)
        assert stored.attempt == 0


async def test_a_batch_that_waits_for_a_slot_is_given_back_and_can_lose_one(app: Windlass) -> None:
    gate = asyncio.Event()

    @app.task(priority=99)
    async def block() -> None:
        await gate.wait()

    @app.task(batch=SOON)
    async def gather(items: list[int]) -> None: ...

    worker = await app.worker(ONE)
    blocking = await block.aenqueue()
    jobs = await many(app, gather, 1, 2, 3)
    store = await app.client.store()
    claimed = await store.claim({"default": 9}, 9, 60_000, worker.id)
    worker._fetcher._take(claimed)
    assert len(worker._hand) == 2
    worker._runner.lose((await jobs[0].aget()).lease)
    assert len(worker._hand) == 2
    worker._acker.start()
    worker._runner.waiting.release()
    await until(lambda: len(worker._hand) == 1)
    gate.set()
    await worker._runner.drain(5)
    await worker._acker.drain(5)
    await worker._acker.stop()
    assert await states([blocking]) == ["completed"]
    assert [state != "active" for state in await states(jobs)] == [False, True, True]


async def test_a_batch_has_no_current_job(app: Windlass) -> None:
    @app.task(batch=SOON)
    async def gather(items: list[int]) -> list[str]:
        with pytest.raises(UsageError, match="There is no current job"):
            current_context()
        return ["none" for _ in items]

    jobs = await many(app, gather, 1, 2)
    await work(app)
    assert [await job.aresult(timeout=5) for job in jobs] == ["none", "none"]


async def test_jobs_from_before_the_task_took_batches_are_batches_of_one(app: Windlass) -> None:
    @app.task(name="t")
    async def before(item: int) -> None: ...

    jobs = list(await app.aenqueue_many(before.call(n) for n in (1, 2)))
    app.registry._tasks.clear()

    @app.task(name="t", batch=SOON)
    async def after(items: list[int]) -> list[int]:
        return [len(items)] * len(items)

    await work(app)
    assert [await after.handle(job.id).aresult(timeout=5) for job in jobs] == [1, 1]


# -- declaring and calling -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        ({"size": 0}, "The size of a batch is a whole number from 1 to 1,000; got 0."),
        ({"size": -1}, "The size of a batch is a whole number"),
        ({"size": 1001}, "The size of a batch is a whole number"),
        ({"size": True}, "The size of a batch is a whole number"),
        ({"size": 5, "grace": -1}, "grace must be a finite number of seconds, 0 or more"),
        ({"size": 5, "max_delay": "1"}, "max_delay is a number of seconds or a timedelta"),
        ({"size": 5, "key": ""}, "key is a text of 1 to 100 characters; got ''."),
    ],
)
def test_a_batch_that_cannot_be_is_refused(batch: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        Batch(**batch)
    assert sentence in str(caught.value)


def with_context(context: Context, items: list[int]) -> None: ...


def test_a_handler_of_batches_takes_one_list() -> None:
    app = Windlass("memory://")
    wrong: list[Any] = [
        lambda: None,
        lambda a, b: None,
        lambda a, b=1: None,
        lambda *a: None,
        lambda **a: None,
        lambda a, *, b: None,
    ]
    for handler in wrong:
        with pytest.raises(InvalidOption, match="must take one parameter, the list"):
            app.task(name="t", batch=SOON)(handler)
    with pytest.raises(InvalidOption, match="a batch has no context"):
        app.task(batch=SOON, context=True)(with_context)  # type: ignore[call-overload]
    with pytest.raises(InvalidOption, match=r"batch takes a Batch\(…\), as in Batch\(size=100\)"):
        app.task(batch=100)(increased)  # type: ignore[call-overload]
    for given in ({"limit": Limit(concurrency=1)}, {"sequence": "s"}):
        with pytest.raises(InvalidOption, match="cannot have a limit or a sequence"):
            app.task(batch=SOON, **given)(increased)
        task = app.task(name=f"t{given}", batch=SOON)(increased)
        with pytest.raises(InvalidOption, match="cannot have a limit or a sequence"):
            task.using(**given)
    with pytest.raises(InvalidOption, match="Unknown option batch"):
        task.using(batch=SOON)  # type: ignore[call-arg]


def test_a_job_of_a_batch_has_one_argument() -> None:
    app = Windlass("memory://")
    task: Any = app.task(batch=SOON, unique=True)(increased)
    for args, kwargs in (((), {}), ((1, 2), {}), ((), {"numbers": 1})):
        with pytest.raises(InvalidArguments, match="has one argument without a name"):
            task.call(*args, **kwargs)
    assert task.call(1).job.unique == task.call(1).job.unique != task.call(2).job.unique
    assert task.call(1).job.spec.lane.name == "batch:increased"


def test_a_task_that_takes_batches_can_be_called() -> None:
    app = Windlass("memory://")
    task = app.task(batch=SOON)(increased)
    assert task(1) == [2]
