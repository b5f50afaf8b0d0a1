"""What a worker makes of handlers: results, errors and the handler's own wishes."""

import asyncio
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from windlass import Context, Fatal, Retry, Snooze, State, Windlass, current_context
from windlass.core.model import Job, NewJob, Spec
from windlass.errors import (
    InvalidArguments,
    InvalidOption,
    JobCancelled,
    JobFailed,
    ResultTimeout,
)
from windlass.task import Task
from windlass.testing.work import work


@dataclass
class Address:
    street: str
    since: datetime


class Order(msgspec.Struct):
    number: UUID
    to: Address


async def test_async_and_blocking_handlers_run_and_give_results(app: Windlass) -> None:
    @app.task
    async def aadd(a: int, b: int) -> int:
        await asyncio.sleep(0)
        return a + b

    @app.task
    def add(a: int, b: int = 10) -> int:
        assert threading.current_thread() is not threading.main_thread()
        return a + b

    one, two = await aadd.aenqueue(1, b=2), await add.aenqueue(1)
    await work(app)
    assert (await one.aresult(), await two.aresult()) == (3, 11)
    job = await one.aget()
    assert (job.state, job.attempt, job.error) == (State.COMPLETED, 1, None)
    assert job.started_at is not None and job.finished_at is not None


async def test_arguments_and_results_have_their_annotated_types(app: Windlass) -> None:
    seen: list[object] = []

    @app.task
    def ship(order: Order, tags: set[str]) -> Address:
        seen.extend([order, tags])
        return order.to

    order = Order(UUID(int=7), Address("Elm", datetime(2026, 1, 2, tzinfo=UTC)))
    job = await ship.aenqueue(order, {"a", "b"})
    await work(app)
    assert seen == [order, {"a", "b"}]
    assert await job.aresult() == order.to


async def test_a_handler_can_know_its_attempt(app: Windlass) -> None:
    seen: list[Context] = []

    @app.task(context=True)
    async def by_parameter(ctx: Context, x: int) -> None:
        seen.append(ctx)

    @app.task
    def by_call() -> None:
        seen.append(current_context())

    one, two = await by_parameter.aenqueue(1), await by_call.aenqueue()
    await work(app)
    assert {ctx.id for ctx in seen} == {one.id, two.id}
    assert all(ctx.attempt == 1 and ctx.fence > 0 for ctx in seen)


async def test_context_variables_of_one_job_do_not_leak_into_the_next(app: Windlass) -> None:
    from contextvars import ContextVar

    tenant: ContextVar[str] = ContextVar("tenant", default="none")
    seen: list[str] = []

    @app.task
    async def look(name: str) -> None:
        seen.append(tenant.get())
        tenant.set(name)

    await app.aenqueue_many([look.call(str(n)) for n in range(20)])
    await work(app)
    assert seen == ["none"] * 20


async def test_a_failing_job_is_retried_until_it_succeeds(app: Windlass) -> None:
    attempts: list[int] = []

    @app.task(context=True, backoff=0, max_retries=3)
    def flaky(ctx: Context) -> str:
        attempts.append(ctx.attempt)
        if ctx.attempt < 3:
            raise ConnectionError("not yet")
        return "done"

    job = await flaky.aenqueue()
    await work_until_finished(app, job.id)
    assert attempts == [1, 2, 3]
    assert await job.aresult() == "done"


async def test_a_job_is_dead_after_its_last_retry_with_the_reason(app: Windlass) -> None:
    runs: list[int] = []

    @app.task(context=True, backoff=0, max_retries=2)
    async def broken(ctx: Context) -> None:
        runs.append(ctx.attempt)
        raise ValueError("bad thing")

    handle = await broken.aenqueue()
    job = await work_until_finished(app, handle.id)
    assert runs == [1, 2, 3]
    assert (job.state, job.attempt) == (State.DEAD, 3)
    assert job.error is not None
    assert (job.error.kind, job.error.message) == ("ValueError", "bad thing")
    assert "in broken" in job.error.traceback
    with pytest.raises(JobFailed, match="dead after attempt 3: ValueError: bad thing") as caught:
        await handle.aresult()
    assert caught.value.kind == "ValueError"


async def test_the_wait_before_a_retry_is_the_policys(app: Windlass) -> None:
    @app.task(backoff=[100, 200], jitter=0)
    def broken() -> None:
        raise ValueError

    @app.task
    def chooses() -> None:
        raise Retry("later", after=timedelta(seconds=300))

    one, two = await broken.aenqueue(), await chooses.aenqueue()
    await work(app)
    job, other = await one.aget(), await two.aget()
    assert job.state is State.RETRY and other.state is State.RETRY
    assert job.started_at is not None and other.started_at is not None
    assert 99_000 < job.due - job.started_at < 110_000
    assert 299_000 < other.due - other.started_at < 310_000


async def test_fatal_errors_are_not_retried(app: Windlass) -> None:
    @app.task
    def gives_up() -> None:
        raise Fatal("no use")

    @app.task(fatal_on=KeyError)
    def by_rule() -> None:
        raise KeyError("x")

    @app.task(retry_on=(ConnectionError,))
    def not_listed() -> None:
        raise ZeroDivisionError

    handles = [await task.aenqueue() for task in (gives_up, by_rule, not_listed)]
    await work(app)
    for handle in handles:
        job = await handle.aget()
        assert (job.state, job.attempt) == (State.DEAD, 1)


async def test_snoozing_costs_no_attempt(app: Windlass) -> None:
    moment = datetime.now(UTC) + timedelta(hours=3)

    @app.task(max_retries=0)
    def naps() -> None:
        raise Snooze(3600)

    @app.task(max_retries=0)
    async def naps_until() -> None:
        raise Snooze(until=moment)

    one, two = await naps.aenqueue(), await naps_until.aenqueue()
    await work(app)
    job, other = await one.aget(), await two.aget()
    assert (job.state, job.attempt) == (other.state, other.attempt) == (State.SCHEDULED, 0)
    assert abs(other.due - moment.timestamp() * 1000) <= 1


async def test_an_async_handler_that_takes_too_long_is_cancelled(app: Windlass) -> None:
    cancelled: list[bool] = []

    @app.task(timeout=0.05, max_retries=0)
    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    @app.task(timeout=30, max_retries=0)
    async def raises_by_itself() -> None:
        raise TimeoutError("of its own")

    one, two = await slow.aenqueue(), await raises_by_itself.aenqueue()
    await work(app)
    assert cancelled == [True]
    first, second = (await one.aget()).error, (await two.aget()).error
    assert first is not None and second is not None
    assert (first.kind, first.message) == (
        "AttemptTimeout",
        "the attempt took longer than 0.05 s",
    )
    assert (second.kind, second.message) == ("TimeoutError", "of its own")


async def test_an_unknown_task_waits_for_a_worker_that_knows_it(app: Windlass) -> None:
    store = await app.client.store()
    await store.insert([NewJob("x", Spec("elsewhere", b"", max_retries=1))])
    await work(app)
    job = (await store.get(["x"]))["x"]
    assert (job.state, job.attempt) == (State.SCHEDULED, 0)
    assert job.error is not None and job.error.kind == "UnknownTask"


async def test_a_damaged_job_dies_and_never_stops_the_others(app: Windlass) -> None:
    @app.task
    def fine(x: int) -> int:
        return x

    store = await app.client.store()
    await store.insert(
        [
            NewJob("garbage", Spec("fine", b"\xc1\xff")),
            NewJob("shape", Spec("fine", b"\x93\x01\x90\x80")),
            NewJob("version", Spec("fine", b"\x93\x63\x91\x01\x80")),
            NewJob("codec", Spec("fine", b"", content_type="carrier pigeon")),
        ]
    )
    good = await fine.aenqueue(1)
    await work(app)
    assert await good.aresult() == 1
    for job in (await store.get(["garbage", "shape", "version", "codec"])).values():
        assert (job.state, job.attempt) == (State.DEAD, 1)
        assert job.error is not None and job.error.message


async def test_wrong_argument_types_are_fatal_and_named(app: Windlass) -> None:
    @app.task(validate=False)
    def wants_int(user: int) -> None: ...

    job = await wants_int.aenqueue("seven")  # type: ignore[arg-type]
    await work(app)
    error = (await job.aget()).error
    assert error is not None
    assert (error.kind, "'user'" in error.message) == ("InvalidArguments", True)


async def test_the_types_of_one_job_can_be_left_to_the_worker(app: Windlass) -> None:
    @app.task
    def wants_int(user: int) -> None: ...

    trusting = wants_int.using(validate=False)
    jobs = [await trusting.aenqueue("seven"), await trusting.using(priority=1).aenqueue(None)]  # type: ignore[arg-type]
    with pytest.raises(InvalidArguments):
        await trusting.using(validate=True).aenqueue("seven")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="validate is True or False"):
        wants_int.using(validate="no")  # type: ignore[arg-type]
    await work(app)
    assert [(await job.aget()).state for job in jobs] == [State.DEAD, State.DEAD]


async def test_a_result_that_cannot_be_encoded_fails_the_attempt(app: Windlass) -> None:
    @app.task(max_retries=0)
    def gives_object() -> object:
        return object()

    job = await gives_object.aenqueue()
    await work(app)
    error = (await job.aget()).error
    assert error is not None and error.kind == "UnencodableValue"


@pytest.mark.parametrize("fault", [RuntimeError, SystemExit])
async def test_a_backoff_function_that_fails_does_not_lose_the_job(
    app: Windlass, fault: type[BaseException]
) -> None:
    def broken(n: int, error: BaseException | None) -> float:
        raise fault("broken backoff")

    @app.task(backoff=broken)
    def fails() -> None:
        raise ValueError

    job = await fails.aenqueue()
    await work(app)
    assert (await job.aget()).state is State.RETRY


UNUSUAL = [SystemExit, KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]


@pytest.mark.parametrize("error", [StopIteration, *UNUSUAL])
async def test_no_exception_of_a_blocking_handler_harms_the_worker(
    app: Windlass, error: type[BaseException]
) -> None:
    @app.task(max_retries=1, backoff=0)
    def nasty() -> None:
        raise error("boo")

    await fails_twice_beside_another(app, nasty)


@pytest.mark.parametrize("error", UNUSUAL)
async def test_no_exception_of_an_async_handler_harms_the_worker(
    app: Windlass, error: type[BaseException]
) -> None:
    @app.task(max_retries=1, backoff=0)
    async def nasty() -> None:
        raise error("boo")

    await fails_twice_beside_another(app, nasty)


async def fails_twice_beside_another(app: Windlass, nasty: Task[[], Any, None]) -> None:
    @app.task
    async def fine() -> int:
        return 1

    bad, good = await nasty.aenqueue(), await fine.aenqueue()
    await work(app)
    found = await bad.aget()
    assert (found.state, found.attempt) == (State.DEAD, 2)
    assert await good.aresult() == 1


@pytest.mark.parametrize("error", UNUSUAL)
async def test_what_is_no_exception_is_dead_at_once_only_if_the_rules_say_so(
    app: Windlass, error: type[BaseException]
) -> None:
    @app.task(retry_on=Exception)
    async def strict() -> None:
        raise error("boo")

    @app.task(fatal_on=error)
    async def named() -> None:
        raise error("boo")

    jobs = await strict.aenqueue(), await named.aenqueue()
    await work(app)
    assert [(job.state, job.attempt) for job in [await job.aget() for job in jobs]] == [
        (State.DEAD, 1),
        (State.DEAD, 1),
    ]


async def test_an_error_whose_text_ends_the_program_is_a_failure_like_others(
    app: Windlass,
) -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise SystemExit(9)

    @app.task(max_retries=0)
    async def rude() -> None:
        raise Rude

    bad = await rude.aenqueue()
    await work(app)
    error = (await bad.aget()).error
    assert error is not None
    assert (error.kind, error.message) == ("Rude", "(its text cannot be shown: SystemExit)")


async def test_waiting_for_a_result_is_bounded_and_tells_cancelled_apart(app: Windlass) -> None:
    @app.task
    def later() -> None: ...

    job = await later.using(delay=1000).aenqueue()
    with pytest.raises(ResultTimeout, match=r"was not finished within 0\.02 s"):
        await job.aresult(timeout=0.02)
    await job.acancel()
    with pytest.raises(JobCancelled):
        await job.aresult()


async def test_a_job_that_is_not_kept_leaves_nothing(app: Windlass) -> None:
    @app.task(keep=0)
    def quiet() -> int:
        return 1

    await quiet.aenqueue()
    await work(app)
    store = await app.client.store()
    assert await store.queues() == []


async def work_until_finished(app: Windlass, id: str) -> Job:
    """Run a worker until one job is finished, its retries included."""
    worker = await app.worker()
    await worker.start()
    store = await app.client.store()
    try:
        async with asyncio.timeout(20):
            while (job := (await store.get([id]))[id]).finished_at is None:
                await asyncio.sleep(0.005)
    finally:
        await worker.stop()
    return job
