"""A handler that will not be stopped does not hold up the worker's exit."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from windlass import State, Windlass
from windlass.testing.work import until

SHOP = """
import asyncio, pathlib, re, sys, time
from windlass import Windlass
from windlass.config import WorkerSettings

app = Windlass("sqlite:///jobs.db")

@app.task
async def slow_coroutine() -> None:
    pathlib.Path("slow_coroutine").touch()
    try:
        await asyncio.sleep(3600)
    finally:
        await asyncio.sleep(3600)

@app.task
async def deaf_coroutine() -> None:
    pathlib.Path("deaf_coroutine").touch()
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

@app.task
def deaf_thread() -> None:
    pathlib.Path("deaf_thread").touch()
    time.sleep(3600)

@app.task(process=True)
def deaf_process() -> None:
    pathlib.Path("deaf_process").touch()
    re.match("(a|a)*b", "a" * 60)

async def main() -> None:
    await app.tasks[sys.argv[1]].using(id="job").aenqueue()
    worker = await app.worker(WorkerSettings(shutdown_timeout=0.1))
    await worker.run()
    await app.aclose()

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("task", "state"),
    [
        ("slow_coroutine", (State.PENDING, 0)),
        ("deaf_coroutine", (State.PENDING, 0)),
        ("deaf_thread", (State.PENDING, 0)),
        ("deaf_process", (State.PENDING, 0)),
    ],
)
async def test_the_worker_exits_whatever_its_handlers_do(
    tmp_path: Path, task: str, state: tuple[State, int]
) -> None:
    (tmp_path / "shop.py").write_text(SHOP, "utf-8")
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "shop.py", task)
    worker = await asyncio.create_subprocess_exec(*command, cwd=tmp_path, env=environ)
    try:
        await until((tmp_path / task).exists)
        worker.send_signal(signal.SIGTERM)
        async with asyncio.timeout(20):
            assert await worker.wait() == 0
    finally:
        if worker.returncode is None:
            worker.kill()
            await worker.wait()
    app = Windlass(f"sqlite:///{tmp_path}/jobs.db")
    store = await app.client.store()
    job = (await store.get(["job"]))["job"]
    await app.aclose()
    assert (job.state, job.attempt) == state
