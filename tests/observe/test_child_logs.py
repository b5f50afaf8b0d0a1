"""What a handler logs in a child process is written and kept as if it ran in the worker."""

import io
import json
import logging
from collections.abc import AsyncIterator, Sequence

import pytest

from windlass import Fatal, Windlass
from windlass.core.attempts import AttemptRecord
from windlass.observe.logs import JsonFormatter
from windlass.testing.work import work

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
