"""What an app sets up for logging may raise, and takes nothing along."""

import logging
import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from windlass import State, Windlass
from windlass.observe.console import Console
from windlass.observe.formats import PlainFormatter
from windlass.observe.guarded import guard
from windlass.testing.work import work


class Broken(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("cannot be reached")


@pytest.fixture
def broken() -> Iterator[Broken]:
    handler = Broken()
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)


async def test_a_log_handler_that_raises_keeps_no_outcome_from_the_store(
    app: Windlass, broken: Broken, capsys: pytest.CaptureFixture[str]
) -> None:
    @app.task(max_retries=0)
    async def fail() -> None:
        raise ValueError("oops")

    job = await fail.aenqueue()
    await work(app)
    found = await job.aget()
    assert (found.state, found.error and found.error.message) == (State.DEAD, "oops")
    assert "RuntimeError: cannot be reached" in capsys.readouterr().err


def test_a_line_of_a_guarded_logger_says_where_it_came_from(
    broken: Broken, capsys: pytest.CaptureFixture[str]
) -> None:
    logger = logging.getLogger("guarded")
    guard(logger)
    guard(logger)
    logger.warning("hello")
    told = capsys.readouterr().err
    assert told.count("Logged from") == 1
    assert __file__ in told


def test_a_console_whose_stream_is_closed_says_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    console = Console(PlainFormatter())
    stream.close()
    console.handle(logging.makeLogRecord({"msg": "hello"}))
    guard(logger := logging.Logger("closed"))
    logger.addHandler(Broken())
    logger.warning("hello")
