"""Failed jobs as structlog and loguru show them, set up as their manuals say."""

import inspect
import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog
from loguru import logger as loguru

from windlass import Windlass
from windlass.observe.fields import JOBS, JobFilter
from windlass.testing.work import work

jobs = logging.getLogger(JOBS)


@pytest.fixture
def listening() -> Iterator[list[logging.Handler]]:
    """Handlers that a test puts here are those of the logger of jobs."""
    handlers = jobs.handlers
    yield handlers
    handlers.clear()


async def fail(app: Windlass) -> str:
    @app.task(max_retries=0)
    def boom() -> None:
        raise ValueError("oops")

    job = await boom.aenqueue()
    await work(app)
    return job.id


async def test_structlog_shows_the_exception_and_the_fields(
    listening: list[logging.Handler],
) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(JobFilter())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.stdlib.ExtraAdder()],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    listening.append(handler)
    id = await fail(Windlass("memory://"))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    (line,) = [line for line in lines if line["level"] == "error"]
    assert line["event"].startswith(f"boom ({id}) failed, attempt 1 of 1: ValueError: oops.")
    assert (line["job_id"], line["task"], line["attempt"]) == (id, "boom", 1)
    assert ", in boom\n" in line["exception"]
    assert line["exception"].endswith("ValueError: oops")


class Intercept(logging.Handler):
    """Hands records to loguru, as its manual has it."""

    def emit(self, record: logging.LogRecord) -> None:
        frame, depth = inspect.currentframe(), 0
        while frame and (depth == 0 or frame.f_code.co_filename == logging.__file__):
            frame, depth = frame.f_back, depth + 1
        told = loguru.opt(depth=depth, exception=record.exc_info)
        told.log(record.levelname, record.getMessage())


async def test_loguru_shows_the_exception(listening: list[logging.Handler]) -> None:
    stream = io.StringIO()
    sink = loguru.add(stream, format="{level} {message}", diagnose=False)
    listening.append(Intercept())
    try:
        id = await fail(Windlass("memory://"))
    finally:
        loguru.remove(sink)
    text = stream.getvalue()
    assert f"ERROR boom ({id}) failed, attempt 1 of 1: ValueError: oops." in text
    assert text.count("Traceback") == 1 and "ValueError: oops" in text.splitlines()[-1]
