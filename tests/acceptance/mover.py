"""What runs in the processes of the tests of moves.

    mover.py work URL FOLDER LEASE     a worker until SIGTERM
    mover.py produce URL FOLDER NAME   jobs NAME-0, NAME-1, … until the file NAME is in FOLDER
    mover.py moves NOW                 a move for each line on stdin, to be killed

A job notes each of its runs in a file of FOLDER. A line `move SOURCE TARGET N` is a move that is
killed before its N-th call to a store, `split SOURCE TARGET N` one that is killed before the N-th
of the steps by which a Cluster restores jobs; how it ended is printed.
"""

import asyncio
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from windlass import Context, Windlass
from windlass.admin import move as module
from windlass.config import WorkerSettings
from windlass.stores.open import open_store
from windlass.stores.redis.access import Access

RUNS = "runs"
RUSH = 60
STEPS = ("hold", "reserve", "restore", "free")


def app_on(url: str, folder: Path) -> Windlass:
    app = Windlass(url)

    def note(ctx: Context) -> None:
        line = f"{ctx.id} {ctx.attempt} {ctx.fence} {os.getpid()} {time.time()}\n"
        file = os.open(folder / RUNS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)

    @app.task(context=True, queue="brief", backoff=0)
    async def brief(ctx: Context) -> str:
        note(ctx)
        await asyncio.sleep(0.01)
        return ctx.id

    @app.task(context=True, queue="gated", backoff=0)
    async def gate(ctx: Context) -> None:
        note(ctx)
        while not (folder / "gate").exists():
            await asyncio.sleep(0.01)

    return app


async def work(app: Windlass, lease: float) -> None:
    settings = WorkerSettings(queues=("brief", "gated"), lease=lease, rescue_interval=60.0)
    worker = await app.worker(settings)
    print("ready", flush=True)  # noqa: T201
    await worker.run()
    await app.aclose()


def produce(app: Windlass, folder: Path, name: str) -> None:
    """Jobs of all kinds: plain, with a unique key, and for a little later."""
    brief = app.tasks["brief"]
    number = 0
    while not (folder / name).exists():
        id = f"{name}-{number}"
        more = ({}, {"unique": id}, {"delay": 0.5}, {"priority": 90})[number % 4]
        brief.using(id=id, **more).enqueue()
        number += 1
        # Many to move, and then so few that a move comes to its end on a busy machine as well.
        time.sleep(min(0.005 + 0.05 * max(0, number - RUSH), 1.0))
    app.close()
    print(number, flush=True)  # noqa: T201


class Fate:
    """Kills this process before its n-th step."""

    def __init__(self, number: int) -> None:
        self._left = number

    def step(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class Mortal:
    """A store each call to which is a step."""

    def __init__(self, store: Any, fate: Fate) -> None:
        self._store, self._fate = store, fate

    def __getattr__(self, name: str) -> Any:
        self._fate.step()
        return getattr(self._store, name)


def split_restores(fate: Fate) -> None:
    """Make a step of each script by which a Cluster restores a job."""
    run = Access.run

    async def run_once(access: Access, name: str, *args: Any, **kwargs: Any) -> Any:
        if name in STEPS:
            fate.step()
        return await run(access, name, *args, **kwargs)

    setattr(Access, "run", run_once)  # noqa: B010


async def at_once(_: float) -> None:
    """In place of a pause: nobody else is at work here whom it would give time."""


async def move(source: str, target: str, now: int, number: int, *, split: bool) -> None:
    module.BATCH = 2  # type: ignore[misc]
    fate = Fate(number)
    old, new = (open_store(url, clock=lambda: now) for url in (source, target))
    await old.open()
    await new.open()
    if split:
        split_restores(fate)
        await module.move(old, new, nap=at_once)
    else:
        await module.move(Mortal(old, fate), Mortal(new, fate), nap=at_once)
    await new.close()
    await old.close()


def moves(now: int) -> None:
    """Each in a child of this process, which has all the imports: so it takes no time."""
    for kind in ("sqlite", "redis", "postgres", "mysql"):
        import_module(f"windlass.stores.{kind}.store")
    for line in sys.stdin:
        command, source, target, number = line.split()
        child = os.fork()
        if child == 0:
            asyncio.run(move(source, target, now, int(number), split=command == "split"))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201


def main(command: str, *rest: str) -> None:
    match command, *rest:
        case "work", url, folder, lease:
            asyncio.run(work(app_on(url, Path(folder)), float(lease)))
        case "produce", url, folder, name:
            produce(app_on(url, Path(folder)), Path(folder), name)
        case "moves", now:
            moves(int(now))
        case _:
            sys.exit(f"no command {command}")


if __name__ == "__main__":
    main(*sys.argv[1:])
