"""Log lines of handlers: which attempt they are of, and how they are written."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from windlass import Batch, Windlass
from windlass.middleware import Middleware, NewJob, changed
from windlass.observe.logs import JobFilter, JsonFormatter, PlainFormatter, PrettyFormatter
from windlass.testing.work import work

log = logging.getLogger("shop")
TRACE = "0af7651916cd43dd8448eb211c80319c"


class Written:
    """A logger of the user's own, with a handler of the user's own."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)

    @property
    def lines(self) -> list[str]:
        return self.stream.getvalue().splitlines()

    @property
    def objects(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]


@pytest.fixture
def written() -> Iterator[Written]:
    made = Written()
    log.addHandler(made.handler)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    yield made
    log.removeHandler(made.handler)
    log.setLevel(logging.NOTSET)
    log.propagate = True


@pytest.fixture
def app() -> Windlass:
    return Windlass("memory://")


async def test_a_line_of_an_async_handler_says_which_attempt_it_is_of(
    app: Windlass, written: Written
) -> None:
    written.handler.setFormatter(JsonFormatter())

    @app.task(queue="default", max_retries=1, backoff=0)
    async def greet(name: str) -> None:
        await asyncio.sleep(0)
        log.info("hello %s", name)
        raise ValueError("again")

    job = await greet.aenqueue("Ada")
    await work(app)
    assert [
        {key: line[key] for key in ("message", "level", "logger", "job_id", "task", "queue")}
        for line in written.objects
    ] == [
        {
            "message": "hello Ada",
            "level": "info",
            "logger": "shop",
            "job_id": job.id,
            "task": "greet",
            "queue": "default",
        }
    ] * 2
    first, second = written.objects
    assert (first["attempt"], second["attempt"]) == (1, 2)
    assert first["fence"] < second["fence"]


async def test_a_line_of_a_thread_says_so_too(app: Windlass, written: Written) -> None:
    written.handler.setFormatter(JsonFormatter())

    @app.task
    def count() -> None:
        log.warning("one")

    job = await count.aenqueue()
    await work(app)
    (line,) = written.objects
    assert (line["job_id"], line["task"], line["attempt"]) == (job.id, "count", 1)


async def test_lines_of_jobs_that_run_side_by_side_are_not_mixed_up(
    app: Windlass, written: Written
) -> None:
    written.handler.setFormatter(JsonFormatter())
    both = asyncio.Barrier(2)

    @app.task
    async def meet(name: str) -> None:
        await both.wait()
        log.info(name)

    ids = {name: (await meet.aenqueue(name)).id for name in ("a", "b")}
    await work(app)
    assert {line["message"]: line["job_id"] for line in written.objects} == ids


async def test_a_line_of_a_batch_names_the_task_and_how_many_jobs_it_is_for(
    app: Windlass, written: Written
) -> None:
    written.handler.setFormatter(JsonFormatter())

    @app.task(batch=Batch(size=3))
    async def index(items: list[int]) -> None:
        log.info("%d items", len(items))

    await app.aenqueue_many([index.call(number) for number in range(3)])
    await work(app)
    (line,) = written.objects
    assert (line["task"], line["queue"], line["batch"]) == ("index", "default", 3)
    assert "job_id" not in line


async def test_the_trace_that_a_job_came_with_is_in_its_lines(
    app: Windlass, written: Written
) -> None:
    class Traced(Middleware):
        def enqueue(self, job: NewJob) -> NewJob:
            return changed(job, headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-00"})

    app.add_middleware(Traced())
    written.handler.setFormatter(JsonFormatter())

    @app.task
    def greet() -> None:
        log.info("hello")

    await greet.aenqueue()
    await work(app)
    assert written.objects[0]["trace_id"] == TRACE


async def test_a_format_of_the_users_own_can_use_the_fields(
    app: Windlass, written: Written
) -> None:
    written.handler.setFormatter(logging.Formatter("%(task)s#%(attempt)s %(message)s"))
    written.handler.addFilter(JobFilter())

    @app.task
    async def greet() -> None:
        log.info("hello")

    await greet.aenqueue()
    await work(app)
    log.info("outside")
    assert written.lines == ["greet#1 hello", "# outside"]


def test_what_the_caller_says_itself_stays(written: Written) -> None:
    written.handler.addFilter(JobFilter())
    written.handler.setFormatter(JsonFormatter())
    log.info("hello", extra={"task": "own", "size": 3})
    (line,) = written.objects
    assert (line["task"], line["size"]) == ("own", 3)


def test_json_has_one_line_for_each_record_whatever_is_in_it(written: Written) -> None:
    written.handler.setFormatter(JsonFormatter())
    log.info("two\nlines \x1b[31m", extra={"set": {1}, "odd": object})
    try:
        raise ValueError("no")
    except ValueError:
        log.exception("failed")
    first, second = written.objects
    assert first["message"] == "two\nlines \x1b[31m"
    assert first["odd"] == "<class 'object'>"
    assert (second["error"]["kind"], second["error"]["message"]) == ("ValueError", "no")
    assert second["error"]["traceback"].endswith("ValueError: no")
    assert second["time"].endswith("+00:00")


def test_json_takes_what_json_has_no_form_for() -> None:
    record = logging.makeLogRecord({"msg": "\udc80", "map": {(1, 2): 3}, "size": 3})
    line = json.loads(JsonFormatter().format(record))
    assert (line["message"], line["map"], line["size"]) == ("\\udc80", "{(1, 2): 3}", 3)


async def test_plain_lines_have_the_fields_behind_them(app: Windlass, written: Written) -> None:
    written.handler.setFormatter(PlainFormatter())

    @app.task
    async def greet() -> None:
        log.info("hello")

    job = await greet.aenqueue()
    await work(app)
    line = written.lines[0]
    assert f" shop: hello job_id={job.id} task=greet queue=default attempt=1 fence=" in line
    log.info("outside")
    assert written.lines[1].endswith(" shop: outside")


@pytest.mark.parametrize("formatter", [PlainFormatter(), PrettyFormatter(colours=False)])
def test_control_codes_do_not_reach_a_terminal(
    written: Written, formatter: logging.Formatter
) -> None:
    written.handler.setFormatter(formatter)
    log.info("a\x1b[2Jb\x9bc\td")
    try:
        raise ValueError("\x1b[2J")
    except ValueError:
        log.exception("failed")
    text = written.stream.getvalue()
    assert "a\\x1b[2Jb\\x9bc\td" in text and "ValueError: \\x1b[2J" in text
    assert not {"\x1b", "\x9b"} & set(text)


def test_pretty_lines_have_colours_unless_nobody_wants_them(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    written.handler.setFormatter(PrettyFormatter())
    log.error("bad")
    assert "\033[31mERROR  \033[0m bad" in written.lines[0]
    monkeypatch.setenv("NO_COLOR", "1")
    written.handler.setFormatter(PrettyFormatter())
    log.error("bad")
    assert " ERROR   bad  shop" in written.lines[1] and "\033" not in written.lines[1]
