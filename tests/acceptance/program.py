"""What runs in the processes of these tests: one app, as a worker or as a producer.

    program.py work FOLDER SETTINGS     a worker until SIGTERM, settings as JSON
    program.py produce FOLDER NAME N    N brief jobs, one by one, ids NAME-0, NAME-1, …
    program.py batch FOLDER N           N jobs in one step

The store and everything that jobs leave behind are in FOLDER. A job notes each of its runs
in one file, by one short write at its end: no line is lost or torn, whoever writes.
"""

import asyncio
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from windlass import Context, Task, Windlass
from windlass.config import WorkerSettings

RUNS = "runs"
BRIEF = 0.005


class Jobs(NamedTuple):
    """The app and its tasks."""

    app: Windlass
    note: Task[..., Any, Any]
    """runs for as many seconds as it is told, or no time at all"""
    gate: Task[..., Any, Any]
    """runs until the file `name` or `name-fence` is there; its result is who ran it"""
    fell: Task[..., Any, Any]
    """kills the process that runs it"""


def jobs(folder: Path) -> Jobs:
    app = Windlass(f"sqlite:///{folder}/jobs.db")

    def note_run(ctx: Context) -> None:
        line = f"{ctx.id} {ctx.attempt} {ctx.fence} {os.getpid()} {time.time()}\n"
        file = os.open(folder / RUNS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    @app.task(context=True)
    async def note(ctx: Context, seconds: float = 0) -> None:
        note_run(ctx)
        await asyncio.sleep(seconds)

    @app.task(context=True, backoff=0)
    async def gate(ctx: Context, name: str) -> int:
        note_run(ctx)
        keys = (folder / name, folder / f"{name}-{ctx.fence}")
        while not any(key.exists() for key in keys):
            await asyncio.sleep(0.01)
        return os.getpid()

    @app.task(context=True, backoff=0, max_retries=1)
    async def fell(ctx: Context) -> None:
        note_run(ctx)
        os.kill(os.getpid(), signal.SIGKILL)

    return Jobs(app, note, gate, fell)


async def work(app: Windlass, settings: WorkerSettings) -> None:
    worker = await app.worker(settings)
    print("ready", flush=True)  # noqa: T201
    await worker.run()
    await app.aclose()


def main(command: str, folder: Path, *rest: str) -> None:
    logging.basicConfig(level=logging.INFO)
    made = jobs(folder)
    match command, *rest:
        case "work", settings:
            asyncio.run(work(made.app, WorkerSettings(**json.loads(settings))))
        case "produce", name, number:
            for n in range(int(number)):
                made.note.using(id=f"{name}-{n}").enqueue(BRIEF)
            made.app.close()
        case "batch", number:
            calls = [made.note.using(id=str(n)).call() for n in range(int(number))]
            print("ready", flush=True)  # noqa: T201
            made.app.enqueue_many(calls)
            print("done", flush=True)  # noqa: T201
            made.app.close()
        case _:
            sys.exit(f"no command {command}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
