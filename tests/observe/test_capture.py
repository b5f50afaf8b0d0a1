"""What handlers log is kept with their attempts, and so is why attempts failed."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import pytest

from tests.server.grpc.client import served
from windlass import Batch, Fatal, Snooze, Windlass
from windlass.config import WorkerSettings
from windlass.core.attempts import AttemptRecord
from windlass.core.lines import MOST_LINES
from windlass.core.states import State
from windlass.errors import StartupFailed
from windlass.observe.capture import CaptureHandler
from windlass.testing.work import until, work
from windlass.worker import logbook, page

log = logging.getLogger("shop")


@pytest.fixture
async def app() -> AsyncIterator[Windlass]:
    app = Windlass("memory://")
    log.setLevel(logging.DEBUG)
    yield app
    log.setLevel(logging.NOTSET)
    await app.aclose()


async def attempts(app: Windlass, id: str) -> Sequence[AttemptRecord]:
    store = await app.client.store()
    return (await store.attempts([id])).get(id, ())


def texts(record: AttemptRecord) -> list[tuple[str, str, str]]:
    return [(line.level, line.logger, line.text) for line in record.lines]


async def test_the_lines_of_an_attempt_are_kept_with_it(app: Windlass) -> None:
    @app.task(max_retries=1, backoff=0)
    async def greet(name: str) -> None:
        log.info("hello %s", name)
        log.warning("and good-bye")
        log.debug("too quiet")
        raise ValueError("again")

    job = await greet.aenqueue("Ada")
    await work(app)
    first, second = await attempts(app, job.id)
    lines = [("info", "shop", "hello Ada"), ("warning", "shop", "and good-bye")]
    assert texts(first) == texts(second) == lines
    assert (first.attempt, first.state, second.attempt, second.state) == (
        1,
        State.RETRY,
        2,
        State.DEAD,
    )
    assert first.error is not None and first.error.kind == "ValueError"
    assert 'raise ValueError("again")' in first.error.traceback
    assert first.fence < second.fence
    assert first.ended_at is not None and first.started_at <= first.ended_at
    assert first.started_at - 5_000 < first.lines[0].at < first.ended_at + 5_000


async def test_a_blocking_handlers_lines_are_kept_too(app: Windlass) -> None:
    @app.task
    def greet() -> None:
        try:
            raise KeyError("x")
        except KeyError:
            log.exception("odd")

    job = await greet.aenqueue()
    await work(app)
    (record,) = await attempts(app, job.id)
    assert (record.state, record.error) == (State.COMPLETED, None)
    ((level, _, text),) = texts(record)
    assert level == "error" and text.startswith("odd\nTraceback") and text.endswith("'x'")


async def test_a_line_that_cannot_be_made_fails_no_job(
    app: Windlass, capsys: pytest.CaptureFixture[str]
) -> None:
    # Without the handler of pytest, which raises what it cannot write.
    alone = logging.getLogger("alone")
    alone.handlers, alone.propagate = [CaptureHandler()], False

    @app.task
    async def count() -> str:
        alone.warning("%d items", "three")
        alone.warning("and more")
        return "counted"

    job = await count.aenqueue()
    await work(app)
    assert await job.aresult(timeout=20) == "counted"
    [record] = await attempts(app, job.id)
    assert [line.text for line in record.lines] == ["and more"]
    assert "--- Logging error ---" in capsys.readouterr().err


async def test_a_job_that_says_nothing_and_succeeds_leaves_nothing(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = await app.client.store()

    async def refuse(*_: object) -> None:
        raise AssertionError("it is not to be called")

    monkeypatch.setattr(store, "note_attempts", refuse)

    @app.task
    async def quiet(later: bool) -> None:
        if later:
            raise Snooze(3600)

    jobs = [await quiet.aenqueue(later) for later in (False, True)]
    await work(app)
    assert [await attempts(app, job.id) for job in jobs] == [(), ()]


async def test_an_attempt_that_fails_without_a_word_is_kept_with_its_error(app: Windlass) -> None:
    @app.task
    def refuse() -> None:
        raise Fatal("not today") from OSError("the disk is full")

    job = await refuse.aenqueue()
    await work(app)
    (record,) = await attempts(app, job.id)
    assert record.state is State.DEAD and record.lines == ()
    assert record.error is not None and record.error.message == "not today"
    assert "OSError: the disk is full" in record.error.traceback


async def test_a_snoozed_attempt_keeps_its_lines_and_has_no_error(app: Windlass) -> None:
    @app.task
    async def later() -> None:
        log.info("not yet")
        raise Snooze(3600)

    job = await later.aenqueue()
    await work(app)
    (record,) = await attempts(app, job.id)
    assert (record.state, record.error, len(record.lines)) == (State.SCHEDULED, None, 1)


async def test_a_line_of_a_batch_is_kept_with_each_of_its_jobs(app: Windlass) -> None:
    @app.task(batch=Batch(size=2))
    def index(items: list[int]) -> None:
        log.info("%d items", len(items))

    jobs = await app.aenqueue_many([index.call(number) for number in range(2)])
    await work(app)
    for job in jobs:
        (record,) = await attempts(app, job.id)
        assert texts(record) == [("info", "shop", "2 items")]


@pytest.mark.parametrize(
    ("settings", "levels"),
    [
        (WorkerSettings(log_capture="debug"), ["debug", "info", "warning"]),
        (WorkerSettings(log_capture="warning"), ["warning"]),
        (WorkerSettings(log_capture="off"), []),
        (WorkerSettings(attempts_keep=0), []),
    ],
)
async def test_the_setting_says_what_is_captured(
    app: Windlass, settings: WorkerSettings, levels: list[str]
) -> None:
    @app.task
    async def talk() -> None:
        log.debug("a")
        log.info("b")
        log.warning("c")
        logging.getLogger("windlass").error("ours")

    job = await talk.aenqueue()
    await work(app, settings)
    found = await attempts(app, job.id)
    assert [line.level for record in found for line in record.lines] == levels


async def test_nothing_at_all_is_kept_for_no_time(app: Windlass) -> None:
    @app.task
    async def refuse() -> None:
        raise Fatal("no")

    job = await refuse.aenqueue()
    await work(app, WorkerSettings(attempts_keep=0))
    assert await attempts(app, job.id) == ()


async def test_of_too_many_lines_the_first_and_the_last_are_kept(app: Windlass) -> None:
    @app.task
    async def chatter() -> None:
        for number in range(1_000):
            log.info("%d", number)

    job = await chatter.aenqueue()
    await work(app)
    (record,) = await attempts(app, job.id)
    half = MOST_LINES // 2
    said = [line.text for line in record.lines]
    assert said[:half] == [str(number) for number in range(half)]
    assert said[half] == f"… {1_000 - MOST_LINES} lines left out …"
    assert said[half + 1 :] == [str(number) for number in range(1_000 - half, 1_000)]
    assert record.dropped == 1_000 - MOST_LINES


async def test_lines_can_be_seen_while_the_attempt_runs(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "FIRST_WRITE", 0.01)
    go = asyncio.Event()

    @app.task
    async def slow() -> None:
        log.info("begun")
        await go.wait()
        log.info("done")

    job = await slow.aenqueue()
    worker = await app.worker()
    await worker.start()
    seen: Sequence[AttemptRecord] = ()
    async with asyncio.timeout(20):
        while not seen:
            seen = await attempts(app, job.id)
            await asyncio.sleep(0.01)
    assert [(each.state, each.ended_at, len(each.lines)) for each in seen] == [(None, None, 1)]
    go.set()
    await until(lambda: worker.ran == 1)
    await worker.stop()
    (record,) = await attempts(app, job.id)
    assert (record.state, len(record.lines)) == (State.COMPLETED, 2)


async def test_lines_of_a_running_attempt_are_written_while_other_jobs_log_and_end(
    app: Windlass, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An end comes before each second is over; what is written meanwhile survives a crash."""
    monkeypatch.setattr(page, "FIRST_WRITE", 0.2)
    monkeypatch.setattr(logbook, "FIRST_WRITE", 0.2)
    go = asyncio.Event()

    @app.task
    async def slow() -> None:
        log.info("begun")
        await go.wait()

    @app.task
    async def chatty() -> None:
        log.info("one more")
        await asyncio.sleep(0.02)
        if not go.is_set():
            await chatty.aenqueue()

    job, _ = await slow.aenqueue(), await chatty.aenqueue()
    worker = await app.worker()
    await worker.start()
    try:
        async with asyncio.timeout(20):
            while not (seen := await attempts(app, job.id)):
                await asyncio.sleep(0.01)
    finally:
        go.set()
        await worker.stop()
    assert [(each.ended_at, len(each.lines)) for each in seen] == [(None, 1)]


async def test_a_worker_that_did_not_start_stops_no_other_from_keeping_lines(
    app: Windlass,
) -> None:
    failing = Windlass("memory://")

    @failing.on_startup
    def refuse() -> None:
        raise ValueError("no")

    never = await failing.worker()
    with pytest.raises(StartupFailed, match="no"):
        await never.start()
    await never.stop()

    @app.task
    async def talk() -> None:
        log.warning("heard")

    job = await talk.aenqueue()
    await work(app)
    (record,) = await attempts(app, job.id)
    assert [each.text for each in record.lines] == ["heard"]


async def test_two_workers_in_one_process_keep_each_line_once(app: Windlass) -> None:
    @app.task
    async def greet() -> None:
        log.info("hello")

    other = Windlass("memory://")
    worker = await other.worker()
    await worker.start()
    job = await greet.aenqueue()
    await work(app)
    await worker.stop()
    await other.aclose()
    (record,) = await attempts(app, job.id)
    assert len(record.lines) == 1
    assert not any(isinstance(each, CaptureHandler) for each in logging.getLogger().handlers)


async def test_a_thread_that_outlives_its_attempt_adds_nothing_to_it(app: Windlass) -> None:
    go = threading.Event()
    threads = []

    def speak() -> None:
        go.wait(20)
        log.info("late")

    @app.task
    async def start() -> None:
        log.info("first")
        # With the context of the attempt, which a plain thread would not have.
        threads.append(threading.Thread(target=copy_context().run, args=(speak,)))
        threads[0].start()

    job = await start.aenqueue()
    worker = await app.worker()
    await worker.start()
    async with asyncio.timeout(20):
        while not await attempts(app, job.id):
            await asyncio.sleep(0.01)
    go.set()
    await asyncio.to_thread(threads[0].join)
    await worker.stop()
    (record,) = await attempts(app, job.id)
    assert [line.text for line in record.lines] == ["first"]


@contextmanager
def nothing_set_up() -> Iterator[None]:
    """A program in which nobody has set up logging; pytest has, for each part of a test."""
    root = logging.getLogger()
    handlers, root.handlers = root.handlers, []
    try:
        yield
    finally:
        root.handlers = handlers


async def test_warnings_are_still_seen_where_nobody_has_set_up_logging(
    app: Windlass, capsys: pytest.CaptureFixture[str]
) -> None:
    @app.task
    async def talk() -> None:
        log.info("quiet")
        log.warning("loud")

    job = await talk.aenqueue()
    with nothing_set_up():
        await work(app)
    assert capsys.readouterr().err == "loud\n"
    (record,) = await attempts(app, job.id)
    assert len(record.lines) == 2


async def test_a_failure_that_a_worker_in_another_language_tells_of_is_kept(app: Windlass) -> None:
    async with served(app, has_tasks=False) as api:
        client = api.client
        id = await client.enqueue("send")
        (job,) = await client.fetch()
        assert await client.nack(job, kind="Boom", message="no", traceback="at line 3") == [id]
        (record,) = await attempts(app, id)
    assert record.error is not None
    assert (record.error.kind, record.error.traceback) == ("Boom", "at line 3")
    assert (record.state, record.attempt, record.worker) == (State.RETRY, 1, "w")
