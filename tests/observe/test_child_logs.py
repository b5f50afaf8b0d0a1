"""What a handler logs in a child process is written and kept as if it ran in the worker."""

import asyncio
import io
import json
import logging
from collections.abc import AsyncIterator, Sequence

import pytest

from windlass import Fatal, Windlass
from windlass.config import WorkerSettings
from windlass.core.attempts import AttemptRecord
from windlass.observe.logs import FIELDS, JsonFormatter
from windlass.testing.work import work

from .spans import Spans, about, trace_of

log = logging.getLogger("child")


def speak(name: str) -> None:
    log.debug("too quiet")
    log.info("hello %s", name, extra={"size": 3, "odd": object()})
    try:
        raise KeyError("x")
    except KeyError:
        log.exception("odd")
    raise Fatal("and out")


@pytest.fixture
async def app() -> AsyncIterator[Windlass]:
    app = Windlass("memory://")
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.INFO)
    yield app
    root.setLevel(before)
    await app.aclose()


async def attempts(app: Windlass, id: str) -> Sequence[AttemptRecord]:
    store = await app.client.store()
    return (await store.attempts([id])).get(id, ())


async def test_the_worker_writes_and_keeps_the_lines_of_its_children(app: Windlass) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)
    job = await app.task(process=True)(speak).aenqueue("Ada")
    await work(app)
    log.removeHandler(handler)
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert (first["message"], first["size"], first["logger"]) == ("hello Ada", 3, "child")
    assert (first["job_id"], first["task"], first["attempt"]) == (job.id, "speak", 1)
    assert second["error"]["traceback"].endswith("KeyError: 'x'")
    (record,) = await attempts(app, job.id)
    assert [line.level for line in record.lines] == ["info", "error"]
    assert record.lines[1].text.endswith("KeyError: 'x'")
    assert record.error is not None and 'raise Fatal("and out")' in record.error.traceback


async def test_a_child_that_writes_its_lines_itself_has_them_kept_all_the_same(
    app: Windlass, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    # Not at the top: the children of the other test import this module.
    from tests.observe import own_logging

    job = await app.task(process=True)(own_logging.speak).aenqueue("hello")
    await work(app)
    assert "own: hello\n" in capfd.readouterr().err
    assert "hello" not in caplog.messages, "it would be written twice"
    (record,) = await attempts(app, job.id)
    assert [line.text for line in record.lines] == ["hello"]


def tell() -> None:
    log.info("from a child")


async def test_every_line_has_every_field_wherever_its_handler_runs(app: Windlass) -> None:
    spans = Spans().of(app)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    log.addHandler(handler)

    @app.task(queue="mail")
    async def on_the_loop() -> None:
        await asyncio.gather(asyncio.create_task(_say()), asyncio.to_thread(log.info, "aside"))

    @app.task(queue="mail")
    def in_a_thread() -> None:
        log.info("from a thread")

    in_a_child = app.task(queue="mail", process=True)(tell)
    for task in (on_the_loop, in_a_thread, in_a_child):
        await task.aenqueue()
    await work(app, WorkerSettings(queues=("mail",)))
    log.removeHandler(handler)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    said = {"from a task", "aside", "from a thread", "from a child"}
    assert {line["message"] for line in lines} == said and len(lines) == len(said)
    assert all(line[name] for line in lines for name in FIELDS)
    runs = {about(span)["messaging.message.id"]: span for span in spans.named("run mail")}
    for line in lines:
        run = runs[line["job_id"]]
        assert line["trace_id"] == f"{trace_of(run):032x}"
        assert (line["fence"], line["task"]) == (
            about(run)["windlass.fence"],
            about(run)["windlass.task"],
        )


async def _say() -> None:
    log.info("from a task")
