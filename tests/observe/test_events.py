"""What observers are told of, and what they cannot do."""

import asyncio
import inspect
import logging
from collections.abc import Mapping
from contextvars import ContextVar

import pytest

from windlass import (
    Context,
    Fatal,
    Job,
    Observer,
    Retry,
    Snooze,
    State,
    Windlass,
    connect,
    current_context,
)
from windlass.config import WorkerSettings
from windlass.core.model import NewJob, Receipt, Transition
from windlass.errors import InvalidOption
from windlass.observe.events import EVENTS, Events
from windlass.testing.work import until, work

from .conftest import Notes

ERRORS: dict[str, BaseException] = {
    "retry": Retry(after=3600),
    "dead": Fatal("no"),
    "scheduled": Snooze(3600),
}
mark: ContextVar[str] = ContextVar("mark")


async def test_the_steps_of_a_job_are_told_in_order(app: Windlass, notes: Notes) -> None:
    @app.task
    async def add(a: int, b: int) -> int:
        return a + b

    job = await add.aenqueue(1, 2)
    await work(app)
    steps = [step for step in notes.steps if step in ("enqueuing", "enqueued", "started", "ended")]
    assert steps == ["enqueuing", "enqueued", "started", "ended"]
    [(new, receipt)], [(begun, waited)] = notes["enqueued"], notes["started"]
    assert (new.id, new.spec.task, receipt) == (job.id, add.name, Receipt(job.id))
    assert (begun.id, begun.attempt) == (job.id, 1) and waited >= 0
    [(ended, move, seconds, error)] = notes["ended"]
    assert (ended.id, move.state, error) == (job.id, State.COMPLETED, None) and seconds > 0


@pytest.mark.parametrize("state", ERRORS)
async def test_the_end_comes_with_the_error_and_the_move(
    app: Windlass, notes: Notes, state: str
) -> None:
    @app.task
    def failing() -> None:
        raise ERRORS[state]

    await failing.aenqueue()
    await work(app)
    [(_, move, _, error)] = notes["ended"]
    assert move.state == state
    assert type(error) is type(ERRORS[state])


async def test_what_never_started_has_no_end(app: Windlass, notes: Notes) -> None:
    store = await app.client.store()

    @app.task
    async def fine() -> None: ...

    await fine.using(expires_in=0.001).aenqueue()
    await asyncio.sleep(0.01)
    await work(app)
    assert [queue.counts for queue in await store.queues()] == [{State.CANCELLED: 1}]
    assert notes["started"] == notes["ended"] == []


async def test_a_variable_set_at_the_start_holds_in_the_handler_and_at_the_end(
    app: Windlass,
) -> None:
    seen: dict[str, str] = {}

    class Marks(Observer):
        def started(self, job: Job, waited: float) -> None:
            assert mark.get("") == "", "the variables of another attempt"
            mark.set(job.id)

        def ended(
            self, job: Job, move: Transition | None, seconds: float, error: BaseException | None
        ) -> None:
            seen[f"end of {job.id}"] = mark.get("")

    app.observe(Marks())

    @app.task
    async def on_the_loop() -> None:
        seen[current_context().job.id] = mark.get("")

    @app.task
    def in_a_thread() -> None:
        seen[current_context().job.id] = mark.get("")

    @app.task(timeout=20)
    async def in_time() -> None:
        seen[current_context().job.id] = mark.get("")

    calls = [task.call() for task in (on_the_loop, in_a_thread, in_time) for _ in range(5)]
    jobs = await app.aenqueue_many(calls)
    await work(app, WorkerSettings(concurrency=2))
    ids = {job.id for job in jobs}
    assert seen == {id: id for id in ids} | {f"end of {id}": id for id in ids}


async def test_an_observer_adds_headers_to_what_is_enqueued(app: Windlass) -> None:
    class Traces(Observer):
        def enqueuing(self, job: NewJob) -> Mapping[str, str]:
            return {"trace": f"of {job.spec.task}"}

    app.observe(Traces())
    found: list[Mapping[str, str]] = []

    @app.task(context=True)
    async def look(ctx: Context) -> None:
        found.append(ctx.headers)

    await look.aenqueue()
    await app.aenqueue_many([look.call()])
    await asyncio.to_thread(look.enqueue)
    await work(app)
    assert found == [{"trace": f"of {look.name}"}] * 3


async def test_an_observer_that_raises_is_logged_once_and_harms_no_job(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Observer):
        def enqueuing(self, job: NewJob) -> Mapping[str, str]:
            raise LookupError("enqueuing")

        def started(self, job: Job, waited: float) -> None:
            raise LookupError("started")

        def ended(
            self, job: Job, move: Transition | None, seconds: float, error: BaseException | None
        ) -> None:
            raise LookupError("ended")

    whole = Notes()
    app.observe(Broken())
    app.observe(whole)

    @app.task
    async def fine() -> str:
        return "fine"

    jobs = await app.aenqueue_many([fine.call() for _ in range(3)])
    with caplog.at_level(logging.ERROR, "windlass"):
        await work(app)
    assert [await job.aresult() for job in jobs] == ["fine"] * 3
    assert len(whole["started"]) == len(whole["ended"]) == len(whole["enqueuing"]) == 3
    told = [record.getMessage().split(" failed")[0].split(".")[-1] for record in caplog.records]
    assert sorted(told) == ["ended", "enqueuing", "started"]


async def test_a_job_that_is_cancelled_while_it_runs_is_lost(app: Windlass, notes: Notes) -> None:
    running = asyncio.Event()

    @app.task
    async def endless() -> None:
        running.set()
        await asyncio.sleep(3600)

    job = await endless.aenqueue()
    worker = await app.worker(WorkerSettings(lease=0.4))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
        await job.acancel()
        await until(lambda: bool(notes["ended"]))
    await worker.stop()
    assert [lost.id for lost in notes["lost"]] == [job.id]
    [(_, move, _, error)] = notes["ended"]
    assert move is None and isinstance(error, asyncio.CancelledError)


async def test_what_comes_after_the_lease_is_lost_is_refused(app: Windlass, notes: Notes) -> None:
    running, go_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def slow() -> None:
        running.set()
        await go_on.wait()

    job = await slow.aenqueue()
    worker = await app.worker(WorkerSettings(lease=600))
    await worker.start()
    async with asyncio.timeout(20):
        await running.wait()
        store = await app.client.store()
        await store.cancel([job.id])
        go_on.set()
        await until(lambda: bool(notes["refused"]))
    await worker.stop()
    assert [refused.id for refused in notes["refused"]] == [job.id]
    [(_, move, _, _)] = notes["ended"]
    assert move.state is State.COMPLETED


def test_an_event_is_false_until_someone_listens_to_it() -> None:
    class Starts(Observer):
        def started(self, job: Job, waited: float) -> None: ...

    events = Events()
    assert not any(getattr(events, name) for name in EVENTS)
    events.observe(Starts())
    assert [name for name in EVENTS if getattr(events, name)] == ["started"]


def test_every_event_is_a_method_of_an_observer() -> None:
    assert set(EVENTS) == set(inspect.get_annotations(Events))


async def test_only_an_observer_can_observe(app: Windlass) -> None:
    with pytest.raises(InvalidOption, match="extends Observer"):
        app.observe(print)  # type: ignore[arg-type]


def test_a_connection_can_be_observed_too() -> None:
    notes = Notes()
    with connect("memory://") as connection:
        connection.observe(notes)
        job = connection.task("elsewhere").enqueue(1)
    [(new, _)] = notes["enqueued"]
    assert new.id == job.id
