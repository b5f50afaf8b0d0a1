"""`windlass worker` as a user has it, and an app whose jobs note who ran them."""

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.acceptance.process import Site, until
from tests.servers.fork_server import WINDLASS, start
from windlass import State, Windlass
from windlass.core.workers import WorkerInfo

SOURCE = str(Path(__file__).parents[2] / "src")

CREW = """
import asyncio, os, sqlite3, time
from pathlib import Path
from windlass import Windlass

app = Windlass()
ballast = []


def note(number: int) -> None:
    with open("runs", "a") as file:
        file.write(f"{number} {os.getpid()}\\n")


@app.task
async def haul(number: int, seconds: float = 0) -> None:
    await asyncio.sleep(seconds)
    note(number)


@app.task
async def hold(number: int) -> None:
    Path(f"held-{number}").touch()
    while not Path("free").exists():
        await asyncio.sleep(0.01)
    note(number)


@app.task
async def load(number: int, mebibytes: int) -> None:
    ballast.append(os.urandom(1024 * 1024) * mebibytes)
    note(number)


@app.task(max_retries=0)
async def block(number: int, seconds: float) -> None:
    Path(f"held-{number}").touch()
    time.sleep(seconds)
    note(number)


@app.task(max_retries=0)
async def block_in_c(number: int) -> None:
    Path(f"held-{number}").touch()
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT count(*) FROM n"
    sqlite3.connect(":memory:").execute(endless).fetchall()


@app.task(max_retries=0, timeout=0.1)
def hang(number: int) -> None:
    time.sleep(3600)


@app.task(max_retries=0)
async def wait_for_thread(number: int) -> None:
    Path(f"held-{number}").touch()
    await asyncio.to_thread(time.sleep, 3600)


@app.task(max_retries=0)
async def go_on(number: int) -> None:
    Path(f"held-{number}").touch()
    while True:
        try:
            await asyncio.sleep(0.1)
        except BaseException:
            pass


@app.task(max_retries=0)
async def sink() -> None:
    os._exit(7)
"""


class Run(NamedTuple):
    """A job that ended, and the process that ran it."""

    number: int
    pid: int


class Ship:
    """A folder with an app, a store, and one supervisor at a time."""

    def __init__(self, site: Site, url: str | None = None) -> None:
        self.site = site
        self.folder = site.folder
        url = url or site.url
        self.app = Windlass(url)
        self.write("crew.py", CREW)
        self.log_file = self.folder / "log"
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith("WINDLASS_")}
        self.environ |= {"PYTHONPATH": SOURCE, "WINDLASS_URL": url}

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "utf-8")

    @contextmanager
    def worker(
        self,
        *words: str,
        terminal: int | None = None,
        interpreter: bool = False,
        first: str = "",
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A worker that does not outlive the test, nor do its processes.

        For the worker, an interpreter is started if that is wanted; for its processes, always.
        Each of them runs the statement `first` before all else.
        """
        safe, option, code = WINDLASS
        arguments = [safe, option, f"{first}\n{code}", "worker", "crew:app", *words]
        with self.log_file.open("ab") as errors:
            if interpreter:
                process = subprocess.Popen(
                    [sys.executable, *arguments],
                    cwd=self.folder,
                    env=self.environ,
                    stdin=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                )
            else:
                process = start(
                    arguments,
                    cwd=self.folder,
                    env=self.environ,
                    stdin=subprocess.DEVNULL if terminal is None else terminal,
                    stderr=errors,
                    start_new_session=True,
                    terminal=terminal is not None,
                )
        try:
            yield process
        finally:
            if process.poll() is None:
                # Its processes notice that it is gone.
                process.kill()
            process.wait()
            until(lambda: not any(map(alive, self.started())), "its processes to be gone")
            self.app.close()

    def enqueue(self, task: str, calls: Iterable[tuple[object, ...]]) -> None:
        stub = self.app.tasks.get(task) or self.app.task(name=task)(lambda *args: None)
        self.app.enqueue_many([stub.call(*args) for args in calls])

    def await_held(self, number: int) -> None:
        """Wait until a job has begun, and forget that it has."""
        file = self.folder / f"held-{number}"
        until(file.exists, f"job {number} to begin")
        file.unlink()

    def job_states(self) -> dict[State, int]:
        queues = self.app.client.block(lambda store: store.queues(), "", "")
        total: Counter[State] = Counter()
        for queue in queues:
            total.update(queue.counts)
        return dict(+total)

    def workers(self) -> dict[int, WorkerInfo]:
        """The list of workers, by their processes."""
        known = self.app.client.block(lambda store: store.workers(), "", "")
        return {worker.pid: worker for worker in known}

    def log(self) -> str:
        return self.log_file.read_text("utf-8")

    def await_log(self, pattern: str, times: int = 1) -> list[str]:
        until(lambda: len(re.findall(pattern, self.log())) >= times, f"{pattern!r} in the log")
        return re.findall(pattern, self.log())

    def started(self) -> list[int]:
        """The worker processes so far, in the order in which they were started."""
        return [int(pid) for pid in re.findall(r"process (\d+) started", self.log())]

    def working(self, number: int) -> list[int]:
        """Wait until so many have come up in all; their ids."""
        return [int(p) for p in self.await_log(r"\[(\d+)\] windlass: worker \S+ started", number)]

    def runs(self) -> list[Run]:
        file = self.folder / "runs"
        lines = file.read_text("utf-8").splitlines() if file.exists() else []
        return [Run(*map(int, line.split())) for line in lines]

    def await_runs(self, number: int) -> list[Run]:
        until(lambda: len(self.runs()) >= number, f"{number} runs; {len(self.runs())} so far")
        return self.runs()


def alive(pid: int) -> bool:
    """Whether a process goes on; one that only waits to be buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def stop(process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> int:
    process.send_signal(number)
    return process.wait(40)
