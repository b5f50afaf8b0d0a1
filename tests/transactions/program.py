"""A worker that is made to be killed: its jobs leave one row each, in their own transaction.

    program.py URL QUEUE SLOTS FOLDER      works until it is killed

A job is told at which step it is to kill the process. It does so once, and leaves a file in FOLDER
that says so.
"""

import asyncio
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from windlass import Context, Task, Windlass, current_context
from windlass.config import WorkerSettings
from windlass.worker import transactions

STEPS = ("before", "begun", "written", "completed", "after", "never")
"""Before the block, at its beginning, after the write, between completion and commit, after it."""

INSERT = "INSERT INTO effects (job) VALUES ('{}')"

_steps: dict[str, str] = {}
_folder = Path(sys.argv[-1])


def die_at(step: str) -> None:
    """The end, if the job is to end here and has not done so before."""
    id = current_context().id
    mark = _folder / id
    if _steps.get(id) == step and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


async def awrite(connection: Any, sql: str) -> None:
    """As the driver of the engine takes it."""
    kind = type(connection).__module__.partition(".")[0]
    if kind == "sqlite3":
        connection.execute(sql)
    elif kind == "asyncpg":
        await connection.execute(sql)
    else:
        async with connection.cursor() as cursor:
            await cursor.execute(sql)


def tasks(app: Windlass) -> tuple[Task[..., Any, Any], Task[..., Any, Any]]:
    """The same job in an async and in a blocking handler."""

    @app.task(context=True, max_retries=1000, backoff=0, name="effect")
    async def effect(context: Context, step: str, seconds: float) -> None:
        _steps[context.id] = step
        die_at("before")
        async with context.transaction() as connection:
            die_at("begun")
            await awrite(connection, INSERT.format(context.id))
            die_at("written")
            await asyncio.sleep(seconds)
        die_at("after")

    @app.task(context=True, max_retries=1000, backoff=0, name="effect_blocking")
    def effect_blocking(context: Context, step: str, seconds: float) -> None:
        _steps[context.id] = step
        die_at("before")
        with context.transaction() as connection:
            die_at("begun")
            connection.cursor().execute(INSERT.format(context.id))
            die_at("written")
            time.sleep(seconds)
        die_at("after")

    return effect, effect_blocking


def die_between_completion_and_commit() -> None:
    complete = transactions._Transaction._refuse_lost

    def completed(self: Any, held: frozenset[str]) -> None:
        complete(self, held)
        die_at("completed")

    transactions._Transaction._refuse_lost = completed  # type: ignore[method-assign]


async def work(url: str, queue: str, slots: str) -> None:
    app = Windlass(url)
    tasks(app)
    settings = WorkerSettings(
        queues=(queue,), lease=1.0, rescue_interval=0.1, concurrency=int(slots)
    )
    await (await app.worker(settings)).run()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    die_between_completion_and_commit()
    asyncio.run(work(*sys.argv[1:4]))
