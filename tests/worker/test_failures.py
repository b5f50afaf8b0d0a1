"""How failures are told: to the store, and to the log."""

import logging

import pytest

from windlass import Retry, Windlass
from windlass.core.states import State
from windlass.testing.work import work


async def test_a_result_above_the_limit_ends_the_job_with_the_reason(url: str) -> None:
    app = Windlass(url, max_payload=1000)
    runs: list[int] = []

    @app.task
    async def report(size: int) -> bytes:
        runs.append(size)
        return b"x" * size

    small, large = await report.aenqueue(900), await report.aenqueue(1000)
    await work(app)
    assert await small.aresult() == b"x" * 900
    job = await large.aget()
    assert (job.state, job.result, runs) == (State.DEAD, None, [900, 1000])
    assert job.error is not None
    assert job.error.message.startswith("The results of report take 1,005 bytes")
    await app.aclose()


async def test_a_retry_that_the_handler_asks_for_needs_no_rule(app: Windlass) -> None:
    @app.task(retry_on=ConnectionError)
    async def patient() -> None:
        raise Retry(after=3600)

    handle = await patient.aenqueue()
    await work(app)
    assert (await handle.aget()).state is State.RETRY


async def test_an_error_that_no_rule_names_ends_the_job(app: Windlass) -> None:
    @app.task(retry_on=ConnectionError)
    async def broken() -> None:
        raise ValueError

    handle = await broken.aenqueue()
    await work(app)
    assert (await handle.aget()).state is State.DEAD


@pytest.mark.parametrize("is_async", [True, False])
async def test_the_traceback_begins_with_the_handler(app: Windlass, is_async: bool) -> None:
    def fail() -> None:
        raise ValueError("deep")

    if is_async:

        @app.task(max_retries=0)
        async def handler() -> None:
            fail()
    else:

        @app.task(max_retries=0)
        def handler() -> None:
            fail()

    handle = await handler.aenqueue()
    await work(app)
    job = await handle.aget()
    assert job.error is not None
    frames = [line for line in job.error.traceback.splitlines() if line.startswith("  File")]
    assert [line.rpartition("in ")[2] for line in frames] == ["handler", "fail"]


async def test_a_failure_is_one_line_in_the_log(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    @app.task(max_retries=0)
    async def broken() -> None:
        raise ValueError("bad thing")

    handle = await broken.aenqueue()
    with caplog.at_level(logging.WARNING, "windlass"):
        await work(app)
    assert caplog.messages == [
        f"broken ({handle.id}) failed, attempt 1 of 1: ValueError: bad thing. It is dead now."
    ]
