"""Whatever a handler does, it harms its own job alone.

For each executor there is one worker process on each store, with all rows of the table at the same
time and plain jobs beside them.
"""

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.app.engines import sqlite_in
from tests.hostile.handlers.apps import cases, make
from tests.hostile.handlers.case import EXECUTORS, Case
from tests.hostile.handlers.meddling import MUTES, STOPS
from tests.servers.emptied import emptied_database, emptied_schema
from tests.servers.fork_server import WINDLASS, start
from windlass import JobHandle, State
from windlass.core.ids import new_id
from windlass.core.model import Job
from windlass.testing.work import work

STORES = ("sqlite", "redis", "postgres", "mariadb")
PLAIN = 20
PATIENCE = 120.0
"""Seconds, on a machine that does much else: a child process takes long to start there."""
LIMIT = 1.0
"""Seconds that running jobs have when their worker stops."""
SLACK = 15.0
"""Seconds in which a worker that has let go of its jobs must be gone, on a busy machine."""
UNDER_WAY = (State.PENDING, State.ACTIVE)
ONCE = (State.COMPLETED, 1)
"""How a plain job ends: by its first attempt."""

Process = subprocess.Popen[bytes]


@pytest.fixture
def urls(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, str]:
    servers = {name: request.getfixturevalue(f"{name}_server").url for name in STORES[1:]}
    return {
        "sqlite": sqlite_in(tmp_path),
        "redis": f"{servers['redis']}?namespace={new_id()}",
        "postgres": emptied_schema(servers["postgres"], "hostile"),
        "mariadb": emptied_database(servers["mariadb"], "hostile"),
    }


@pytest.mark.timeout(300)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_hostile_handler_harms_its_own_job_alone(
    executor: str, urls: dict[str, str], tmp_path: Path
) -> None:
    on_all_stores([Beside(executor, store, urls[store], tmp_path / store) for store in STORES])


@pytest.mark.timeout(300)
@pytest.mark.parametrize("executor", ["a", "t"])
def test_a_handler_that_ends_its_worker_ends_up_dead(
    executor: str, urls: dict[str, str], tmp_path: Path
) -> None:
    on_all_stores([Killing(executor, store, urls[store], tmp_path / store) for store in STORES])


class Run:
    """One worker on one store, and what became of its jobs."""

    rows = "harmless"
    options: Sequence[str] = ()

    def __init__(self, executor: str, store: str, url: str, folder: Path) -> None:
        folder.mkdir()
        self._notes, self._log = folder / "notes", folder / "log"
        self._notes.touch()
        self._made = (url, executor, store, str(self._notes), self.rows)
        self._app = make(*self._made)
        self._executor = executor
        self._wrong: list[str] = []

    def check(self) -> list[str]:
        """What is not as it has to be."""
        with closing(self._app), self.worker() as process:
            try:
                self.go(process)
            except BaseException as error:
                process.send_signal(signal.SIGUSR1)
                time.sleep(0.5)
                error.add_note(self._log.read_text("utf-8", "replace")[-20_000:])
                raise
            finally:
                process.kill()
        return self._wrong

    def go(self, process: Process) -> None:
        """Have jobs run, and look at what became of them."""
        raise NotImplementedError

    def worker(self) -> Process:
        size = "4" if self._executor == "p" else "150"
        options = ("--concurrency", size, "--shutdown-timeout", f"{LIMIT:g}", *self.options)
        with self._log.open("wb") as log:
            return start(
                [*WINDLASS, "worker", "tests.hostile.handlers.serving:app", *options],
                cwd=Path(__file__).parents[3],
                env=os.environ | {"HOSTILE": " ".join(self._made), "WINDLASS_URL": self._made[0]},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def enqueue_plain(self, first: int, end: int) -> list[JobHandle[Any]]:
        plain = self._app.tasks["plain"]
        return [*self._app.enqueue_many(plain.call(number) for number in range(first, end))]

    def enqueue(self, these: Sequence[Case]) -> list[JobHandle[Any]]:
        tasks = self._app.tasks
        jobs = self._app.enqueue_many(
            tasks[case.task].call(*[1] * ("batch" in case.options)) for case in these
        )
        return [*jobs]

    def get(self, jobs: Sequence[JobHandle[Any]]) -> Mapping[str, Job]:
        ids = [job.id for job in jobs]
        return self._app.client.block(lambda store: store.get(ids), "get", "aget")

    def ends(
        self, jobs: Sequence[JobHandle[Any]], under_way: Sequence[State] = UNDER_WAY
    ) -> dict[str, Job]:
        """What became of each, when it was first seen in another state than these; or, in the end,
        what it still is."""
        ends: dict[str, Job] = {}
        deadline = time.monotonic() + PATIENCE
        while len(ends) < len(jobs):
            is_late = time.monotonic() > deadline
            found = self.get([job for job in jobs if job.id not in ends])
            ends.update(
                {id: job for id, job in found.items() if is_late or job.state not in under_way}
            )
            time.sleep(0.05)
        return ends

    def until_active(self, jobs: Sequence[JobHandle[Any]]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not all(job.state is State.ACTIVE for job in self.get(jobs).values()):
            assert time.monotonic() < deadline, "what is to run while its worker stops does not"
            time.sleep(0.05)

    def compare(self, these: Sequence[Case], found: Sequence[Job]) -> None:
        """Note where jobs did not come to what the rows say."""
        for case, job in zip(these, found, strict=True):
            kind, text = (job.error.kind, job.error.message) if job.error else ("", "")
            fits = job.state is case.state and case.kind in kind and case.text in text
            if not fits or (kind and not case.error):
                self._wrong.append(
                    f"{self._made[2]}, {self._executor}, {case.task}: {job.state} {kind}: "
                    f"{text[:300]}; expected {case.state} {case.error}"
                )

    def stop(self, process: Process) -> None:
        """It ends in time, whatever its handlers do."""
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT + SLACK) == 0

    def is_free(self, left: Sequence[JobHandle[Any]], number: int) -> None:
        """Nothing is left locked: others can write, and a new worker can work."""
        ids = [job.id for job in left]
        self._app.client.block(lambda store: store.cancel(ids), "cancel", "acancel")
        [after] = self.enqueue_plain(number, number + 1)
        asyncio.run(self.work())
        assert after.get().state is State.COMPLETED

    async def work(self) -> None:
        await work(self._app)
        await self._app.aclose()

    def ran(self) -> list[int]:
        """The numbers of the plain jobs, once for each time that one ran."""
        numbers = map(int, self._notes.read_text().split())
        return sorted(number for number in numbers if number >= 0)


class Beside(Run):
    """All rows that leave their worker alive."""

    def go(self, process: Process) -> None:
        rows = [*cases(self._executor, self._made[2])]
        now = [case for case in rows if case not in STOPS and case not in MUTES]
        then = [case for case in rows if case in STOPS]
        mutes = [case for case in rows if case in MUTES]
        plain = self.enqueue_plain(0, PLAIN // 2)
        jobs = self.enqueue(now)
        plain += self.enqueue_plain(PLAIN // 2, PLAIN)
        ends = self.ends([*plain, *jobs])
        self.compare(now, [ends[job.id] for job in jobs])
        muting = self.enqueue(mutes)
        plain += self.enqueue_plain(PLAIN, PLAIN + 5)
        ends |= self.ends([*muting, *plain])
        self.compare(mutes, [ends[job.id] for job in muting])
        assert {(ends[job.id].state, ends[job.id].attempt) for job in plain} == {ONCE}
        last = self.enqueue(then)
        self.until_active(last)
        self.stop(process)
        left = self.get(last)
        self.compare(then, [left[job.id] for job in last])
        self.is_free([*jobs, *last], PLAIN + 5)
        assert self.ran() == [*range(PLAIN + 6)]


class Killing(Run):
    """All rows that end their worker, and a supervisor that starts others."""

    rows = "killing"
    options = ("--max-jobs", "1000000", "--lease", "2", "--rescue-interval", "0.1")

    def go(self, process: Process) -> None:
        rows = [*cases(self._executor, self._made[2], killing=True)]
        plain = self.enqueue_plain(0, PLAIN // 2)
        jobs = self.enqueue(rows)
        plain += self.enqueue_plain(PLAIN // 2, PLAIN)
        ends = self.ends([*plain, *jobs], (*UNDER_WAY, State.RETRY))
        self.compare(rows, [ends[job.id] for job in jobs])
        assert {ends[job.id].state for job in plain} == {State.COMPLETED}
        self.stop(process)
        self.is_free(jobs, PLAIN)
        assert set(self.ran()) == {*range(PLAIN + 1)}


def on_all_stores(runs: Sequence[Run]) -> None:
    with ThreadPoolExecutor(len(runs)) as threads:
        found = [line for lines in threads.map(Run.check, runs) for line in lines]
    assert not found, "\n".join(found)
