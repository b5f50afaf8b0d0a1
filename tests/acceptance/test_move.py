"""A live app moves: workers on both stores, producers that go on meanwhile."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import Fresh
from tests.acceptance.mover import RUNS, app_on
from tests.acceptance.process import PATIENCE, until
from tests.servers.fork_server import WINDLASS, run, start
from windlass import Windlass
from windlass.core.model import Job
from windlass.core.states import State

PROGRAM = Path(__file__).with_name("mover.py")


class Place:
    """Two stores, the processes on them, and what jobs left behind."""

    def __init__(self, folder: Path, source: str, target: str) -> None:
        self.folder = folder
        self.source, self.target = source, target
        self._started: list[subprocess.Popen[str]] = []

    def start(self, command: str, url: str, *words: str) -> subprocess.Popen[str]:
        log = self.folder / f"{len(self._started)}.log"
        with log.open("wb") as errors:
            process = start(
                ["-P", PROGRAM, command, url, self.folder, *words],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._started.append(process)
        return process

    def worker(self, url: str, lease: float = 30.0) -> subprocess.Popen[str]:
        process = self.start("work", url, str(lease))
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line == "ready\n", (self.folder / f"{len(self._started) - 1}.log").read_text()
        return process

    def produced(self, producer: subprocess.Popen[str], name: str) -> set[str]:
        """End a producer; the ids of its jobs."""
        (self.folder / name).touch()
        printed, _ = producer.communicate(timeout=PATIENCE)
        return {f"{name}-{n}" for n in range(int(printed))}

    def move(self) -> int:
        """Move as people do; how many jobs it were."""
        done = run(
            [*WINDLASS, "move", self.source, self.target, "--yes", "--json"],
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
        )
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        assert (told["left"], told["missing"]) == ([], {})
        return int(told["count"])

    def runs(self) -> Counter[str]:
        file = self.folder / RUNS
        lines = file.read_text().splitlines() if file.exists() else []
        return Counter(line.split()[0] for line in lines)

    def pids(self) -> dict[str, int]:
        lines = (self.folder / RUNS).read_text().splitlines()
        return {line.split()[0]: int(line.split()[3]) for line in lines}

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()


@pytest.fixture(
    params=[
        ("sqlite", "redis_server"),
        ("redis_server", "sqlite"),
        ("redis_server", "redis_cluster"),
        ("sqlite", "postgres_server"),
        ("postgres_server", "mariadb_server"),
        ("mariadb_server", "redis_server"),
    ],
    ids=" to ".join,
)
def place(tmp_path: Path, fresh: Fresh, request: pytest.FixtureRequest) -> Iterator[Place]:
    source, target = request.param
    place = Place(tmp_path, fresh(source), fresh(target))
    try:
        yield place
    finally:
        place.close()


def jobs(app: Windlass, ids: set[str]) -> list[Job]:
    found = app.client.block(lambda store: store.get(sorted(ids)), "", "")
    return list(found.values())


@pytest.mark.timeout(600)
def test_every_job_is_run_once_while_the_app_moves(place: Place) -> None:
    old = [place.worker(place.source) for _ in range(2)]
    first = place.start("produce", place.source, "first")
    until(lambda: len(place.runs()) > 50, "the app to be at work")
    new = [place.worker(place.target) for _ in range(2)]
    assert place.move() > 0
    second = place.start("produce", place.target, "second")
    before = len(place.runs())
    until(lambda: len(place.runs()) > before + 20, "the new workers to be at work")
    ids = place.produced(first, "first")
    while place.move() > 0:
        pass
    ids |= place.produced(second, "second")
    app = app_on(place.target, place.folder)
    until(lambda: place.runs().keys() >= ids, "all jobs to be run")
    until(lambda: {job.state for job in jobs(app, ids)} == {State.COMPLETED}, "all to be completed")
    found = {job.id: job for job in jobs(app, ids)}
    assert found.keys() == ids
    assert set(place.runs().values()) == {1}
    assert {job.attempt for job in found.values()} == {1}
    assert {app.tasks["brief"].handle(id).result() for id in list(ids)[:20]} <= ids
    by = set(place.pids().values())
    assert by <= {worker.pid for worker in old + new}
    assert by & {worker.pid for worker in old}
    assert by & {worker.pid for worker in new}
    for worker in old + new:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
    app.close()


def test_a_job_whose_worker_died_moves_and_runs_there(place: Place) -> None:
    worker = place.worker(place.source, lease=1.0)
    app = app_on(place.source, place.folder)
    app.tasks["gate"].using(id="job").enqueue()
    app.close()
    until(lambda: place.runs()["job"] == 1, "the job to start")
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    (place.folder / "gate").touch()
    assert place.move() == 1
    app = app_on(place.target, place.folder)
    assert jobs(app, {"job"})[0].lost == 1
    app.close()
    place.worker(place.target)
    until(lambda: place.runs()["job"] == 2, "the job to start again")
    app = app_on(place.target, place.folder)
    until(lambda: jobs(app, {"job"})[0].state is State.COMPLETED, "the job to be completed")
    lines = [line.split() for line in (place.folder / RUNS).read_text().splitlines()]
    assert [line[1] for line in lines] == ["1", "1"], "a lost worker cost the job an attempt"
    assert int(lines[1][2]) > int(lines[0][2]), "a fence did not grow across the move"
    app.close()
