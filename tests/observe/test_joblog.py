"""What the log says of single jobs: failures with their tracebacks, starts and ends."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from windlass import Context, Fatal, Retry, Snooze, Windlass
from windlass.config import WorkerSettings
from windlass.core.model import Spec
from windlass.observe.fields import JOBS
from windlass.observe.joblog import SUMMARY, JobLog, spoken
from windlass.observe.logs import JsonFormatter, PlainFormatter, PrettyFormatter
from windlass.testing.jobs import foreign
from windlass.testing.work import work

UNTRIED = "It is dead now: this error is not tried again."
FORMATTERS = [PrettyFormatter(colours=False), PlainFormatter(), JsonFormatter()]


@pytest.fixture
def app() -> Windlass:
    return Windlass("memory://")


@pytest.fixture
def records(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[logging.LogRecord]]]:
    with caplog.at_level(logging.DEBUG, "windlass"):
        yield lambda: [record for record in caplog.records if record.name == JOBS]


def inner() -> None:
    raise ValueError("oops")


def declare(app: Windlass, way: str, **options: Any) -> Any:
    handler: Any = boom_async if way == "async" else boom
    return app.task(name="boom", process=way == "process", **options)(handler)


async def boom_async() -> None:
    inner()


def boom() -> None:
    inner()


@pytest.mark.parametrize("way", ["async", "thread", "process"])
async def test_a_failure_is_one_record_with_the_handlers_traceback_in_every_format(
    app: Windlass, way: str, records: Callable[[], list[logging.LogRecord]]
) -> None:
    task = declare(app, way, max_retries=3, backoff=[3600, 3600, 3600], jitter=0)
    job = await task.aenqueue()
    await work(app, timeout=60)
    (record,) = [each for each in records() if each.levelno > logging.INFO]
    assert record.levelno == logging.WARNING
    assert record.getMessage() == (
        f"boom ({job.id}) failed, attempt 1 of 4: ValueError: oops. Next try in 60 min."
    )
    assert record.exc_info is not None and isinstance(record.exc_info[1], ValueError)
    for formatter in FORMATTERS:
        text = formatter.format(record)
        if isinstance(formatter, JsonFormatter):
            line = json.loads(text)
            assert (line["job_id"], line["error"]["kind"]) == (job.id, "ValueError")
            text = line["error"]["traceback"]
        else:
            assert text.count(job.id) == 1
        assert text.count("Traceback") == 1 and ", in inner\n" in text
        assert text.endswith("ValueError: oops")
        assert "windlass/worker" not in text


async def test_a_dead_job_is_an_error_and_says_why_it_is_not_tried_again(
    app: Windlass, records: Callable[[], list[logging.LogRecord]]
) -> None:
    @app.task(max_retries=1, backoff=0, jitter=0)
    async def twice() -> None:
        raise ValueError("oops.")

    @app.task
    async def once() -> None:
        raise Fatal("never")

    first = await twice.aenqueue()
    await work(app)
    second = await once.aenqueue()
    await work(app)
    failed = [each for each in records() if each.exc_info]
    assert [(each.levelname, each.getMessage()) for each in failed] == [
        (
            "WARNING",
            f"twice ({first.id}) failed, attempt 1 of 2: ValueError: oops. Next try at once.",
        ),
        ("ERROR", f"twice ({first.id}) failed, attempt 2 of 2: ValueError: oops. It is dead now."),
        ("ERROR", f"once ({second.id}) failed, attempt 1 of 4: Fatal: never. {UNTRIED}"),
    ]


async def test_arguments_that_do_not_fit_are_likely_those_of_other_code(
    app: Windlass, records: Callable[[], list[logging.LogRecord]]
) -> None:
    ours = Windlass("memory://")
    ours.client = app.client

    @app.task
    def send(x: int) -> None: ...

    @ours.task(name="send")
    def another(x: int, y: int) -> None: ...

    await send.aenqueue(1)
    await work(ours)
    assert (
        records()[-1]
        .getMessage()
        .endswith(
            "missing a required argument: 'y'; it takes (x: int, y: int). It is dead now. Was it "
            "enqueued by older code, or by another app on this store with a task of this name?"
        )
    )


async def test_the_start_and_the_end_of_a_job_have_a_line_each(
    app: Windlass, records: Callable[[], list[logging.LogRecord]]
) -> None:
    @app.task
    async def add() -> None: ...

    job = await add.aenqueue()
    await work(app)
    assert [each.getMessage() for each in records()] == [
        f"add ({job.id}) started",
        f"add ({job.id}) completed in 0.00 s",
    ]
    assert all(each.levelno == logging.INFO for each in records())


async def test_what_is_no_failure_says_what_it_is(
    app: Windlass, records: Callable[[], list[logging.LogRecord]]
) -> None:
    @app.task(context=True)
    async def later(ctx: Context) -> None:
        raise Snooze(300)

    @app.task(context=True)
    async def waits(ctx: Context) -> None:
        await ctx.await_for("go", timeout=3600)

    @app.task(context=True, max_retries=2, backoff=0)
    async def again(ctx: Context) -> None:
        if ctx.attempt == 1:
            raise Retry("busy", after=0)

    for task in (later, waits, again):
        await task.aenqueue()
    await work(app)
    texts = [each.getMessage() for each in records()]
    assert any(") snoozed after 0.0" in each and "runs again in 5 min" in each for each in texts)
    assert any(") waits for signal 'go' after " in each for each in texts)
    assert any(each.endswith(") started, attempt 2 of 3") for each in texts)
    assert not [each for each in records() if each.levelno > logging.WARNING]


async def test_a_job_that_is_given_back_says_so(
    app: Windlass, records: Callable[[], list[logging.LogRecord]]
) -> None:
    entered = asyncio.Event()

    @app.task
    async def forever() -> None:
        entered.set()
        await asyncio.Event().wait()

    job = await forever.aenqueue()
    worker = await app.worker(WorkerSettings(shutdown_timeout=0))
    await worker.start()
    await entered.wait()
    await worker.stop()
    last = records()[-1].getMessage()
    assert last.startswith(f"forever ({job.id}) stopped after ")
    assert last.endswith(" and goes back to the queue")


async def test_no_line_of_single_jobs_but_of_failures_if_none_are_asked_for(
    app: Windlass, records: Callable[[], list[logging.LogRecord]]
) -> None:
    @app.task(max_retries=0)
    async def fails(yes: bool) -> None:
        assert not yes

    await fails.aenqueue(False)
    await fails.aenqueue(True)
    await work(app, WorkerSettings(log_jobs=0))
    assert [each.levelname for each in records()] == ["ERROR"]


async def test_the_job_of_a_task_that_nobody_has_is_told_in_plain_words(
    app: Windlass, caplog: pytest.LogCaptureFixture
) -> None:
    app.task(name="other")(lambda: None)
    job = await Windlass.task(app, name="gone")(lambda: None).aenqueue()
    del app.registry._tasks["gone"]
    with caplog.at_level(logging.INFO, "windlass"):
        await work(app)
        assert (
            f"Task 'gone' is not known here. Job {job.id} goes back to the queue for 2.0 s; "
            "another worker may know it." in caplog.messages
        )
        await job.areschedule(delay=0)
        await work(app, WorkerSettings(unknown_patience=0))
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.getMessage() == (
        f"No worker knows task 'gone'. Job {job.id} is dead. Start a worker that has the task, "
        f"then run: windlass dead replay {job.id}"
    )


class Loop:
    """The clock and the timer of an event loop, moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[..., None], tuple[Any, ...]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, call: Callable[..., None], *args: Any) -> asyncio.Handle:
        self.timers.append((self.now + delay, call, args))
        return asyncio.Handle(call, args, asyncio.get_running_loop())

    def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        while self.timers and self.timers[0][0] <= end:
            self.now, call, args = self.timers.pop(0)
            call(*args)
        self.now = end


class Few:
    """A job log of at most three jobs in a second, on a clock of its own."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.completed = 0
        self.log = JobLog(3, lambda: self.completed)
        self.log._loop = self.loop  # type: ignore[assignment]
        self._fence = 0

    def run(self, number: int) -> None:
        for _ in range(number):
            self._fence += 1
            job = foreign("j", spec=Spec("add", b""), fence=self._fence)
            if self.log.open:
                self.log.started(job)
            self.completed += 1


async def test_above_a_rate_single_jobs_have_no_lines_and_a_summary_says_so(
    records: Callable[[], list[logging.LogRecord]],
) -> None:
    few = Few()
    few.run(1_003)
    assert [each.getMessage() for each in records()] == ["add (j) started"] * 3
    assert not few.log.open
    few.loop.pass_time(1)
    assert records()[-1].getMessage() == (
        "1,000 jobs completed in the last second; lines of single jobs are left out above 3 jobs "
        "in a second"
    )


async def test_a_busy_worker_sums_up_now_and_then_and_tells_of_jobs_again_when_they_are_few(
    records: Callable[[], list[logging.LogRecord]],
) -> None:
    few = Few()
    for _ in range(11):
        few.run(100)
        few.loop.pass_time(1)
    summaries = [each.getMessage() for each in records() if "in the last" in each.getMessage()]
    assert len(summaries) == 2
    assert summaries[1].startswith(f"1,000 jobs completed in the last {SUMMARY:.0f} seconds; ")
    few.run(2)
    few.loop.pass_time(1)
    assert records()[-1].getMessage().startswith("2 jobs completed in the last second; ")
    assert few.log.open
    few.run(1)
    assert records()[-1].getMessage() == "add (j) started"


async def test_the_end_of_a_worker_sums_up_what_was_not_told(
    records: Callable[[], list[logging.LogRecord]],
) -> None:
    few = Few()
    few.run(13)
    few.log.close()
    assert records()[-1].getMessage().startswith("10 jobs completed in the last second; ")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.00 s"),
        (0.012, "0.01 s"),
        (2.14, "2.1 s"),
        (35, "35 s"),
        (300, "5 min"),
        (7_200, "2 h"),
        (172_800, "2 d"),
    ],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    assert spoken(seconds) == text
