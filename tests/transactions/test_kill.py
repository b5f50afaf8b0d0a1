"""Effects happen exactly once, however workers die: real processes, killed without warning."""

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from tests.acceptance.process import until
from tests.servers.fork_server import start
from tests.transactions.conftest import ENGINES
from tests.transactions.engines import Engine
from tests.transactions.program import STEPS, tasks
from windlass import JobHandle, State, Windlass
from windlass.testing.work import counts

PROGRAM = Path(__file__).with_name("program.py")
SIZE = 2


class Crew:
    """Some workers, each of which is replaced when it is gone, and one that rescues their jobs."""

    def __init__(self, app: Windlass, folder: Path, slots: int) -> None:
        self._url = app.url
        self._folder = folder
        self._slots = slots
        self._log = (folder / "log").open("wb")
        self._guardian = self._start("none")
        until(lambda: has_leader(app), "a leader")
        self._workers = [self._start("default") for _ in range(SIZE)]

    def _start(self, queue: str) -> subprocess.Popen[bytes]:
        told = (self._url, queue, str(self._slots), str(self._folder))
        return start(["-P", PROGRAM, *told], stdout=subprocess.DEVNULL, stderr=self._log)

    def replace(self) -> None:
        for n, worker in enumerate(self._workers):
            if worker.poll() is not None:
                assert worker.returncode == -signal.SIGKILL
                self._workers[n] = self._start("default")

    def kill(self, number: int) -> None:
        self._workers[number].kill()
        self._workers[number].wait()

    def close(self) -> None:
        for worker in (*self._workers, self._guardian):
            worker.kill()
            worker.wait()
        self._log.close()


def states(app: Windlass) -> Counter[State]:
    return +app.client.block(counts, "", "")


def has_leader(app: Windlass) -> bool:
    # A term of a millisecond: winning it by chance keeps nobody out.
    return app.client.block(lambda store: store.elect("upkeep", "test", 1), "", "") is None


@contextmanager
def crew(app: Windlass, folder: Path, slots: int = 4) -> Iterator[Crew]:
    workers = Crew(app, folder, slots)
    try:
        yield workers
    finally:
        workers.close()


@pytest.fixture(params=ENGINES)
def engine(
    request: pytest.FixtureRequest, open_engine: Callable[[str], Engine]
) -> Iterator[Engine]:
    engine = open_engine(request.param)
    engine.execute("CREATE TABLE effects (job VARCHAR(100))")
    yield engine
    engine.execute("DROP TABLE effects")


@pytest.fixture
def app(engine: Engine) -> Iterator[Windlass]:
    app = engine.app()
    yield app
    app.close()


def effects(engine: Engine) -> Counter[object]:
    return Counter(row[0] for row in engine.execute("SELECT job FROM effects"))


@pytest.mark.timeout(240)
def test_a_death_at_any_step_leaves_both_or_neither(
    engine: Engine, app: Windlass, tmp_path: Path
) -> None:
    kinds = tasks(app)
    calls = [
        task.using(id=f"{task.name}-{step}").call(step, 0) for task, step in product(kinds, STEPS)
    ]
    jobs = app.enqueue_many(calls)
    killers = [job for job in jobs if not job.id.endswith("never")]
    # One slot: a job must not be killed by its neighbour between its commit and its own step.
    with crew(app, tmp_path, slots=1) as workers:

        def are_all_done() -> bool:
            workers.replace()
            return states(app) == {State.COMPLETED: len(jobs)}

        until(are_all_done, "all jobs to be completed")
        until(lambda: all((tmp_path / job.id).exists() for job in killers), "each death")
    assert effects(engine) == {job.id: 1 for job in jobs}
    for job, step in zip(jobs, STEPS * len(kinds), strict=True):
        assert has_lost_a_worker(job) or step in ("after", "never"), job.id


def has_lost_a_worker(job: JobHandle[None]) -> bool:
    """Whether an attempt of it ended with its worker; such attempts do not count as attempts."""
    return any(attempt.state is State.RETRY for attempt in job.attempts())


def await_more_than(number: int, engine: Engine) -> None:
    until(lambda: effects(engine).total() > number, "effects")


@pytest.mark.timeout(240)
def test_deaths_at_random_moments_leave_one_effect_of_each_job(
    engine: Engine, app: Windlass, tmp_path: Path
) -> None:
    chance = random.Random(7)
    kinds = tasks(app)
    with crew(app, tmp_path) as workers:
        jobs: list[JobHandle[None]] = []
        for _ in range(6):
            calls = [kinds[n % 2].call("never", chance.uniform(0, 0.04)) for n in range(40)]
            jobs += app.enqueue_many(calls)
            await_more_than(effects(engine).total(), engine)
            # In the midst of work, at no particular moment of it.
            time.sleep(chance.uniform(0, 0.2))
            workers.kill(chance.randrange(SIZE))
            workers.replace()
        until(lambda: len(effects(engine)) == len(jobs), "an effect of each job")
        until(lambda: states(app) == {State.COMPLETED: len(jobs)}, "all jobs")
    assert effects(engine) == {job.id: 1 for job in jobs}
    assert any(map(has_lost_a_worker, jobs))
