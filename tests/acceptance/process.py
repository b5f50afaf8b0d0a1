"""Processes on one store, and a look at what they did."""

import json
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.acceptance.program import RUNS, jobs
from tests.servers.fork_server import start
from windlass.core.model import Job, JobQuery
from windlass.core.states import State
from windlass.stores.open import open_store
from windlass.sync import drive

PROGRAM = Path(__file__).with_name("program.py")
PATIENCE = 40.0
QUICK = {"lease": 2.0, "rescue_interval": 0.1}
"""Settings with which a lost job is found soon, and not lost because a machine stood still."""


class Run(NamedTuple):
    """One run of a job, as the job noted it."""

    id: str
    attempt: int
    fence: int
    pid: int
    moment: float


def until(condition: Callable[[], object], what: str) -> None:
    """Look again every few milliseconds; fail with `what` was waited for."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"in vain: {what}")
        time.sleep(0.01)


def stands_still(pid: int) -> bool:
    """Whether SIGSTOP has reached all threads of a process."""
    tasks = Path(f"/proc/{pid}/task").glob("*/stat")
    return {task.read_text().rpartition(")")[2].split()[0] for task in tasks} == {"T"}


class Site:
    """A folder with one store, the processes that were started on it, and what jobs left there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"sqlite:///{folder}/jobs.db"
        self.jobs = jobs(folder)
        self.store = open_store(self.url, blocking=True)
        self._started: list[subprocess.Popen[str]] = []

    def start(self, command: str, *args: object) -> subprocess.Popen[str]:
        """Start a program; what it logs goes to a file of its own."""
        log = self.folder / f"{len(self._started)}.log"
        with log.open("wb") as errors:
            process = start(
                ["-P", PROGRAM, command, self.folder, *map(str, args)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._started.append(process)
        return process

    def worker(self, **settings: Any) -> subprocess.Popen[str]:
        """Start a worker and wait until it is up."""
        process = self.start("work", json.dumps(QUICK | settings))
        self.hear(process, "ready")
        return process

    def guardian(self) -> subprocess.Popen[str]:
        """A worker that runs no jobs and is the leader: it rescues what others lose."""
        process = self.worker(queues=["none"])
        until(lambda: self._has_leader(), "a leader")
        return process

    def _has_leader(self) -> bool:
        # A term of a millisecond: winning it by chance keeps nobody out.
        return drive(self.store.elect("upkeep", "test", 1)) is None

    def freeze(self, process: subprocess.Popen[str]) -> None:
        """Stop a worker, but not while it writes: nobody else could write until it goes on."""
        while True:
            process.send_signal(signal.SIGSTOP)
            until(lambda: stands_still(process.pid), "the worker to stand still")
            if self._takes_writes():
                return
            process.send_signal(signal.SIGCONT)

    def _takes_writes(self) -> bool:
        with closing(sqlite3.connect(self.folder / "jobs.db", timeout=1.0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            connection.rollback()
            return True

    def hear(self, process: subprocess.Popen[str], expected: str) -> None:
        """Wait for a line that a program prints."""
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line == expected, f"got {line!r}\n{self.log(process)}"

    def end(self, process: subprocess.Popen[str]) -> int:
        """Wait for a program's end; its exit code."""
        return process.wait(PATIENCE)

    def log(self, process: subprocess.Popen[str]) -> str:
        return (self.folder / f"{self._started.index(process)}.log").read_text()

    def logs(self) -> str:
        return "\n".join(self.log(process) for process in self._started)

    def runs(self, id: str | None = None) -> list[Run]:
        """The runs so far, in the order in which they began."""
        file = self.folder / RUNS
        if not file.exists():
            return []
        rows = [line.split() for line in file.read_text().splitlines()]
        runs = [Run(r[0], int(r[1]), int(r[2]), int(r[3]), float(r[4])) for r in rows]
        return [run for run in runs if id is None or run.id == id]

    def open_gate(self, name: str, fence: int | None = None) -> None:
        """Let jobs through: all of this gate, or the one run that has this fence."""
        (self.folder / (name if fence is None else f"{name}-{fence}")).touch()

    def enqueue_quick_then_gated(self, number: int) -> None:
        """Forty quick jobs and then gated ones, 0, 1, …: only a quick worker claims ahead."""
        quick = [self.jobs.note.call() for _ in range(40)]
        gated = [self.jobs.gate.using(id=str(n)).call("gate") for n in range(number)]
        self.jobs.app.enqueue_many(quick + gated)

    def job(self, id: str) -> Job:
        return drive(self.store.get([id]))[id]

    def find(self, *states: State) -> list[Job]:
        return list(drive(self.store.find(JobQuery(states=states, limit=1000))).jobs)

    def counts(self) -> Counter[State]:
        total: Counter[State] = Counter()
        for queue in drive(self.store.queues()):
            total.update(queue.counts)
        return total

    def await_state(self, id: str, state: State) -> Job:
        until(lambda: self.job(id).state is state, f"{id} to be {state}")
        return self.job(id)

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        drive(self.store.close())
        self.jobs.app.close()


@contextmanager
def site(folder: Path, *, made: bool = True) -> Iterator[Site]:
    """A site that leaves no process behind; with `made`, its store is there from the start."""
    place = Site(folder)
    try:
        if made:
            drive(place.store.open())
        yield place
    finally:
        place.close()
