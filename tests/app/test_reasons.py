"""What those learn who wait for a job that does not run."""

import asyncio
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Windlass, WorkflowHandle, chain
from windlass.errors import JobCancelled, ResultTimeout, WrongTask
from windlass.testing.work import work

NO_WORKER = "No worker serves its queue default: none at all is heard of."


@pytest.fixture(params=ENGINES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


def declared(app: Windlass) -> Any:
    @app.task
    def add(a: int) -> int:
        return a

    return add


async def test_a_timeout_says_why_the_job_does_not_run(app: Windlass) -> None:
    job = await declared(app).aenqueue(1)
    with pytest.raises(ResultTimeout) as caught:
        await job.aresult(timeout=0.01)
    assert caught.value.why == NO_WORKER
    assert str(caught.value) == (
        f"Job {job.id} was not finished within 0.01 s, it is pending. {NO_WORKER}"
    )


def test_so_does_one_of_a_blocking_wait(url: str) -> None:
    app = Windlass(url)
    job = declared(app).enqueue(1)
    with pytest.raises(ResultTimeout) as caught:
        job.result(timeout=0.01)
    assert caught.value.why == NO_WORKER
    app.close()


async def test_that_of_a_workflow_says_why_its_first_job_does_not_run(app: Windlass) -> None:
    add = declared(app)
    flow: WorkflowHandle[int] = await app.aenqueue_workflow(chain(add.step(1), add.step()))
    for wait in (flow.aresult, flow.await_):
        with pytest.raises(ResultTimeout) as caught:
            await wait(timeout=0.01)
        assert caught.value.why.startswith("It waits for the job that it depends on: ")
        assert caught.value.why.endswith(NO_WORKER)


async def test_who_only_asks_whether_it_is_finished_gets_no_reason(app: Windlass) -> None:
    job = await declared(app).aenqueue(1)
    with pytest.raises(ResultTimeout, match=r"it is pending\.$") as caught:
        await job.aresult(timeout=0)
    assert caught.value.why == ""


async def said(caplog: pytest.LogCaptureFixture, number: int) -> list[str]:
    async with asyncio.timeout(20):
        while len(caplog.records) < number:
            await asyncio.sleep(0.01)
    return [record.getMessage() for record in caplog.records]


async def test_a_wait_without_a_worker_is_told_once_and_again_when_the_reason_changes(
    app: Windlass, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.waiting.FIRST_WORD", 0.01)
    monkeypatch.setattr("windlass.client.SILENCE", 0.0)
    caplog.set_level(logging.WARNING, "windlass")
    add = declared(app)
    wait = asyncio.create_task((await add.aenqueue(1)).aresult())
    (first,) = await said(caplog, 1)
    assert re.search(rf"of add still waits after \d+ s: {re.escape(NO_WORKER)}", first)
    await (await app.client.store()).pause("default")
    _, second = await said(caplog, 2)
    assert second.endswith("Its queue default is paused until someone resumes it.")
    await asyncio.sleep(0.1)
    assert len(caplog.records) == 2
    await (await app.client.store()).resume("default")
    await work(app)
    assert await wait == 1


async def test_many_waits_for_one_queue_are_told_as_one(
    app: Windlass, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.waiting.FIRST_WORD", 0.01)
    caplog.set_level(logging.WARNING, "windlass")
    add = declared(app)
    waits = [asyncio.create_task((await add.aenqueue(n)).aresult()) for n in range(20)]
    await said(caplog, 1)
    await asyncio.sleep(0.1)
    assert len(caplog.records) == 1
    await work(app)
    assert await asyncio.gather(*waits) == [*range(20)]


async def test_a_wait_for_a_job_that_runs_or_has_time_says_nothing(
    app: Windlass, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("windlass.waiting.FIRST_WORD", 0.01)
    caplog.set_level(logging.WARNING, "windlass")
    began, goes_on = asyncio.Event(), asyncio.Event()

    @app.task
    async def slow() -> None:
        began.set()
        await goes_on.wait()

    job = await slow.aenqueue()
    worker = await app.worker()
    await worker.start()
    await began.wait()
    with pytest.raises(ResultTimeout, match="It is running") as caught:
        await job.aresult(timeout=0.5)
    assert caught.value.why.startswith("It is running: worker ")
    goes_on.set()
    await job.aresult(timeout=20)
    await worker.stop()
    assert not caplog.records


async def test_the_result_of_a_job_of_another_task_is_refused(app: Windlass) -> None:
    add = declared(app)

    @app.task
    def total(a: int) -> list[int]:
        return [a]

    await add.using(id="one").aenqueue(1)
    other = await total.using(id="one").aenqueue(2)
    assert other.duplicate
    assert (await other.aget()).task == "add"
    with pytest.raises(WrongTask, match=r"^Job one is one of add, not of total"):
        await other.aresult()
    (many,) = await app.aenqueue_many([total.using(id="one").call(1)])
    with pytest.raises(WrongTask):
        await many.aresult(timeout=0)
    with pytest.raises(WrongTask):
        await app.workflow("one").await_()
    await app.job("one").acancel()
    with pytest.raises(JobCancelled):
        await app.job("one").aresult()
