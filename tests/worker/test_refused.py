"""What a store cannot take from one attempt harms that attempt alone."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import ENGINES, url_of
from windlass import Context, JobHandle, Retry, Snooze, State, Windlass
from windlass.config import WorkerSettings
from windlass.core.attempts import AttemptRecord
from windlass.core.model import Lease, Progress, Transition
from windlass.errors import StoreError
from windlass.stores.contract import Store
from windlass.testing.work import until
from windlass.worker.worker import Worker

PLAIN = 20
FOREVER = 1e17
"""Seconds, more than any store can hold as a moment."""


@pytest.fixture(params=ENGINES)
def engine_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return url_of(request, tmp_path)


@pytest.fixture
async def on_engine(engine_url: str) -> AsyncIterator[Windlass]:
    app = Windlass(engine_url)
    yield app
    await app.aclose()
    app.close()


async def worked_on(app: Windlass, bad: Callable[[], Awaitable[JobHandle[Any]]]) -> Any:
    """The bad job at its end, when twenty plain ones beside it are completed by one worker."""

    @app.task
    async def plain(n: int) -> int:
        return n

    half = PLAIN // 2
    plain_jobs = [*await app.aenqueue_many([plain.call(n) for n in range(half)])]
    handle = await bad()
    plain_jobs += await app.aenqueue_many([plain.call(n) for n in range(half, PLAIN)])
    worker = await app.worker(WorkerSettings(concurrency=50))
    await worker.start()
    try:
        async with asyncio.timeout(30):
            assert [await job.aresult() for job in plain_jobs] == list(range(PLAIN))
            job = await handle.aget()
            while job.state in (State.PENDING, State.ACTIVE):
                await asyncio.sleep(0.01)
                job = await handle.aget()
    finally:
        await worker.stop()
    return job


async def raise_retry() -> None:
    raise Retry(after=FOREVER)


async def raise_snooze() -> None:
    raise Snooze(FOREVER)


async def raise_snooze_until_the_last_day() -> None:
    raise Snooze(until=datetime.max.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("handler", "sentence"),
    [
        (raise_retry, "Retry(after=…) is at most 100 years."),
        (raise_snooze, "Snooze(…) is at most 100 years."),
        (raise_snooze_until_the_last_day, "at most the end of the year 9998."),
    ],
)
async def test_a_wait_that_no_store_can_hold_fails_its_own_attempt(
    on_engine: Windlass, handler: Callable[[], Awaitable[None]], sentence: str
) -> None:
    task = on_engine.task(max_retries=0, name="bad")(handler)
    job = await worked_on(on_engine, task.aenqueue)
    assert (job.state, job.error.kind) == (State.DEAD, "InvalidOption")
    assert sentence in job.error.message


async def test_a_backoff_that_no_store_can_hold_gives_way_to_the_default(
    on_engine: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    @on_engine.task(backoff=lambda n, error: FOREVER)
    async def bad() -> None:
        raise ValueError("oops")

    job = await worked_on(on_engine, bad.aenqueue)
    assert (job.state, job.error.message) == (State.RETRY, "oops")
    assert "the backoff of task bad failed; using the default" in caplog.text


async def test_a_note_of_progress_that_is_no_utf8_is_stored_in_another_form(
    on_engine: Windlass,
) -> None:
    @on_engine.task(context=True)
    async def bad(context: Context) -> None:
        context.progress(50, f"packing {os.fsdecode(b'caf' + bytes([0xE9]) + b'.jpg')}")
        context.progress(100.00000000000001, f"packed caf{chr(0xDCE9)}.jpg and a \0")

    job = await worked_on(on_engine, bad.aenqueue)
    assert job.state is State.COMPLETED
    if job.progress is not None:
        assert job.progress == Progress(100.0, r"packed caf\udce9.jpg and a \0")


class Refusing:
    """Passes every call on to a real store, which will not take anything about some job."""

    def __init__(self, store: Store, id: str, *, even_dead: bool = False) -> None:
        self._store = store
        self._id = id
        self._even_dead = even_dead

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def finish(self, moves: Sequence[Transition]) -> frozenset[str]:
        for move in moves:
            if move.id == self._id and (self._even_dead or move.state is not State.DEAD):
                raise StoreError("value out of range (injected)")
        return await self._store.finish(moves)

    async def report(self, reports: Sequence[tuple[Lease, Progress]]) -> None:
        if any(lease.id == self._id for lease, _ in reports):
            raise StoreError("no such character (injected)")
        await self._store.report(reports)

    async def note_attempts(self, records: Sequence[AttemptRecord], keep: int) -> None:
        if any(record.id == self._id for record in records):
            raise OverflowError("too large (injected)")
        await self._store.note_attempts(records, keep)


async def worked_on_by_refusing(app: Windlass, *, even_dead: bool = False) -> Worker:
    """A worker that has completed twenty plain jobs beside one that its store does not take."""

    @app.task(context=True)
    async def plain(context: Context, n: int) -> int:
        context.progress(n)
        logging.getLogger("app").warning("job %d", n)
        return n

    ids = ["bad" if n == PLAIN // 2 else f"plain-{n}" for n in range(PLAIN + 1)]
    jobs = await app.aenqueue_many([plain.using(id=id).call(n) for n, id in enumerate(ids)])
    store = Refusing(await app.client.store(), "bad", even_dead=even_dead)
    worker = Worker(app.registry, app.codecs, store, WorkerSettings())
    await worker.start()
    async with asyncio.timeout(30):
        for job in jobs:
            if job.id != "bad":
                await job.aresult()
    return worker


async def test_a_job_whose_end_the_store_refuses_is_dead_and_says_why(app: Windlass) -> None:
    worker = await worked_on_by_refusing(app)
    job = app.job("bad")
    async with asyncio.timeout(30):
        while (await job.aget()).state is State.ACTIVE:
            await asyncio.sleep(0.01)
    await worker.stop()
    found = await job.aget()
    assert found.state is State.DEAD
    assert found.error is not None
    assert found.error.kind == "StoreError"
    assert found.error.message == (
        "the store cannot take the end of this attempt (completed): value out of range (injected)"
    )


async def test_a_job_of_which_the_store_takes_nothing_gives_its_slot_back(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    worker = await worked_on_by_refusing(app, even_dead=True)
    await until(lambda: "nor can it take that" in caplog.text)
    await worker.stop()
    assert (await app.job("bad").aget()).state is State.ACTIVE
    said = [record for record in caplog.records if "nor can it take that" in record.message]
    assert [record.levelno for record in said] == [logging.ERROR]


async def test_progress_that_the_store_refuses_is_dropped(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    worker = await worked_on_by_refusing(app)
    await worker.stop()
    assert "job bad: its progress cannot be stored: no such character (injected)" in caplog.text


async def test_an_attempt_that_the_store_does_not_keep_takes_no_other_with_it(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    worker = await worked_on_by_refusing(app)
    await until(lambda: "what 1 attempt(s) came to cannot be kept: too large" in caplog.text)
    await worker.stop()
    store = await app.client.store()
    ids = [f"plain-{n}" for n in range(PLAIN + 1) if n != PLAIN // 2]
    kept = await store.attempts([*ids, "bad"])
    assert {id for id, records in kept.items() if records} == {*ids}
